// Pictures that no library here decodes: whatever GStreamer knows goes through a decodebin of its own.
#include <fmt/format.h>
#include <gst/base/base.h>

#include <algorithm>
#include <fstream>
#include <mutex>

#include "plugins/files/pictures/numbers.h"
#include "plugins/gst/parts.h"
#include "plugins/gst/pipeline.h"

namespace contorno::gst {
namespace {

constexpr int kTimeout = 10'000;                           // ms, for one image
constexpr std::size_t kStartBytes = std::size_t{1} << 16;  // enough to know what a file is

/// Refuses a picture that is too large once its size is known: by what the file begins with, else by the
/// decoder's caps, which come before it takes memory for the picture.
class SizeGuard {
 public:
  explicit SizeGuard(std::uint64_t max_pixels) : max_pixels_(max_pixels) {}

  /// Throws Error(BadData); caps without a size pass.
  void check(const GstStructure* caps) const {
    int width = 0, height = 0;
    if (gst_structure_get_int(caps, "width", &width) && gst_structure_get_int(caps, "height", &height))
      check_picture_size(static_cast<std::uint64_t>(std::max(0, width)),
                         static_cast<std::uint64_t>(std::max(0, height)), max_pixels_);
  }
  void watch(GstElement* element) {
    const Owned<GstPad> pad(gst_element_get_static_pad(element, "sink"));
    gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_event, this, nullptr);
  }
  /// Why the decoder was stopped, or empty.
  std::string refusal() {
    const std::lock_guard lock(mutex_);
    return refusal_;
  }

 private:
  static GstPadProbeReturn on_event(GstPad*, GstPadProbeInfo* info, gpointer guard) {
    GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
    if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS) return GST_PAD_PROBE_OK;
    GstCaps* caps = nullptr;
    gst_event_parse_caps(event, &caps);
    auto* self = static_cast<SizeGuard*>(guard);
    try {
      self->check(gst_caps_get_structure(caps, 0));
      return GST_PAD_PROBE_OK;
    } catch (const Error& error) {
      const std::lock_guard lock(self->mutex_);
      self->refusal_ = error.what();
      return GST_PAD_PROBE_DROP;
    }
  }

  const std::uint64_t max_pixels_;
  std::mutex mutex_;
  std::string refusal_;
};

/// Adds the size that the header of a GIF or lossless WebP tells; GStreamer looks for it only while it
/// decodes, with memory for the picture.
void add_size(std::string_view start, GstStructure* type) {
  const auto number = [&](std::size_t at, std::size_t bytes) { return little_endian(start, at, bytes); };
  guint32 width = 0, height = 0;
  if (start.starts_with("GIF8") && start.size() >= 10) {
    width = number(6, 2), height = number(8, 2);
  } else if (start.starts_with("RIFF") && start.size() >= 25 && start.substr(12, 4) == "VP8L") {
    constexpr guint32 kSideBits = 14, kSideMask = (1U << kSideBits) - 1;
    const guint32 sides = number(21, 4);
    width = 1 + (sides & kSideMask), height = 1 + (sides >> kSideBits & kSideMask);
  } else {
    return;
  }
  gst_structure_set(type, "width", G_TYPE_INT, static_cast<gint>(width), "height", G_TYPE_INT,
                    static_cast<gint>(height), nullptr);
}

/// Throws Error(BadData) when it is no picture, or too large.
void check_is_image(const std::string& path, const SizeGuard& guard) {
  std::string start(kStartBytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(file.gcount()));
  Owned<GstCaps> caps(gst_type_find_helper_for_data(nullptr, reinterpret_cast<const guint8*>(start.data()),
                                                    start.size(), nullptr));
  if (!caps) throw Error(ExitCode::BadData, "it is not in a known image format");
  caps.reset(gst_caps_make_writable(caps.release()));
  GstStructure* type = gst_caps_get_structure(caps.get(), 0);
  const std::string_view name = gst_structure_get_name(type);
  if (!name.starts_with("image/"))
    throw Error(ExitCode::BadData, fmt::format("it is {}, not an image", name));
  add_size(start, type);
  guard.check(type);
}

void copy_picture(GstSample* sample, const std::string& path, Picture& out) {
  const ImageFormat format = format_of(sample);
  out.width = format.width, out.height = format.height;
  out.pixels.resize(format.row_bytes() * static_cast<std::size_t>(format.height));
  if (!copy_frame(sample, {.data = out.pixels.data(),
                           .format = format,
                           .row_pitch = static_cast<std::ptrdiff_t>(format.row_bytes())}))
    throw Error(ExitCode::BadData, fmt::format("{}: the decoded picture is smaller than it says", path));
}

}  // namespace

void decode_picture(const std::string& path, std::uint64_t max_pixels, Picture& out) {
  static const std::atomic<bool> never_cancelled = false;
  ensure_init();
  SizeGuard guard(max_pixels);
  check_is_image(path, guard);
  FramePipeline pipeline;
  GstElement* source = pipeline.add("filesrc");
  g_object_set(source, "location", path.c_str(), nullptr);
  GstElement* end = pipeline.add_frame_end();
  require_memory_for_decoding();
  GstElement* decode = pipeline.add("decodebin");
  link({source, decode});
  pipeline.link_when_decoded(decode, end);
  guard.watch(end);
  pipeline.play();
  const auto pulled = pipeline.pull(kTimeout, never_cancelled, path);
  if (const std::string refusal = guard.refusal(); !refusal.empty()) throw Error(ExitCode::BadData, refusal);
  switch (pulled.result) {
    case FramePipeline::Pull::Frame:
      return copy_picture(pulled.sample.get(), path, out);
    case FramePipeline::Pull::Failed:
      throw Error(pulled.code, pulled.error);
    case FramePipeline::Pull::TimedOut:
      throw Error(ExitCode::BadData, fmt::format("it was not decoded within {} ms", kTimeout));
    case FramePipeline::Pull::End:
    case FramePipeline::Pull::Cancelled:
      break;
  }
  throw Error(ExitCode::BadData, "there is no picture in it");
}

}  // namespace contorno::gst
