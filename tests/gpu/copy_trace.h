// CopyTrace records every copy between memories of the host and of the device that this process makes through
// the CUDA driver, whoever makes it: contorno, GStreamer, the driver's own libraries. It reads CUPTI's
// activity records. What kernels write to memory of the host themselves is no copy, and not seen.
#pragma once

#include <cstdint>

namespace contorno::test {

struct Copies {
  std::uint64_t number = 0, bytes = 0;
};

/// Of one run: by where copies came from and went to.
struct CopyReport {
  Copies to_device, to_host, on_device, others;
  std::uint64_t lost = 0;  ///< records that found no room; then the sums are too small
};

/// Whether this build has CUPTI.
bool can_trace_copies();
/// Begins to record, once a process.
void begin_copy_trace();
/// Waits for the records of what has ended, and gives what was copied since the beginning.
CopyReport end_copy_trace();

}  // namespace contorno::test
