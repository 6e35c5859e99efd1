#include "plugins/gst/pad_times.h"

#include <utility>

#include "pipeline/shared/clock.h"

namespace contorno::gst {
namespace {

constexpr std::size_t kReserved = 1 << 16;  // an hour at 18 frames a second; then memory is taken

/// The key under which a pad keeps a pointer to its PadTimes.
GQuark times_quark() {
  static const GQuark quark = g_quark_from_static_string("contorno-pad-times");
  return quark;
}

PadTimes* times_of(GstPad* pad) {
  return static_cast<PadTimes*>(g_object_get_qdata(G_OBJECT(pad), times_quark()));
}

const GstBuffer* first_buffer(GstPadProbeInfo* info) {
  if ((info->type & GST_PAD_PROBE_TYPE_BUFFER) != 0) return GST_PAD_PROBE_INFO_BUFFER(info);
  GstBufferList* const buffers = GST_PAD_PROBE_INFO_BUFFER_LIST(info);
  return gst_buffer_list_length(buffers) > 0 ? gst_buffer_list_get(buffers, 0) : nullptr;
}

}  // namespace

double rate_of(GstPad* pad) {
  const Owned<GstCaps> caps(gst_pad_get_current_caps(pad));
  gint numerator = 0, denominator = 1;
  if (!caps || gst_caps_get_size(caps.get()) == 0 ||
      gst_structure_get_fraction(gst_caps_get_structure(caps.get(), 0), "framerate", &numerator,
                                 &denominator) == 0 ||
      numerator <= 0 || denominator <= 0)
    return 0;
  return static_cast<double>(numerator) / denominator;
}

PadTimes::PadTimes(GstPad* pad) : pad_(GST_PAD(gst_object_ref(pad))) {
  passings_.reserve(kReserved);
  gst_pad_add_probe(pad,
                    static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST),
                    note_buffer, this, nullptr);
  if (!GST_PAD_IS_SINK(pad) || GST_PAD_CHAINFUNC(pad) == nullptr) return;
  kept_.reserve(kReserved);
  g_object_set_qdata(G_OBJECT(pad), times_quark(), this);
  chain_ = std::exchange(GST_PAD_CHAINFUNC(pad), &PadTimes::chain);
  if (GST_PAD_CHAINLISTFUNC(pad) != nullptr)
    chain_list_ = std::exchange(GST_PAD_CHAINLISTFUNC(pad), &PadTimes::chain_list);
}

/// The pipeline has ended: no thread is in one of the functions.
PadTimes::~PadTimes() {
  if (chain_ == nullptr) return;
  GST_PAD_CHAINFUNC(pad_.get()) = chain_;
  if (chain_list_ != nullptr) GST_PAD_CHAINLISTFUNC(pad_.get()) = chain_list_;
  g_object_set_qdata(G_OBJECT(pad_.get()), times_quark(), nullptr);
}

void PadTimes::end(PassedElement& place) {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  place.passings = std::move(passings_);
  place.kept = std::move(kept_);
}

GstPadProbeReturn PadTimes::note_buffer(GstPad*, GstPadProbeInfo* info, gpointer self) {
  const std::int64_t now = now_ns();
  const GstBuffer* const buffer = first_buffer(info);
  if (buffer == nullptr || !GST_BUFFER_PTS_IS_VALID(buffer)) return GST_PAD_PROBE_OK;
  auto& times = *static_cast<PadTimes*>(self);
  const std::lock_guard lock(times.mutex_);
  if (!times.ended_)
    times.passings_.push_back({.pts_ns = static_cast<std::int64_t>(GST_BUFFER_PTS(buffer)), .at_ns = now});
  return GST_PAD_PROBE_OK;
}

template <class Work>
GstFlowReturn PadTimes::timed(GstPad* pad, const Work& work) {
  PadTimes& times = *times_of(pad);
  const std::int64_t begin = now_ns();
  times.held_since_ns_ = begin;
  const GstFlowReturn flow = work(times);
  times.held_since_ns_ = 0;
  const std::lock_guard lock(times.mutex_);
  if (!times.ended_) times.kept_.push_back({.from_ns = begin, .to_ns = now_ns()});
  return flow;
}

GstFlowReturn PadTimes::chain(GstPad* pad, GstObject* parent, GstBuffer* buffer) {
  return timed(pad, [&](const PadTimes& times) { return times.chain_(pad, parent, buffer); });
}

GstFlowReturn PadTimes::chain_list(GstPad* pad, GstObject* parent, GstBufferList* buffers) {
  return timed(pad, [&](const PadTimes& times) { return times.chain_list_(pad, parent, buffers); });
}

}  // namespace contorno::gst
