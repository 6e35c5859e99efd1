// The parts of `contorno bench`: times beside the physical limits that were measured in the same run. They
// print to standard output and throw Error.
#pragma once

#include <string>

namespace contorno {

/// The CUDA contour engine on fixed cases: device time beside the time to read the map once, and the way from
/// page-locked host memory to contours in host memory beside the upload alone. Needs a device.
void bench_engine();
/// The frame runtime on this machine's best backend: sustained rate, parts of a frame, latency at 10
/// frames/s.
void bench_frames();
/// Writes a Chrome/Perfetto trace of 60 frames in four slots.
void bench_trace(const std::string& path);
/// All but the trace, under a line that names the machine.
void bench_all();

}  // namespace contorno
