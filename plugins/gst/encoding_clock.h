// How long an encoder takes for a picture: from its arrival at the first of the given elements to the bytes
// that leave the last one. Pictures leave in the order in which they came. Probes in the streaming threads
// write, and whoever reads waits until the stream has ended.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "plugins/gst/elements.h"

namespace contorno::gst {

class EncodingClock {
 public:
  /// Once, before the elements play; this must outlive them. They have pads called `sink` and `src`.
  void watch(GstElement* first, GstElement* last);
  /// 0 if no picture was encoded.
  double mean_ms() const;

 private:
  static GstPadProbeReturn on_arrival(GstPad*, GstPadProbeInfo*, gpointer self);
  static GstPadProbeReturn on_bytes(GstPad*, GstPadProbeInfo* info, gpointer self);

  static constexpr std::size_t kMost = 64;  ///< pictures in an encoder; those beyond are not timed
  mutable std::mutex mutex_;
  std::array<std::int64_t, kMost> arrivals_{};
  std::uint64_t arrived_ = 0, left_ = 0, timed_ = 0;
  std::int64_t total_ns_ = 0;
};

}  // namespace contorno::gst
