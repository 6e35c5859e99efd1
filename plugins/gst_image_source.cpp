#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "plugins/gst_image_decoder.h"
#include "plugins/gst_media.h"
#include "plugins/playback.h"

namespace contorno {
namespace {
namespace fs = std::filesystem;

constexpr std::array<std::string_view, 13> kExtensions{".png", ".jpg", ".jpeg", ".jpe",  ".bmp",
                                                       ".gif", ".tif", ".tiff", ".webp", ".ppm",
                                                       ".pgm", ".pnm", ".tga"};

struct ImagesParams : Playback {
  std::string location;
  double rate = 25;
  std::int64_t limit = 0;
  bool loop = false;
  int max_megapixels = static_cast<int>(ImageDecoder::kDefaultMaxPixels / 1'000'000);
};

/// Digits compare by value: frame2 comes before frame10.
bool natural_less(const std::string& a, const std::string& b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const auto skip = [&](const std::string& s, std::size_t& at) {
        while (at < s.size() && s[at] == '0') ++at;
        const std::size_t from = at;
        while (at < s.size() && is_digit(s[at])) ++at;
        return std::string_view(s).substr(from, at - from);
      };
      const std::string_view x = skip(a, i), y = skip(b, j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else {
      if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      ++i, ++j;
    }
  }
  if (i < a.size() || j < b.size()) return j < b.size();
  return a < b;  // equal but for leading zeros
}

bool has_image_extension(const fs::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(), g_ascii_tolower);
  return std::find(kExtensions.begin(), kExtensions.end(), extension) != kExtensions.end();
}

std::vector<std::string> files_of_folder(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::error_code ignored;
    if (entry.path().filename().string().starts_with(".") || !has_image_extension(entry.path())) continue;
    if (!entry.is_directory(ignored)) files.push_back(entry.path().string());
  }
  return files;
}

std::vector<std::string> files_of_glob(const std::string& pattern) {
  std::vector<std::string> files;
  glob_t found{};
  if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0)
    for (std::size_t i = 0; i < found.gl_pathc; ++i) {
      std::error_code ignored;
      if (fs::is_regular_file(found.gl_pathv[i], ignored)) files.emplace_back(found.gl_pathv[i]);
    }
  ::globfree(&found);
  return files;
}

std::vector<std::string> find_files(const std::string& location) {
  std::error_code ignored;
  const auto refuse = [&](std::string_view why) {
    return Error(ExitCode::MissingInput, fmt::format("{}: {} (looked for from '{}')", location, why,
                                                     fs::current_path(ignored).string()));
  };
  std::vector<std::string> files;
  try {
    if (fs::is_directory(location, ignored))
      files = files_of_folder(location);
    else if (fs::exists(location, ignored))
      files = {location};
    else
      files = files_of_glob(location);
  } catch (const fs::filesystem_error& error) {
    throw refuse(error.code().message());
  }
  if (files.empty())
    throw refuse(fs::is_directory(location, ignored)                  ? "there is no image in this folder"
                 : location.find_first_of("*?[") != std::string::npos ? "no file matches"
                                                                      : "there is no such file or folder");
  std::sort(files.begin(), files.end(), natural_less);
  return files;
}

class ImagesSource : public Source {
 public:
  explicit ImagesSource(const ImagesParams& params)
      : params_(params),
        files_(find_files(params.location)),
        decoder_(static_cast<std::uint64_t>(params.max_megapixels) * 1'000'000) {
    std::int64_t position = 0;
    std::erase_if(files_, [&](const std::string&) { return !params.takes(position++); });
    find_first();
    set_decimal_rate(format_, params.rate);
    params.set_rate(format_);
    const auto count = static_cast<std::int64_t>(files_.size());
    format_.frame_count = params.loop ? (params.limit > 0 ? params.limit : -1)
                                      : (params.limit > 0 ? std::min(count, params.limit) : count);
    format_.description = fmt::format("images {}, {} of them, the first {}x{}", params.location, count,
                                      format_.frame->width, format_.frame->height);
  }

  const StreamFormat& format() const override { return format_; }
  void cancel() override { pacer_.cancel(); }

  ReadResult read(FrameInput& input) override {
    const auto limit = static_cast<std::uint64_t>(params_.limit);
    if (pacer_.cancelled() || (limit > 0 && offered_ >= limit)) return ReadResult::End;
    if (next_ >= files_.size()) {
      if (!params_.loop) return ReadResult::End;
      next_ = 0;
    }
    const std::string& path = files_[next_];
    if (decoded_ != next_) {
      decoded_ = kNone;
      if (!decoder_.impl().decode(path, input.error)) {
        if (!wait_for_turn()) return ReadResult::End;
        begin_frame(input, path);
        return ReadResult::Bad;
      }
      decoded_ = next_;
    }
    const ImageFormat frame = gst::format_of(decoder_.impl().sample());
    if (frame != *format_.frame) {
      format_.frame = frame;
      return ReadResult::FormatChanged;  // the decoded picture waits for the next call
    }
    if (!wait_for_turn()) return ReadResult::End;
    begin_frame(input, path);
    decoded_ = kNone;
    const bool ok = gst::copy_frame(decoder_.impl().sample(), input.frame);
    decoder_.impl().release();
    if (ok) return ReadResult::Frame;
    input.error = fmt::format("{}: the decoded picture is smaller than it says", path);
    return ReadResult::Bad;
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  /// The first picture that can be decoded says what the stream's format is; those before it are still
  /// offered, as bad ones.
  void find_first() {
    std::string first_error, error;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (decoder_.impl().decode(files_[i], error)) {
        decoded_ = i;
        format_.frame = gst::format_of(decoder_.impl().sample());
        return;
      }
      if (first_error.empty()) first_error = error;
    }
    if (files_.empty())
      throw Error(ExitCode::BadData, fmt::format("{}: 'start' leaves out every image", params_.location));
    throw Error(ExitCode::BadData, files_.size() == 1
                                       ? first_error
                                       : fmt::format("{}: none of the {} images can be read; the first: {}",
                                                     params_.location, files_.size(), first_error));
  }

  bool wait_for_turn() { return !params_.live || pacer_.wait_for(time_of_frame(offered_, format_)); }

  void begin_frame(FrameInput& input, const std::string& path) {
    input.info.name = path.substr(path.find_last_of('/') + 1);
    input.info.picture = input.info.name;
    input.info.pts_ns = time_of_frame(offered_, format_);
    ++next_;
    ++offered_;
  }

  ImagesParams params_;
  std::vector<std::string> files_;
  ImageDecoder decoder_;
  StreamFormat format_;
  std::size_t next_ = 0, decoded_ = kNone;  // decoded_: whose picture the decoder holds
  std::uint64_t offered_ = 0;
  Pacer pacer_;
};

ParamDeclaration images_params() {
  using P = ImagesParams;
  ParamList<P> list;
  list.required_text(
          "location", &P::location,
          "An image file, a folder of images, or a glob such as shots/*.png; natural order of names.")
      .number("rate", &P::rate, 0.001, 100'000, Unit::PerSecond, "Frames a second that the timestamps tell.")
      .integer("limit", &P::limit, 0, kUnbounded, Unit::Frames, "Most images to deliver; 0 delivers all.")
      .flag("loop", &P::loop, "Begin again at the end, for ever or until limit.")
      .integer("max_megapixels", &P::max_megapixels, 1, 268, Unit::None,
               "Larger images are refused before memory is taken for them.");
  add_playback(list);
  return declare(std::move(list));
}

}  // namespace

const SourceType& images_source() {
  static const SourceType type{
      .name = "images",
      .summary = "Frames from image files (PNG, JPEG and whatever else GStreamer decodes).",
      .params = images_params(),
      .input_param = "location",
      .example = "source:\n  type: images\n  location: shots\n",
      .make =
          [](const ParamSet& params) { return std::make_unique<ImagesSource>(params.as<ImagesParams>()); },
  };
  return type;
}

}  // namespace contorno
