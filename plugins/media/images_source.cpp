#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "plugins/files/pictures/decoder.h"
#include "plugins/files/shared/file_names.h"
#include "plugins/media/media.h"
#include "plugins/shared/playback.h"

namespace contorno {
namespace {
namespace fs = std::filesystem;

struct ImagesParams : Playback {
  std::string location;
  double rate = 25;
  std::int64_t limit = 0;
  bool loop = false;
  int max_megapixels = static_cast<int>(kDefaultMaxPixels / 1'000'000);
};

std::vector<std::string> files_of_folder(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::error_code ignored;
    if (entry.path().filename().string().starts_with(".") || !has_picture_extension(entry.path())) continue;
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

/// One picture of a file; a TIFF file may have several.
struct PictureOfFile {
  std::string path;
  int page = 0;
  std::string name;         ///< of the file; with the page's number in it where there are several
  std::string from_common;  ///< the path from the deepest folder that has all files in or below it
};

/// The deepest folder that has all files in or below it.
fs::path common_folder(const std::vector<std::string>& files) {
  fs::path common = fs::path(files.front()).parent_path();
  for (const std::string& file : files) {
    const fs::path folder = fs::path(file).parent_path();
    while (std::mismatch(common.begin(), common.end(), folder.begin(), folder.end()).first != common.end())
      common = common.parent_path();
  }
  return common;
}

std::vector<PictureOfFile> pictures_of(const std::vector<std::string>& files, PictureDecoder& decoder) {
  std::vector<PictureOfFile> pictures;
  const fs::path common = common_folder(files);
  for (const std::string& path : files) {
    const fs::path name = fs::path(path).filename();
    const std::string extension = lower_extension(path);
    const int pages = extension == ".tif" || extension == ".tiff" ? decoder.pages(path) : 1;
    const std::size_t digits = std::to_string(pages - 1).size();
    for (int page = 0; page < pages; ++page)
      pictures.push_back({path, page,
                          pages == 1 ? name.string()
                                     : fmt::format("{}-{:0{}}{}", name.stem().string(), page, digits,
                                                   name.extension().string()),
                          fs::path(path).lexically_relative(common).string()});
  }
  return pictures;
}

class ImagesSource : public Source {
 public:
  explicit ImagesSource(const ImagesParams& params)
      : params_(params),
        decoder_(decode_with_gstreamer),
        files_(pictures_of(find_files(params.location), decoder_)) {
    std::int64_t position = 0;
    std::erase_if(files_, [&](const PictureOfFile&) { return !params.takes(position++); });
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
  std::vector<std::string> files() const override {
    std::vector<std::string> names;
    for (const PictureOfFile& picture : files_) names.push_back(picture.path);
    return names;
  }

  ReadResult read(FrameInput& input) override {
    const auto limit = static_cast<std::uint64_t>(params_.limit);
    if (pacer_.cancelled() || (limit > 0 && offered_ >= limit)) return ReadResult::End;
    if (next_ >= files_.size()) {
      if (!params_.loop) return ReadResult::End;
      next_ = 0;
    }
    const PictureOfFile& file = files_[next_];
    if (decoded_ != next_) {
      decoded_ = kNone;
      if (!decode(next_, input.error)) {
        if (!wait_for_turn()) return ReadResult::End;
        begin_frame(input, file);
        return ReadResult::Bad;
      }
    }
    if (format_of_picture() != *format_.frame) {
      format_.frame = format_of_picture();
      return ReadResult::FormatChanged;  // the decoded picture waits for the next call
    }
    if (!wait_for_turn()) return ReadResult::End;
    begin_frame(input, file);
    decoded_ = kNone;
    const std::size_t row_bytes = format_.frame->row_bytes();
    for (int y = 0; y < picture_.height; ++y)
      std::memcpy(input.frame.row<std::uint8_t>(y),
                  picture_.pixels.data() + static_cast<std::size_t>(y) * row_bytes, row_bytes);
    return ReadResult::Frame;
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  /// The first picture that can be decoded says what the stream's format is; those before it are still
  /// offered, as bad ones.
  void find_first() {
    std::string first_error, error;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (decode(i, error)) {
        format_.frame = format_of_picture();
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

  bool decode(std::size_t number, std::string& error) {
    const PictureOfFile& file = files_[number];
    const auto most = static_cast<std::uint64_t>(params_.max_megapixels) * 1'000'000;
    if (!decoder_.decode(file.path, most, picture_, error, file.page)) return false;
    decoded_ = number;
    return true;
  }
  ImageFormat format_of_picture() const {
    return {.width = picture_.width, .height = picture_.height, .channels = kPictureChannels};
  }

  bool wait_for_turn() { return !params_.live || pacer_.wait_for(time_of_frame(offered_, format_)); }

  void begin_frame(FrameInput& input, const PictureOfFile& file) {
    input.info.name = file.name;
    input.info.picture = file.from_common;
    input.info.pts_ns = time_of_frame(offered_, format_);
    ++next_;
    ++offered_;
  }

  ImagesParams params_;
  PictureDecoder decoder_;
  std::vector<PictureOfFile> files_;
  Picture picture_;
  StreamFormat format_;
  std::size_t next_ = 0, decoded_ = kNone;  // decoded_: whose picture is in picture_
  std::uint64_t offered_ = 0;
  Pacer pacer_;
};

ParamDeclaration images_source_params() {
  using P = ImagesParams;
  ParamList<P> list;
  list.required_text(
          "location", &P::location,
          "An image file, a folder of images, or a glob such as shots/*.png; natural order of "
          "names. Each page of a TIFF file is a frame, but for thumbnails, levels of pyramids and masks.")
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
      .params = images_source_params(),
      .input_param = "location",
      .example = "source:\n  type: images\n  location: shots\n",
      .make =
          [](const ParamSet& params) { return std::make_unique<ImagesSource>(params.as<ImagesParams>()); },
  };
  return type;
}

}  // namespace contorno
