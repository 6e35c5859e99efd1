// An element that fails while a decodebin is still starting it: the decodebin drops its error.
#include <gst/gst.h>

#include "tests/plugins/gst/helpers.h"

using namespace contorno;
using namespace contorno::test;

namespace {

constexpr char kBegin[] = "contorno-early";  // what the files begin with
constexpr char kCaps[] = "video/x-contorno-early";

void idle(gpointer pad) {
  gst_pad_pause_task(GST_PAD(pad));
}

/// A demuxer that pulls gives up at its first byte, before the state change ends that decodebin makes.
gboolean give_up(GstPad* pad, GstObject* parent, GstPadMode, gboolean active) {
  if (!active) return gst_pad_stop_task(pad);
  gst_pad_start_task(pad, idle, pad, nullptr);
  gst_pad_pause_task(pad);
  GST_ELEMENT_ERROR(parent, STREAM, FAILED, (nullptr), ("it cannot"));
  return TRUE;
}

gboolean pull_mode(GstPad* pad, GstObject*) {
  return gst_pad_activate_mode(pad, GST_PAD_MODE_PULL, TRUE);
}

GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(kCaps));
GstStaticPadTemplate video_template =
    GST_STATIC_PAD_TEMPLATE("video", GST_PAD_SRC, GST_PAD_SOMETIMES, GST_STATIC_CAPS("video/x-raw"));

void init_class(gpointer object_class, gpointer) {
  auto* element = GST_ELEMENT_CLASS(object_class);
  gst_element_class_add_static_pad_template(element, &sink_template);
  gst_element_class_add_static_pad_template(element, &video_template);
  gst_element_class_set_static_metadata(element, "Fails early", "Codec/Demuxer", "Fails early", "contorno");
}

void init_instance(GTypeInstance* instance, gpointer) {
  GstPad* const pad = gst_pad_new_from_static_template(&sink_template, "sink");
  gst_pad_set_activate_function(pad, pull_mode);
  gst_pad_set_activatemode_function(pad, give_up);
  gst_element_add_pad(GST_ELEMENT(instance), pad);
}

void find_type(GstTypeFind* find, gpointer) {
  const guint8* const data = gst_type_find_peek(find, 0, sizeof(kBegin) - 1);
  if (data != nullptr && std::equal(kBegin, kBegin + sizeof(kBegin) - 1, data))
    gst_type_find_suggest_empty_simple(find, GST_TYPE_FIND_MAXIMUM, kCaps);
}

void register_early_demuxer() {
  static const GType type =
      g_type_register_static_simple(GST_TYPE_ELEMENT, "ContornoEarlyDemux", sizeof(GstElementClass),
                                    init_class, sizeof(GstElement), init_instance, GTypeFlags{});
  gst_element_register(nullptr, "contornoearlydemux", GST_RANK_PRIMARY, type);
  gst_type_find_register(nullptr, kCaps, GST_RANK_PRIMARY, find_type, nullptr, nullptr, nullptr, nullptr);
}

}  // namespace

TEST_CASE("a film whose demuxer gives up while it is being started is refused, and not by a timeout") {
  register_early_demuxer();
  const Folder folder;
  std::ofstream(folder / "early.bin") << kBegin << std::string(4096, 'x');
  std::string sentence;
  CHECK(code_of(
            [&] {
              open_source(video_source(), {{"location", folder / "early.bin"}, {"timeout", 60'000L}});
            },
            &sentence) == ExitCode::BadData);
  CHECK(sentence.find(
            "Internal data stream error (reported by contornoearlydemux); no frame could be decoded") !=
        std::string::npos);
}
