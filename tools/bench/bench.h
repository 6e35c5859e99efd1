// The parts of `contorno bench`, which print times beside the limits of the machine (upload, one read of the
// map) that they measure in the same run. They print to standard output and throw Error.
#pragma once

#include <string>
#include <vector>

namespace contorno {

/// The CUDA contour engine on fixed cases: device time beside the time to read the map once, and the way from
/// page-locked host memory to contours in host memory beside the upload alone. Needs a device.
void bench_engine();
/// The frame runtime on this machine's best backend. Rate: sustained frames a second beside the upload alone.
/// Stages: how long each part of a frame takes that goes alone. Latency: from when frames are due to their
/// results, at 10 frames/s. The last two measure and print as `contorno latency` does.
void bench_rate();
void bench_stages();
void bench_latency();
/// Writes a Chrome/Perfetto trace of 60 frames in four slots.
void bench_trace(const std::string& path);

/// The names that bench() takes. "all" is every part but the trace; "conditions" measures nothing.
const std::vector<std::string>& bench_parts();
/// Runs that part under a line with the conditions of measuring (tools/bench/conditions.h) and one that names
/// the device or the CPU backend; without a device, "engine" does
/// nothing. Throws Error(Usage) for an unknown name.
void bench(const std::string& part);

}  // namespace contorno
