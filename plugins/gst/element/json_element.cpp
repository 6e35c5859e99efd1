// The element `contornometa2json`: video with contours in, the text of the sink `jsonl` out: of a frame
// a buffer with its line, behind the lines of objects that had left by then. Frames without contours make
// none.
#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include "plugins/files/contours/contour_line_writer.h"
#include "plugins/gst/element/guard.h"
#include "plugins/gst/element/log.h"
#include "plugins/gst/element/meta.h"
#include "plugins/gst/element/plugin.h"

namespace contorno::gst {
namespace {

struct ContornoMeta2Json {
  GstBaseTransform parent;
  ContourLineWriter* lines;
};
struct ContornoMeta2JsonClass {
  GstBaseTransformClass parent_class;
};

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-cstyle-cast)
G_DEFINE_TYPE(ContornoMeta2Json, contorno_json, GST_TYPE_BASE_TRANSFORM)

constexpr const char* kVideoCaps = "video/x-raw(ANY)";
constexpr const char* kTextCaps = "text/x-raw, format = (string) utf8";

GstCaps* transform_caps(GstBaseTransform*, GstPadDirection direction, GstCaps*, GstCaps* filter) {
  GstCaps* caps = gst_caps_from_string(direction == GST_PAD_SINK ? kTextCaps : kVideoCaps);
  if (filter == nullptr) return caps;
  GstCaps* both = gst_caps_intersect_full(filter, caps, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(caps);
  return both;
}

/// Strides are of no interest here, and the contours are.
gboolean propose_allocation(GstBaseTransform*, GstQuery*, GstQuery* query) {
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  gst_query_add_allocation_meta(query, contorno_meta_info()->api, nullptr);
  return TRUE;
}

GstBuffer* text_of(ContourLineWriter& lines, const MetaBlock& block, GstBuffer* in) {
  const ContoursView& view = block.contours.view;
  lines.open({.format = view.format, .stream = {}, .classes = block.classes, .output_root = {}, .owner = {}});
  FrameInfo info;
  info.number = block.frame;
  if (GST_BUFFER_PTS_IS_VALID(in)) info.pts_ns = static_cast<std::int64_t>(GST_BUFFER_PTS(in));
  const std::string_view line = lines.line(info, view);
  GstBuffer* out = gst_buffer_new_allocate(nullptr, block.objects.size() + line.size(), nullptr);
  gst_buffer_fill(out, 0, block.objects.data(), block.objects.size());
  gst_buffer_fill(out, block.objects.size(), line.data(), line.size());
  gst_buffer_copy_into(out, in, GST_BUFFER_COPY_TIMESTAMPS, 0, static_cast<gsize>(-1));
  return out;
}

GstFlowReturn prepare_output_buffer(GstBaseTransform* transform, GstBuffer* in, GstBuffer** out) {
  *out = nullptr;
  return guarded(GST_ELEMENT(transform), GST_FLOW_ERROR, [&] {
    const SharedBlock block = contours_of(in);
    GST_LOG_OBJECT(transform, "a frame %s", block ? "becomes a line" : "without contours makes no line");
    if (!block) return GST_BASE_TRANSFORM_FLOW_DROPPED;
    *out = text_of(*static_cast<ContornoMeta2Json*>(static_cast<gpointer>(transform))->lines, *block, in);
    return GST_FLOW_OK;
  });
}

/// The text is there already.
GstFlowReturn transform_nothing(GstBaseTransform*, GstBuffer*, GstBuffer*) {
  return GST_FLOW_OK;
}

void finalize(GObject* object) {
  delete static_cast<ContornoMeta2Json*>(static_cast<gpointer>(object))->lines;
  G_OBJECT_CLASS(contorno_json_parent_class)->finalize(object);
}

void contorno_json_class_init(ContornoMeta2JsonClass* type_class) {
  G_OBJECT_CLASS(type_class)->finalize = finalize;
  GstElementClass* element_class = GST_ELEMENT_CLASS(type_class);
  gst_element_class_set_static_metadata(
      element_class, "Contours as JSON lines", "Converter/Video/Text",
      "Writes the contours that are attached to video frames as text, a JSON object a line",
      "The contorno authors");
  add_pad_template(element_class, "sink", GST_PAD_SINK, kVideoCaps);
  add_pad_template(element_class, "src", GST_PAD_SRC, kTextCaps);
  auto* base = GST_BASE_TRANSFORM_CLASS(type_class);
  base->transform_caps = transform_caps;
  base->propose_allocation = propose_allocation;
  base->prepare_output_buffer = prepare_output_buffer;
  base->transform = transform_nothing;
}

void contorno_json_init(ContornoMeta2Json* object) {
  object->lines = new ContourLineWriter({.coordinates = Coordinates::Map});
}

}  // namespace

GType json_get_type() {
  return contorno_json_get_type();
}

}  // namespace contorno::gst
