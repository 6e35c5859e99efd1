#include "plugins/gst/chain.h"

#include <fmt/format.h>

namespace contorno::gst {

Chain::Chain() {
  ensure_init();
  bin_.reset(GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new(nullptr))));
  bus_.reset(gst_element_get_bus(bin_.get()));
}

Chain::~Chain() {
  if (out_) gst_pad_set_active(out_.get(), FALSE);
  if (in_) gst_pad_set_active(in_.get(), FALSE);
  gst_element_set_state(bin_.get(), GST_STATE_NULL);
}

void Chain::start(std::initializer_list<GstElement*> elements) {
  link(elements);
  in_.reset(GST_PAD(gst_object_ref_sink(gst_pad_new("in", GST_PAD_SRC))));
  // Without a template a pad that once had caps would accept no others.
  static GstStaticPadTemplate any =
      GST_STATIC_PAD_TEMPLATE("out", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
  out_.reset(GST_PAD(gst_object_ref_sink(gst_pad_new_from_static_template(&any, "out"))));
  gst_pad_set_element_private(out_.get(), this);
  gst_pad_set_chain_function(out_.get(), on_buffer);
  gst_pad_set_event_function(out_.get(), on_event);
  const Owned<GstPad> first(gst_element_get_static_pad(*elements.begin(), "sink"));
  const Owned<GstPad> last(gst_element_get_static_pad(*(elements.end() - 1), "src"));
  // Our pads have no parent element, so the hierarchy cannot be checked and need not be.
  if (GST_PAD_LINK_FAILED(gst_pad_link_full(in_.get(), first.get(), GST_PAD_LINK_CHECK_NOTHING)) ||
      GST_PAD_LINK_FAILED(gst_pad_link_full(last.get(), out_.get(), GST_PAD_LINK_CHECK_NOTHING)))
    throw InternalError("cannot link a chain of elements");
  gst_pad_set_active(out_.get(), TRUE);
  gst_pad_set_active(in_.get(), TRUE);
  gst_element_set_state(bin_.get(), GST_STATE_PLAYING);
  gst_pad_push_event(in_.get(), gst_event_new_stream_start("contorno"));
}

GstFlowReturn Chain::on_buffer(GstPad* pad, GstObject*, GstBuffer* buffer) {
  auto* self = static_cast<Chain*>(gst_pad_get_element_private(pad));
  const Owned<GstBuffer> owned(buffer);
  const Owned<GstCaps> caps(gst_pad_get_current_caps(pad));
  if (!self->output_) self->output_.reset(gst_sample_new(buffer, caps.get(), nullptr, nullptr));
  return GST_FLOW_OK;
}

gboolean Chain::on_event(GstPad*, GstObject*, GstEvent* event) {
  gst_event_unref(event);  // caps stay on the pad by themselves; nothing else matters here
  return TRUE;
}

bool Chain::push(GstCaps* caps, GstBuffer* buffer, const std::string& subject, std::string& error) {
  output_.reset();
  if (!in_caps_ || !gst_caps_is_equal(in_caps_.get(), caps)) {
    const bool first = !in_caps_;
    in_caps_.reset(gst_caps_ref(caps));
    gst_pad_push_event(in_.get(), gst_event_new_caps(caps));
    if (first) {
      GstSegment segment;
      gst_segment_init(&segment, GST_FORMAT_TIME);
      gst_pad_push_event(in_.get(), gst_event_new_segment(&segment));
    }
  }
  return outcome(gst_pad_push(in_.get(), buffer) == GST_FLOW_OK, subject, error);
}

bool Chain::drain(const std::string& subject, std::string& error) {
  output_.reset();
  gst_pad_push_event(in_.get(), gst_event_new_eos());
  return outcome(true, subject, error);
}

bool Chain::outcome(bool ok, const std::string& subject, std::string& error) {
  Owned<GstMessage> message = pop_error(bus_.get());
  if (message) error = to_error(message.get(), subject).what();
  if (!ok && !message) error = fmt::format("{}: it cannot be processed", subject);
  return ok && !message;
}

}  // namespace contorno::gst
