#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "plugins/files/shared/frame_files.h"
#include "plugins/gst/chain.h"
#include "plugins/gst/object_pictures.h"
#include "plugins/gst/parts.h"

namespace contorno::gst {
namespace {
namespace fs = std::filesystem;

enum class ImageFile : std::uint8_t { Png, Jpeg };

ImageFile file_type(const std::string& path) {
  std::string extension = fs::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(), g_ascii_tolower);
  if (extension == ".png") return ImageFile::Png;
  if (extension == ".jpg" || extension == ".jpeg") return ImageFile::Jpeg;
  throw Error(ExitCode::BadConfig,
              fmt::format("path is '{}', allowed are the extensions .png, .jpg and .jpeg", path));
}

const char* encoder_of(ImageFile type) {
  return type == ImageFile::Png ? "pngenc" : "jpegenc";
}

/// Encodes in the sink's thread, so a file is on disk when write() returns.
class ImagesSink : public Sink, public ObjectViewer {
 public:
  explicit ImagesSink(const ImagesSinkParams& params)
      : params_(params),
        files_(PathPattern(params.path)),
        type_(file_type(params.path)),
        objects_(params.around) {}

  void open(const SinkContext& context) override {
    raw_format_of(std::get<ImageFormat>(context.format));
    files_.open(context);
  }

  void view_objects(const std::string& stage, const ObjectsRule& rule,
                    const ContoursView& contours) override {
    if (params_.objects && is_chosen(seen_)) objects_.view(stage, rule, contours);
  }

  void write(const FrameInfo& info, const Value& value) override {
    if (!is_chosen(seen_++)) return;
    if (params_.objects)
      objects_.keep(info, std::get<ImageView>(value));
    else
      write_file(info, std::get<ImageView>(value));
  }

  void write_objects(const FinishedObjects& objects) override {
    if (!params_.objects) return;
    for (const ObjectRecord& record : objects.records)
      if (objects_.take(objects.stage, *objects.rule, record.id, picture_))
        write_file(picture_.info, {.data = picture_.pixels.data(),
                                   .format = picture_.format,
                                   .row_pitch = static_cast<std::ptrdiff_t>(picture_.format.row_bytes())});
  }

  void finish() override {
    chain_.reset();
    files_.finish();
  }

  std::string summary() const override { return files_.summary("images"); }

 private:
  bool is_chosen(std::uint64_t seen) const {
    const auto first = static_cast<std::uint64_t>(params_.first);
    return seen >= first && (seen - first) % static_cast<std::uint64_t>(params_.every) == 0;
  }

  void write_file(const FrameInfo& info, const ImageView& image) {
    if (params_.limit > 0 && files_.count() >= static_cast<std::uint64_t>(params_.limit)) return;
    const std::string relative = files_.pattern().format(info.number, info.name);
    encode(image, relative);
    GstMapInfo bytes;
    GstBuffer* buffer = gst_sample_get_buffer(chain_->output());
    if (!gst_buffer_map(buffer, &bytes, GST_MAP_READ))
      throw Error(ExitCode::OutOfMemory, fmt::format("{}: no access to the encoded picture", relative));
    try {
      OutputFile file = files_.begin(info);
      file.write({reinterpret_cast<const char*>(bytes.data), bytes.size});
      file.complete();
      files_.written(file);
    } catch (...) {
      gst_buffer_unmap(buffer, &bytes);
      throw;
    }
    gst_buffer_unmap(buffer, &bytes);
    chain_->release_output();
  }

  void make_chain() {
    chain_ = std::make_unique<Chain>();
    GstElement* convert = chain_->add("videoconvert");
    GstElement* encoder = chain_->add(encoder_of(type_));
    if (type_ == ImageFile::Png)
      g_object_set(encoder, "compression-level", static_cast<guint>(params_.compression), nullptr);
    else
      g_object_set(encoder, "quality", params_.quality, nullptr);
    chain_->start({convert, encoder});
  }

  void set_format(const ImageFormat& format) {
    if (caps_ && format == format_) return;
    caps_ = raw_caps(raw_format_of(format), format.width, format.height, 25, 1);
    gst_video_info_from_caps(&info_, caps_.get());
    format_ = format;
  }

  /// Hands the slot's memory to the encoder as it lies; it is free again when push() has returned.
  void encode(const ImageView& image, const std::string& name) {
    if (!chain_) make_chain();
    set_format(image.format);
    const std::size_t size =
        static_cast<std::size_t>(image.row_pitch) * static_cast<std::size_t>(format_.height - 1) +
        format_.row_bytes();
    GstBuffer* buffer =
        gst_buffer_new_wrapped_full(GST_MEMORY_FLAG_READONLY, image.data, size, 0, size, nullptr, nullptr);
    gsize offsets[GST_VIDEO_MAX_PLANES] = {0};
    gint strides[GST_VIDEO_MAX_PLANES] = {static_cast<gint>(image.row_pitch)};
    gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info_),
                                   static_cast<guint>(format_.width), static_cast<guint>(format_.height), 1,
                                   offsets, strides);
    GST_BUFFER_PTS(buffer) = static_cast<GstClockTime>(files_.count()) * GST_MSECOND;
    std::string error;
    const bool ok = chain_->push(caps_.get(), buffer, name, error);
    if (ok && chain_->output()) return;
    chain_.reset();
    throw Error(ExitCode::Io, ok ? fmt::format("{}: the encoder gave no picture", name) : error);
  }

  ImagesSinkParams params_;
  FrameFiles files_;
  ImageFile type_;
  ImageFormat format_;
  GstVideoInfo info_{};
  Owned<GstCaps> caps_;
  std::unique_ptr<Chain> chain_;
  std::uint64_t seen_ = 0;
  ObjectPictures objects_;
  ObjectPictures::Picture picture_;
};

}  // namespace

void try_images_sink(const ImagesSinkParams& params, const ParamTrial& trial) {
  if (!trial.run("path", [&] { file_type(params.path); })) return;
  try_output_path(trial, params.path, PathUse::Pattern);
  trial.run("path", [&] {
    ensure_init();
    require_element(encoder_of(file_type(params.path)));
  });
}

std::unique_ptr<Sink> make_images_sink(const ImagesSinkParams& params) {
  return std::make_unique<ImagesSink>(params);
}

}  // namespace contorno::gst
