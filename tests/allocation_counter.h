// Counts every operator new of the program, so that a test can show that a frame does without, and makes one
// of them fail, so that a test can show what happens then.
#pragma once

#include <cstdint>

namespace contorno::test {

/// Whether the program is built with a sanitizer. Asked when it runs: compiled tests are linked into several
/// programs.
bool has_sanitizer();

/// Since the program began. 0 in programs with a sanitizer, which brings operators of its own.
std::uint64_t allocations();
/// Those that were not given back.
std::int64_t live_allocations();

/// While it lives, the `number`-th operator new from here on, of whichever thread, throws std::bad_alloc,
/// once.
class FailingAllocation {
 public:
  explicit FailingAllocation(std::uint64_t number);
  ~FailingAllocation();
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;

  /// Whether that many were asked for.
  bool came() const;
};

}  // namespace contorno::test
