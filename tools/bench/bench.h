// The parts of `contorno bench`: times beside the physical limits that were measured in the same run. They
// print to standard output and throw Error.
#pragma once

#include <string>
#include <vector>

namespace contorno {

/// The CUDA contour engine on fixed cases: device time beside the time to read the map once, and the way from
/// page-locked host memory to contours in host memory beside the upload alone. Needs a device.
void bench_engine();
/// The frame runtime on this machine's best backend. Rate: sustained frames a second beside the upload alone.
/// Stages: how long each part of a frame takes. Latency: from arrival to result at 10 frames/s.
void bench_rate();
void bench_stages();
void bench_latency();
/// Writes a Chrome/Perfetto trace of 60 frames in four slots.
void bench_trace(const std::string& path);

/// What `part` may be; "all" is all of them.
const std::vector<std::string>& bench_parts();
/// One part, or all but the trace, under a line that names the machine. Throws Error(Usage) for an unknown
/// part.
void bench(const std::string& part);

}  // namespace contorno
