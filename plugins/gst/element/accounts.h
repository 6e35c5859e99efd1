// What became of the frames that came to an element: counts, and how long their work took. Safe from
// any thread.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <mutex>

#include "pipeline/run/histogram.h"

namespace contorno::gst {

class Accounts {
 public:
  enum class Count : std::uint8_t {
    In,
    Out,
    Failed,
    Dropped,
    Late,
    Regrown,
    Contours,
    MapsMissing,
    MapsUnused,
    Interlaced,
    End
  };

  void add(Count count, std::uint64_t number = 1);
  /// How long the work on a frame took.
  void record(std::int64_t nanoseconds);
  void reset();
  /// A new structure: in, out, failed, dropped, late, regrown, contours, maps-missing, maps-unused,
  /// interlaced (uint64),
  /// latency-p50, latency-p99 and latency-max (ns, uint64).
  GstStructure* to_structure(const char* name) const;

 private:
  mutable std::mutex mutex_;
  std::uint64_t counts_[static_cast<std::size_t>(Count::End)] = {};
  Histogram latency_;
};

}  // namespace contorno::gst
