#include "plugins/gst/element/accounts.h"

#include <cmath>

namespace contorno::gst {
namespace {

constexpr const char* kNames[] = {"in",      "out",      "failed",       "dropped",     "late",
                                  "regrown", "contours", "maps-missing", "maps-unused", "interlaced"};

guint64 in_ns(double microseconds) {
  constexpr double kNsPerUs = 1000;
  return static_cast<guint64>(std::llround(microseconds * kNsPerUs));
}

}  // namespace

void Accounts::add(Count count, std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  counts_[static_cast<std::size_t>(count)] += number;
}

void Accounts::record(std::int64_t nanoseconds) {
  const std::lock_guard lock(mutex_);
  latency_.record(nanoseconds);
}

void Accounts::reset() {
  const std::lock_guard lock(mutex_);
  for (std::uint64_t& count : counts_) count = 0;
  latency_ = Histogram();
}

GstStructure* Accounts::to_structure(const char* name) const {
  constexpr double kHalf = 0.5, kMost = 0.99;
  const std::lock_guard lock(mutex_);
  GstStructure* structure = gst_structure_new_empty(name);
  for (std::size_t i = 0; i < static_cast<std::size_t>(Count::End); ++i)
    gst_structure_set(structure, kNames[i], G_TYPE_UINT64, guint64{counts_[i]}, nullptr);
  gst_structure_set(structure, "latency-p50", G_TYPE_UINT64, in_ns(latency_.percentile_us(kHalf)),
                    "latency-p99", G_TYPE_UINT64, in_ns(latency_.percentile_us(kMost)), "latency-max",
                    G_TYPE_UINT64, in_ns(latency_.count() > 0 ? latency_.max_us() : 0), nullptr);
  return structure;
}

}  // namespace contorno::gst
