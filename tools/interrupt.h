// Ctrl-C, SIGTERM and SIGHUP while a graph runs: the first asks for a clean end, a second one ends the
// process at once. SIGPIPE and SIGXFSZ are ignored, so that a write fails instead of the process.
#pragma once

namespace contorno {

/// Ignores SIGXFSZ from now on: a file that grows beyond the process's limit is an error of its write.
void ignore_file_size_signal();

/// Installs the handlers for its lifetime, and then the default ones; SIGPIPE stays ignored. SIGHUP is left
/// alone where it is ignored already (nohup). One within the lifetime of another changes nothing: what that
/// one was asked for stays asked. For the main thread.
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
