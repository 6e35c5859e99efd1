// ImageDecoder: JPEG and PNG go through a Chain that stays open from file to file, and JPEG is turned as its
// Exif segment says; whatever else GStreamer decodes goes through a decodebin of its own.
#include <fmt/format.h>
#include <gst/base/base.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "plugins/exif.h"
#include "plugins/gst_image_decoder.h"

namespace contorno {
namespace {
namespace fs = std::filesystem;

constexpr std::uintmax_t kMaxFileBytes = std::uintmax_t{1} << 30;
constexpr int kOtherTimeout = 10'000;  // ms, for one image of a rare format

/// True when a JPEG has its end: libjpeg fills what is missing with grey and GStreamer says nothing. The last
/// start-of-scan marker is the picture's own (a thumbnail lies before it), and inside a scan FF is stuffed.
bool jpeg_is_whole(std::string_view bytes) {
  using namespace std::string_view_literals;
  const auto scan = bytes.rfind("\xFF\xDA"sv);
  return scan != std::string_view::npos && bytes.find("\xFF\xD9"sv, scan) != std::string_view::npos;
}

/// A PNG ends with the chunk IEND, which always has these bytes.
bool png_is_whole(std::string_view bytes) {
  using namespace std::string_view_literals;
  return bytes.rfind("\0\0\0\0IEND\xAE\x42\x60\x82"sv) != std::string_view::npos;
}

/// Adds to `type` the size that a PNG's header, its first chunk, tells; GStreamer looks for it only while it
/// decodes.
void add_png_size(std::string_view bytes, GstStructure* type) {
  constexpr std::size_t kWidthAt = 16, kHeightAt = 20, kHeaderEnd = 24;
  if (bytes.size() < kHeaderEnd) return;
  const auto side = [&](std::size_t at) {
    const guint32 value = GST_READ_UINT32_BE(bytes.data() + at);
    return static_cast<gint>(std::min<guint32>(value, G_MAXINT));
  };
  gst_structure_set(type, "width", G_TYPE_INT, side(kWidthAt), "height", G_TYPE_INT, side(kHeightAt),
                    nullptr);
}

/// The word of videoflip for it.
const char* direction_of(ExifOrientation orientation) {
  constexpr const char* kWords[] = {"identity", "horiz", "180", "vert", "ul-lr", "90r", "ur-ll", "90l"};
  return kWords[static_cast<std::size_t>(orientation) - 1];
}

}  // namespace

bool ImageDecoder::Impl::decode(const std::string& path, std::string& error) {
  sample_.reset();
  if (!read_file(path, error)) return false;
  gst::Owned<GstCaps> found(gst_type_find_helper_for_data(
      nullptr, reinterpret_cast<const guint8*>(bytes_.data()), bytes_.size(), nullptr));
  if (!found) {
    error = fmt::format("{}: it is not in a known image format", path);
    return false;
  }
  found.reset(gst_caps_make_writable(found.release()));
  GstStructure* type = gst_caps_get_structure(found.get(), 0);
  if (gst_structure_has_name(type, "image/png")) add_png_size(bytes_, type);
  if (!size_is_allowed(path, type, error)) return false;
  const std::string_view name = gst_structure_get_name(type);
  bool ok = false;
  if (name == "image/jpeg")
    ok = jpeg_is_whole(bytes_) ? decode_still(jpeg_, "jpegdec", "image/jpeg", path, error)
                               : truncated(path, error);
  else if (name == "image/png")
    ok = png_is_whole(bytes_) ? decode_still(png_, "pngdec", "image/png", path, error)
                              : truncated(path, error);
  else if (name.starts_with("image/"))
    ok = decode_other(path, error);
  else
    error = fmt::format("{}: it is {}, not an image", path, name);
  if (ok) ok = size_is_allowed(path, gst_caps_get_structure(gst_sample_get_caps(sample_.get()), 0), error);
  if (!ok) sample_.reset();
  return ok;
}

bool ImageDecoder::Impl::truncated(const std::string& path, std::string& error) {
  error = fmt::format("{}: the file is cut off, its end is missing", path);
  return false;
}

bool ImageDecoder::Impl::read_file(const std::string& path, std::string& error) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  const std::uintmax_t size = fs::is_regular_file(status) ? fs::file_size(path, code) : 0;
  const auto refuse = [&](std::string_view why) {
    error = fmt::format("{}: {}", path, why);
    return false;
  };
  if (!fs::exists(status)) return refuse("there is no such file");
  if (!fs::is_regular_file(status)) return refuse("is not a regular file");
  if (code) return refuse(code.message());
  if (size == 0) return refuse("the file is empty");
  if (size > kMaxFileBytes)
    return refuse(fmt::format("it has {} bytes, allowed are {}", size, kMaxFileBytes));
  bytes_.resize(size);
  std::ifstream file(path, std::ios::binary);
  if (!file.read(bytes_.data(), static_cast<std::streamsize>(size)))
    return refuse(fmt::format("it cannot be read ({})", std::generic_category().message(errno)));
  return true;
}

bool ImageDecoder::Impl::size_is_allowed(const std::string& path, const GstStructure* caps,
                                         std::string& error) {
  int width = 0, height = 0;
  gst_structure_get_int(caps, "width", &width);
  gst_structure_get_int(caps, "height", &height);
  const auto pixels =
      static_cast<std::uint64_t>(std::max(0, width)) * static_cast<std::uint64_t>(std::max(0, height));
  if (width <= gst::kMaxVideoSide && height <= gst::kMaxVideoSide && pixels <= max_pixels_) return true;
  error = fmt::format("{}: it is {}x{}, allowed are sides to {} px and {} pixels in all", path, width, height,
                      gst::kMaxVideoSide, max_pixels_);
  return false;
}

bool ImageDecoder::Impl::decode_still(Still& still, const char* element, const char* type,
                                      const std::string& path, std::string& error) {
  std::unique_ptr<gst::Chain>& chain = still.chain;
  if (!chain) {
    chain = std::make_unique<gst::Chain>();
    GstElement* decoder = chain->add(element);
    GstElement* convert = chain->add("videoconvert");
    GstElement* filter = chain->add("capsfilter");
    gst_util_set_object_arg(G_OBJECT(convert), "dither", "none");
    g_object_set(filter, "caps", gst::raw_caps("RGBA").get(), nullptr);
    still.flip = chain->add("videoflip");
    chain->start({decoder, convert, filter, still.flip});
  }
  gst_util_set_object_arg(G_OBJECT(still.flip), "video-direction", direction_of(exif_orientation(bytes_)));
  // Size and rate of the caps do not matter; "parsed" and a rate say that one buffer is one whole image.
  const gst::Owned<GstCaps> caps(gst_caps_new_simple(type, "parsed", G_TYPE_BOOLEAN, TRUE, "framerate",
                                                     GST_TYPE_FRACTION, 25, 1, nullptr));
  GstBuffer* buffer = gst_buffer_new_wrapped_full(GST_MEMORY_FLAG_READONLY, bytes_.data(), bytes_.size(), 0,
                                                  bytes_.size(), nullptr, nullptr);
  bool ok = chain->push(caps.get(), buffer, path, error);
  if (ok && !chain->output()) {
    ok = false;
    error = fmt::format("{}: the image is damaged ({} gives no picture)", path, element);
  }
  if (ok) sample_.reset(gst_sample_ref(chain->output()));
  chain->release_output();
  if (!ok) chain.reset();  // its elements are in an error state
  return ok;
}

bool ImageDecoder::Impl::decode_other(const std::string& path, std::string& error) {
  static const std::atomic<bool> never_cancelled = false;
  gst::FramePipeline pipeline;
  GstElement* source = pipeline.add("filesrc");
  GstElement* decode = pipeline.add("decodebin");
  GstElement* end = pipeline.add_frame_end();
  g_object_set(source, "location", path.c_str(), nullptr);
  gst::link({source, decode});
  pipeline.link_when_decoded(decode, end);
  pipeline.play();
  auto pulled = pipeline.pull(kOtherTimeout, never_cancelled, path);
  switch (pulled.result) {
    case gst::FramePipeline::Pull::Frame:
      sample_ = std::move(pulled.sample);
      return true;
    case gst::FramePipeline::Pull::Failed:
      error = pulled.error;
      return false;
    case gst::FramePipeline::Pull::TimedOut:
      error = fmt::format("{}: it was not decoded within {} ms", path, kOtherTimeout);
      return false;
    case gst::FramePipeline::Pull::End:
    case gst::FramePipeline::Pull::Cancelled:
      break;
  }
  error = fmt::format("{}: there is no picture in it", path);
  return false;
}

ImageDecoder::ImageDecoder(std::uint64_t max_pixels) : impl_(std::make_unique<Impl>(max_pixels)) {}
ImageDecoder::~ImageDecoder() = default;

bool ImageDecoder::decode(const std::string& path, DecodedImage& out, std::string& error) {
  if (!impl_->decode(path, error)) return false;
  const ImageFormat format = gst::format_of(impl_->sample());
  out.width = format.width;
  out.height = format.height;
  out.pixels.resize(format.row_bytes() * static_cast<std::size_t>(format.height));
  const bool ok =
      gst::copy_frame(impl_->sample(), {.data = out.pixels.data(),
                                        .format = format,
                                        .row_pitch = static_cast<std::ptrdiff_t>(format.row_bytes())});
  impl_->release();
  if (!ok) error = fmt::format("{}: the decoded picture is smaller than it says", path);
  return ok;
}

bool decode_image(const std::string& path, DecodedImage& out, std::string& error) {
  static thread_local ImageDecoder decoder;
  return decoder.decode(path, out, error);
}

}  // namespace contorno
