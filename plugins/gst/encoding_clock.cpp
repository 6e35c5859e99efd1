#include "plugins/gst/encoding_clock.h"

#include "pipeline/shared/clock.h"

namespace contorno::gst {

void EncodingClock::watch(GstElement* first, GstElement* last) {
  const Owned<GstPad> in(gst_element_get_static_pad(first, "sink"));
  const Owned<GstPad> out(gst_element_get_static_pad(last, "src"));
  gst_pad_add_probe(in.get(), GST_PAD_PROBE_TYPE_BUFFER, on_arrival, this, nullptr);
  gst_pad_add_probe(out.get(), GST_PAD_PROBE_TYPE_BUFFER, on_bytes, this, nullptr);
}

GstPadProbeReturn EncodingClock::on_arrival(GstPad*, GstPadProbeInfo*, gpointer self) {
  auto& clock = *static_cast<EncodingClock*>(self);
  const std::lock_guard lock(clock.mutex_);
  clock.arrivals_[clock.arrived_++ % kMost] = now_ns();
  return GST_PAD_PROBE_OK;
}

GstPadProbeReturn EncodingClock::on_bytes(GstPad*, GstPadProbeInfo* info, gpointer self) {
  // What a codec sends ahead of its pictures has no arrival.
  if (GST_BUFFER_FLAG_IS_SET(gst_pad_probe_info_get_buffer(info), GST_BUFFER_FLAG_HEADER))
    return GST_PAD_PROBE_OK;
  auto& clock = *static_cast<EncodingClock*>(self);
  const std::lock_guard lock(clock.mutex_);
  if (clock.left_ == clock.arrived_) return GST_PAD_PROBE_OK;
  if (clock.arrived_ - clock.left_ <= kMost) {
    clock.total_ns_ += now_ns() - clock.arrivals_[clock.left_ % kMost];
    ++clock.timed_;
  }
  ++clock.left_;
  return GST_PAD_PROBE_OK;
}

double EncodingClock::mean_ms() const {
  const std::lock_guard lock(mutex_);
  return timed_ == 0 ? 0 : static_cast<double>(total_ns_) / static_cast<double>(timed_) / 1e6;
}

}  // namespace contorno::gst
