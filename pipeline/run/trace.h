// A trace for Chrome or Perfetto: slices of time that say which thread or stream did what for which frame.
// Memory is reserved when the trace is made; once it is full, further slices are only counted. Any thread may
// add slices.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace contorno {

/// The tracks of a trace. Slot s has track kSlotTracks + s, sink s of the run kSinkTracks + s.
enum Track : std::int32_t {
  kReaderTrack = 1,
  kLauncherTrack = 2,
  kFinisherTrack = 3,
  kSlotTracks = 16,
  kSinkTracks = 1 << 16
};

class Trace {
 public:
  explicit Trace(std::size_t capacity) : slices_(capacity) {}

  /// Adds a slice. The first kNameLength characters of `name` are kept; times are now_ns() values.
  void add(std::string_view name, std::int32_t track, std::uint64_t frame, std::int64_t start_ns,
           std::int64_t end_ns) {
    const std::size_t index = used_.fetch_add(1, std::memory_order_relaxed);
    if (index >= slices_.size()) return;
    Slice& slice = slices_[index];
    name.substr(0, kNameLength).copy(slice.name, kNameLength);
    slice.track = track, slice.frame = frame, slice.start_ns = start_ns, slice.end_ns = end_ns;
  }

  /// Chrome's JSON ("traceEvents"), times in microseconds from the first slice. Call when the run is over.
  std::string to_json(const std::vector<std::pair<std::int32_t, std::string>>& track_names) const;
  std::size_t left_out() const;

 private:
  static constexpr std::size_t kNameLength = 31;
  struct Slice {
    char name[kNameLength + 1] = {};
    std::int32_t track = 0;
    std::uint64_t frame = 0;
    std::int64_t start_ns = 0, end_ns = 0;
  };
  std::vector<Slice> slices_;
  std::atomic<std::size_t> used_ = 0;
};

}  // namespace contorno
