#include "tools/draw/film.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "config/describe.h"
#include "plugins/files/shared/file_names.h"

namespace contorno {
namespace {

namespace fs = std::filesystem;

class VideoFilm final : public Film {
 public:
  VideoFilm(const std::string& path, const FilmFormat& format, const Catalog& catalog, OutputRegister& files)
      : rate_(format.rate) {
    const SinkType& type = config::sink_called(catalog, "video");
    const fs::path file = path;
    ParamSet params(type.params);
    params.set("path", file.filename().string());
    params.set("quality", std::int64_t{90});
    sink_ = type.make(params);
    SinkContext context;
    context.format = ImageFormat{.width = format.width, .height = format.height, .channels = 3};
    context.stream.rate_numerator = format.rate;
    context.stream.frame_count = format.frames;
    context.output_root = file.has_parent_path() ? file.parent_path().string() : ".";
    context.owner = "OUT";
    context.outputs = &files;
    sink_->open(context);
  }
  void add(const ImageView& frame) override {
    const auto number = frames_++;
    sink_->write({.number = number, .pts_ns = static_cast<std::int64_t>(number) * 1'000'000'000 / rate_},
                 frame);
  }
  void finish() override { sink_->finish(); }

 private:
  int rate_;
  std::uint64_t frames_ = 0;
  std::unique_ptr<Sink> sink_;
};

}  // namespace

void check_drawing_path(const std::string& path) {
  static constexpr std::array kExtensions{".webm", ".mkv", ".gif", ".apng", ".svg"};
  const std::string extension = lower_extension(path);
  if (std::find(kExtensions.begin(), kExtensions.end(), extension) == kExtensions.end())
    throw Error(ExitCode::Usage, fmt::format("OUT is '{}', allowed are the extensions {}", path,
                                             fmt::join(kExtensions, ", ")));
}

std::unique_ptr<Film> make_film(const std::string& path, const FilmFormat& format, const Catalog& catalog,
                                OutputRegister& files) {
  const std::string extension = lower_extension(path);
  if (extension == ".gif") return make_gif(files.open(path, "OUT"), format);
  if (extension == ".apng") return make_apng(files.open(path, "OUT"), format);
  return std::make_unique<VideoFilm>(path, format, catalog, files);
}

ImageView FrameChange::next(const ImageView& frame) {
  const int width = frame.format.width, height = frame.format.height;
  const auto row_bytes = static_cast<std::size_t>(width) * 3;
  const bool first = before_.empty();
  before_.resize(row_bytes * static_cast<std::size_t>(height));
  int right = -1, bottom = -1;
  left_ = width, top_ = height;
  for (int y = 0; y < height; ++y) {
    const auto* const row = frame.row<const std::uint8_t>(y);
    std::uint8_t* const old = before_.data() + row_bytes * static_cast<std::size_t>(y);
    const auto differs = [&](int x) { return first || std::memcmp(row + 3 * x, old + 3 * x, 3) != 0; };
    int from = 0, to = width - 1;
    while (from < width && !differs(from)) ++from;
    if (from == width) continue;
    while (!differs(to)) --to;
    left_ = std::min(left_, from), right = std::max(right, to);
    top_ = std::min(top_, y), bottom = y;
    std::memcpy(old, row, row_bytes);
  }
  if (right < 0) left_ = top_ = right = bottom = 0;
  ImageView box = frame;
  box.format.width = right - left_ + 1, box.format.height = bottom - top_ + 1;
  box.data =
      const_cast<std::uint8_t*>(frame.row<const std::uint8_t>(top_)) + 3 * static_cast<std::ptrdiff_t>(left_);
  return box;
}

}  // namespace contorno
