#include "plugins/gst/decoding_audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plugins/gst/deep_element.h"

namespace contorno::gst {
namespace {

/// Pictures that are only there for others to refer to: VP8 says so in a bit of the first byte (RFC 6386,
/// 9.1), and a buffer may be marked.
bool is_shown(GstPad* pad, GstBuffer* buffer) {
  if (GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DECODE_ONLY)) return false;
  const Owned<GstCaps> caps(gst_pad_get_current_caps(pad));
  if (!caps || !gst_structure_has_name(gst_caps_get_structure(caps.get(), 0), "video/x-vp8")) return true;
  constexpr guint8 kShown = 0x10;
  guint8 first = kShown;
  gst_buffer_extract(buffer, 0, &first, 1);
  return (first & kShown) != 0;
}

/// Where two fields come one by one, two of them make one frame. VP9 and AV1 may hide pictures in ways that
/// only a decoder understands.
bool is_countable(GstPad* pad) {
  const Owned<GstCaps> caps(gst_pad_get_current_caps(pad));
  if (!caps) return false;
  const GstStructure* structure = gst_caps_get_structure(caps.get(), 0);
  const char* mode = gst_structure_get_string(structure, "interlace-mode");
  if (mode && std::string_view(mode) != "progressive") return false;
  return !gst_structure_has_name(structure, "video/x-vp9") &&
         !gst_structure_has_name(structure, "video/x-av1");
}

/// The rule of jpegdec: whoever knows the times of pictures, as demuxers and parsers do, gives them one by
/// one.
bool gives_whole_pictures(GstPad* pad) {
  const Owned<GstEvent> event(gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0));
  if (!event) return false;
  const GstSegment* segment = nullptr;
  gst_event_parse_segment(event.get(), &segment);
  return segment->format == GST_FORMAT_TIME;
}

bool is_live(GstPad* pad) {
  const Owned<GstQuery> query(gst_query_new_latency());
  gboolean live = FALSE;
  if (gst_pad_peer_query(pad, query.get())) gst_query_parse_latency(query.get(), &live, nullptr, nullptr);
  return live != FALSE;
}

}  // namespace

void DecodingAudit::watch(FramePipeline& pipeline) {
  g_signal_connect(pipeline.pipeline(), "deep-element-added", G_CALLBACK(on_element), this);
}

void DecodingAudit::on_element(GstBin*, GstBin*, GstElement* element, gpointer audit) {
  GstElementFactory* factory = gst_element_get_factory(element);
  if (!factory || !gst_element_factory_list_is_type(factory, GST_ELEMENT_FACTORY_TYPE_DECODER |
                                                                 GST_ELEMENT_FACTORY_TYPE_MEDIA_VIDEO |
                                                                 GST_ELEMENT_FACTORY_TYPE_MEDIA_IMAGE))
    return;
  const Owned<GstPad> pad(gst_element_get_static_pad(element, "sink"));
  if (!pad || GST_IS_BIN(element)) return;
  auto* self = static_cast<DecodingAudit*>(audit);
  const gchar* plugin = gst_plugin_feature_get_plugin_name(GST_PLUGIN_FEATURE(factory));
  // Pictures of a GIF come to the decoder in pieces, and it complains about pieces of whole files too.
  const bool in_pieces = std::string_view(GST_OBJECT_NAME(factory)) == "avdec_gif";
  const bool deep = std::string_view(GST_OBJECT_NAME(factory)) == kDeepDecoder;
  if (deep || (plugin && std::string_view(plugin) == "libav" && !in_pieces)) self->libav_.listen();
  const std::lock_guard lock(self->mutex_);
  Count& count = self->counts_.emplace_back();
  count.decoder = element;
  count.audit = self;
  gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, on_buffer, &count, nullptr);
  if (const Owned<GstPad> source(gst_element_get_static_pad(element, "src")); source)
    gst_pad_add_probe(source.get(), GST_PAD_PROBE_TYPE_BUFFER, on_frame, &count, nullptr);
  const std::string_view name = GST_OBJECT_NAME(factory);
  if (name == "jpegdec") read_pictures(element, count, on_jpeg);
  if (name == "vp8dec") read_pictures(element, count, on_vp8);
}

void DecodingAudit::read_pictures(GstElement* decoder, Count& count, GstPadProbeCallback reader) {
  const Owned<GstPad> sink(gst_element_get_static_pad(decoder, "sink"));
  const Owned<GstPad> source(gst_element_get_static_pad(decoder, "src"));
  gst_pad_add_probe(sink.get(), GST_PAD_PROBE_TYPE_BUFFER, reader, &count, nullptr);
  gst_pad_add_probe(source.get(), GST_PAD_PROBE_TYPE_BUFFER, on_decoded, &count, nullptr);
}

GstPadProbeReturn DecodingAudit::on_jpeg(GstPad* pad, GstPadProbeInfo* info, gpointer counted) {
  auto& count = *static_cast<Count*>(counted);
  count.said = PictureComplaint::Kind::None;  // a picture that cannot be decoded counts as such
  if (!count.reads_jpegs) count.reads_jpegs = gives_whole_pictures(pad) && !is_live(pad);
  GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  GstMapInfo map;
  if (!*count.reads_jpegs || !gst_buffer_map(buffer, &map, GST_MAP_READ)) return GST_PAD_PROBE_OK;
  const PictureComplaint complaint = jpeg_complaint({reinterpret_cast<const char*>(map.data), map.size});
  gst_buffer_unmap(buffer, &map);
  if (complaint.kind != PictureComplaint::Kind::None)
    note(count, complaint.kind, complaint.sentence + " (reported by libjpeg)");
  return GST_PAD_PROBE_OK;
}

/// The decoder takes a profile that does not exist for another one.
GstPadProbeReturn DecodingAudit::on_vp8(GstPad*, GstPadProbeInfo* info, gpointer counted) {
  guint8 first = 0;
  gst_buffer_extract(GST_PAD_PROBE_INFO_BUFFER(info), 0, &first, 1);
  constexpr unsigned kLastProfile = 3;
  const unsigned profile = first >> 1U & 7U;  // RFC 6386, 9.1
  if (profile > kLastProfile)
    note(*static_cast<Count*>(counted), PictureComplaint::Kind::Damage,
         fmt::format("VP8 has no profile {}", profile));
  return GST_PAD_PROBE_OK;
}

void DecodingAudit::note(Count& count, PictureComplaint::Kind kind, const std::string& sentence) {
  count.said = kind;
  DecodingAudit& audit = *count.audit;
  const std::lock_guard lock(audit.mutex_);
  std::string& first = kind == PictureComplaint::Kind::Stray ? audit.stray_ : audit.damage_;
  if (first.empty()) first = sentence;
}

/// The decoder gives a frame before it takes the next picture.
GstPadProbeReturn DecodingAudit::on_decoded(GstPad*, GstPadProbeInfo* info, gpointer counted) {
  const PictureComplaint::Kind said =
      std::exchange(static_cast<Count*>(counted)->said, PictureComplaint::Kind::None);
  if (said == PictureComplaint::Kind::None) return GST_PAD_PROBE_OK;
  GstBuffer* buffer = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(info));
  GST_PAD_PROBE_INFO_DATA(info) = buffer;
  GST_BUFFER_FLAG_SET(buffer,
                      said == PictureComplaint::Kind::Stray ? kStrayFlag : guint{GST_BUFFER_FLAG_CORRUPTED});
  return GST_PAD_PROBE_OK;
}

/// A picture that says "nothing has changed" becomes the frame before once more, with the time of that one:
/// it gets its own.
GstPadProbeReturn DecodingAudit::on_frame(GstPad*, GstPadProbeInfo* info, gpointer counted) {
  auto& count = *static_cast<Count*>(counted);
  GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  const GstClockTime pts = GST_BUFFER_PTS(buffer), before = std::exchange(count.given, pts);
  if (!GST_CLOCK_TIME_IS_VALID(pts) || pts != before) return GST_PAD_PROBE_OK;
  if (!GST_CLOCK_TIME_IS_VALID(count.latest) || count.latest <= pts) return GST_PAD_PROBE_OK;
  buffer = gst_buffer_make_writable(buffer);
  GST_PAD_PROBE_INFO_DATA(info) = buffer;
  GST_BUFFER_PTS(buffer) = count.latest;
  return GST_PAD_PROBE_OK;
}

GstPadProbeReturn DecodingAudit::on_buffer(GstPad* pad, GstPadProbeInfo* info, gpointer counted) {
  auto& count = *static_cast<Count*>(counted);
  GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  const bool key = !GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DELTA_UNIT);
  if (!count.began) {
    if (!key) return GST_PAD_PROBE_OK;  // the recording begins between key frames
    count.began = true;
    count.countable = is_countable(pad);
    count.first = GST_BUFFER_PTS(buffer);
  }
  const GstClockTime pts = GST_BUFFER_PTS(buffer);
  count.latest = pts;
  if (!count.countable || GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_HEADER) || !is_shown(pad, buffer))
    return GST_PAD_PROBE_OK;
  if (GST_CLOCK_TIME_IS_VALID(pts)) {
    // Pictures before the first key frame refer to what was cut away; a second field has its frame's time.
    if ((GST_CLOCK_TIME_IS_VALID(count.first) && pts < count.first) || pts == count.before)
      return GST_PAD_PROBE_OK;
    count.before = pts;
    const Owned<GstEvent> event(gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0));
    if (event) {
      const GstSegment* segment = nullptr;
      gst_event_parse_segment(event.get(), &segment);
      guint64 begin = 0, end = 0;
      const GstClockTime duration = GST_BUFFER_DURATION_IS_VALID(buffer) ? GST_BUFFER_DURATION(buffer) : 0;
      if (!gst_segment_clip(segment, GST_FORMAT_TIME, pts, pts + duration, &begin, &end))
        return GST_PAD_PROBE_OK;
    }
  }
  ++count.pictures;
  return GST_PAD_PROBE_OK;
}

const DecodingAudit::Count* DecodingAudit::count_of(const FramePipeline& pipeline) const {
  const Owned<GstElement> decoder = pipeline.decoder();
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(counts_.begin(), counts_.end(),
                                  [&](const Count& count) { return count.decoder == decoder.get(); });
  return decoder && found != counts_.end() ? &*found : nullptr;
}

std::string DecodingAudit::said(PictureComplaint::Kind kind) const {
  const std::lock_guard lock(mutex_);
  return kind == PictureComplaint::Kind::Stray ? stray_ : damage_;
}

std::int64_t DecodingAudit::pictures(const FramePipeline& pipeline) const {
  const Count* count = count_of(pipeline);
  return count && count->countable ? count->pictures.load() : -1;
}

}  // namespace contorno::gst
