// Ctrl-C and SIGTERM while a graph runs: the first asks for a clean end, a second one ends the process at
// once.
#pragma once

namespace contorno {

/// Installs the handlers for its lifetime. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// The signal that asked for an end, 0 while none did.
  static int requested();
};

}  // namespace contorno
