#include "plugins/files/levels/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "pipeline/shared/threads.h"
#include "pipeline/value/levels.h"
#include "plugins/files/shared/frame_files.h"
#include "plugins/files/shared/tiff_module.h"

namespace contorno {
namespace {

struct MipmapsSinkParams {
  std::string path;
  int first = 0;
  int compression = 3;
  int threads = 0;
  std::int64_t every = 1;
};

enum class LevelFile : std::uint8_t { Tiff, Png };

LevelFile file_type(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
  if (extension == ".tif" || extension == ".tiff") return LevelFile::Tiff;
  if (extension == ".png") return LevelFile::Png;
  throw Error(ExitCode::BadConfig,
              fmt::format("path is '{}', allowed are the extensions .tif, .tiff and .png", path));
}

constexpr std::string_view kLevelWord = "{level}";

std::string with_level(std::string path, int level) {
  for (std::size_t at = path.find(kLevelWord); at != std::string::npos; at = path.find(kLevelWord))
    path.replace(at, kLevelWord.size(), std::to_string(level));
  return path;
}

/// Encodes in the sink's thread and its helpers, so files are on disk when write() returns.
class MipmapsSink final : public Sink {
 public:
  explicit MipmapsSink(const MipmapsSinkParams& params)
      : params_(params),
        type_(file_type(params.path)),
        apart_(params.path.find(kLevelWord) != std::string::npos) {
    encoding_ = {.compression = params.compression, .threads = decided_threads(params.threads)};
  }

  void open(const SinkContext& context) override {
    const auto& format = std::get<ImageFormat>(context.format);
    boxes_ = holds_levels(format) ? level_boxes(format.atlas)
                                  : std::vector<LevelBox>{{0, 0, format.width, format.height}};
    const auto levels = static_cast<int>(boxes_.size());
    if (params_.first >= levels)
      throw Error(ExitCode::BadConfig,
                  fmt::format("first is {}, the image has the levels 0 to {}", params_.first, levels - 1));
    if (type_ == LevelFile::Png && !apart_ && params_.first + 1 < levels)
      throw Error(
          ExitCode::BadConfig,
          fmt::format("path is '{}' and the image has {} levels, write {{level}} into the path or take .tif",
                      params_.path, levels));
    wanted_ = apart_ ? static_cast<std::size_t>(levels - params_.first) : 1;
    // Files that an earlier format opened stay open and are used again.
    while (files_.size() < wanted_)
      files_.push_back(std::make_unique<FrameFiles>(
          PathPattern(with_level(params_.path, params_.first + static_cast<int>(files_.size())))));
    for (const auto& files : files_) files->open(context);
  }

  void write(const FrameInfo& info, const Value& value) override {
    if (seen_++ % static_cast<std::uint64_t>(params_.every) != 0) return;
    std::vector<ImageView> levels;
    for (std::size_t level = static_cast<std::size_t>(params_.first); level < boxes_.size(); ++level)
      levels.push_back(level_view(std::get<ImageView>(value), boxes_[level]));
    for (std::size_t file = 0; file < wanted_; ++file) {
      const std::span<const ImageView> views =
          apart_ ? std::span(levels).subspan(file, 1) : std::span(levels);
      OutputFile output = files_[file]->begin(info);
      output.write(type_ == LevelFile::Tiff ? encode_tiff(views, encoding_)
                                            : encode_png(views[0], encoding_));
      output.complete();
      files_[file]->written(output);
      last_ = file;
    }
  }

  void finish() override {
    for (const auto& files : files_) files->finish();
  }

  std::string summary() const override {
    if (files_.empty() || !apart_) return files_.empty() ? std::string() : files_[0]->summary("files");
    std::uint64_t count = 0;
    for (const auto& files : files_) count += files->count();
    const std::string last = files_[last_]->summary("files of the last level");
    return files_.size() > 1 && count > 1 ? fmt::format("{} files; {}", count, last) : last;
  }

 private:
  MipmapsSinkParams params_;
  LevelFile type_;
  bool apart_;  ///< one file a level
  LevelEncoding encoding_;
  std::vector<LevelBox> boxes_;
  std::vector<std::unique_ptr<FrameFiles>> files_;  ///< one a level, or one for all levels
  std::size_t wanted_ = 0;  ///< how many of files_ a frame of the present format needs
  std::size_t last_ = 0;    ///< index in files_ of the file written last
  std::uint64_t seen_ = 0;
};

ParamDeclaration mipmaps_params() {
  using P = MipmapsSinkParams;
  ParamList<P> list;
  list.required_text(
          "path", &P::path,
          "Files to write, in the output folder, with {frame}, {frame:06} or {name}; .tif holds all levels, "
          "with {level} in the path each has its own .tif or .png.")
      .integer("first", &P::first, 0, 17, Unit::None, "First level to write; 0 is the image itself.")
      .integer("every", &P::every, 1, kUnbounded, Unit::Frames, "Every n-th frame is written.")
      .integer("compression", &P::compression, 0, 9, Unit::None,
               "Smaller and slower with higher numbers; 0 stores.")
      .integer("threads", &P::threads, 0, kMostThreads, Unit::None,
               "Threads that compress; 0 takes all of the machine.");
  return declare(std::move(list), [](const P& params, const ParamTrial& trial) {
    if (trial.run("path", [&] {
          if (file_type(params.path) == LevelFile::Tiff) tiff_module();
        }))
      try_output_path(trial, with_level(params.path, params.first), PathUse::Pattern);
  });
}

}  // namespace

std::string encode_tiff(std::span<const ImageView> levels, const LevelEncoding& encoding) {
  return tiff_module().encode(levels, encoding);
}

const SinkType& mipmaps_sink() {
  static const SinkType type{
      .name = "mipmaps",
      .summary = "Writes mipmap levels to one TIFF file a frame, or to a TIFF or PNG file a level.",
      .input = PortType::Image,
      .params = mipmaps_params(),
      .example = "sinks:\n  - type: mipmaps\n    path: levels/{frame:06}.tif\n",
      .make =
          [](const ParamSet& params) {
            return std::make_unique<MipmapsSink>(params.as<MipmapsSinkParams>());
          },
  };
  return type;
}

}  // namespace contorno
