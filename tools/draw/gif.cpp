// GIF: frames of one palette of mixtures of the drawing's colours, each only where it differs from the one
// before, encoded by giflib.
#include <fmt/format.h>
#include <gif_lib.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/error.h"
#include "tools/draw/film.h"
#include "tools/draw/scene.h"

namespace contorno {
namespace {

constexpr int kColours = 256;

/// 64 mixtures of each of four pairs of colours.
class Palette {
 public:
  Palette() {
    const std::array<std::array<Colour, 2>, 4> pairs{{{kDrawingPaper, kDrawingLine},
                                                      {kDrawingPaper, kDrawingCircle},
                                                      {kDrawingPaper, kDrawingArm},
                                                      {kDrawingCircle, kDrawingLine}}};
    std::size_t next = 0;
    for (const auto& [from, to] : pairs)
      for (int i = 0; i < kColours / 4; ++i) {
        const auto mix = [i](int a, int b) {
          return static_cast<std::uint8_t>(a + (b - a) * i / (kColours / 4 - 1));
        };
        colours_[next++] = {mix(from.red, to.red), mix(from.green, to.green), mix(from.blue, to.blue)};
      }
  }
  const std::array<GifColorType, kColours>& colours() const { return colours_; }
  /// The number of the nearest colour, of equally near ones the first.
  std::uint8_t nearest(const std::uint8_t* pixel) {
    const std::uint32_t key = pixel[0] | pixel[1] << 8U | pixel[2] << 16U;
    if (const auto known = numbers_.find(key); known != numbers_.end()) return known->second;
    const auto distance = [pixel](const GifColorType& colour) {
      const int r = colour.Red - pixel[0], g = colour.Green - pixel[1], b = colour.Blue - pixel[2];
      return r * r + g * g + b * b;
    };
    const auto best = std::min_element(
        colours_.begin(), colours_.end(),
        [&](const GifColorType& a, const GifColorType& b) { return distance(a) < distance(b); });
    return numbers_[key] = static_cast<std::uint8_t>(best - colours_.begin());
  }

 private:
  std::array<GifColorType, kColours> colours_;
  std::map<std::uint32_t, std::uint8_t> numbers_;  ///< numbers of the colours of pixels that have come
};

using Gif = std::unique_ptr<GifFileType, void (*)(GifFileType*)>;

class GifFilm final : public Film {
 public:
  GifFilm(OutputFile file, const FilmFormat& format)
      : file_(std::move(file)), rate_(format.rate), gif_(EGifOpen(&bytes_, take_bytes, nullptr), close) {
    if (gif_ == nullptr) throw Error(ExitCode::OutOfMemory, "no memory for a GIF");
    EGifSetGifVersion(gif_.get(), true);
    const std::unique_ptr<ColorMapObject, void (*)(ColorMapObject*)> colours(
        GifMakeMapObject(kColours, palette_.colours().data()), GifFreeMapObject);
    check(EGifPutScreenDesc(gif_.get(), format.width, format.height, 8, 0, colours.get()));
  }

  void add(const ImageView& frame) override {
    const ImageView box = change_.next(frame);
    const int width = box.format.width;
    GraphicsControlBlock control{.DisposalMode = DISPOSE_DO_NOT,
                                 .UserInputFlag = false,
                                 .DelayTime = hundredths(frames_ + 1) - hundredths(frames_),
                                 .TransparentColor = NO_TRANSPARENT_COLOR};
    ++frames_;
    std::array<GifByteType, 4> extension{};
    const auto size = static_cast<int>(EGifGCBToExtension(&control, extension.data()));
    check(EGifPutExtension(gif_.get(), GRAPHICS_EXT_FUNC_CODE, size, extension.data()));
    check(EGifPutImageDesc(gif_.get(), change_.left(), change_.top(), width, box.format.height, false,
                           nullptr));
    std::vector<GifByteType> row(static_cast<std::size_t>(width));
    for (int y = 0; y < box.format.height; ++y) {
      for (int x = 0; x < width; ++x)
        row[static_cast<std::size_t>(x)] =
            palette_.nearest(box.row<const std::uint8_t>(y) + 3 * static_cast<std::ptrdiff_t>(x));
      check(EGifPutLine(gif_.get(), row.data(), width));
    }
    file_.write(std::exchange(bytes_, {}));
  }
  void finish() override {
    gif_.reset();
    file_.write(bytes_);
    file_.complete();
  }

 private:
  static int take_bytes(GifFileType* gif, const GifByteType* bytes, int count) {
    static_cast<std::string*>(gif->UserData)
        ->append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
    return count;
  }
  /// Writes the end of the file.
  static void close(GifFileType* gif) { EGifCloseFile(gif, nullptr); }
  void check(int result) const {
    if (result != GIF_OK)
      throw Error(ExitCode::Internal, fmt::format("GIF: {}", GifErrorString(gif_->Error)));
  }
  /// When a frame begins, in hundredths of a second, rounded so that the whole keeps its length.
  int hundredths(int frame) const { return (200 * frame + rate_) / (2 * rate_); }

  OutputFile file_;
  int rate_, frames_ = 0;
  Palette palette_;
  FrameChange change_;
  std::string bytes_;  ///< that giflib has made and the file has not yet
  Gif gif_;
};

}  // namespace

std::unique_ptr<Film> make_gif(OutputFile file, const FilmFormat& format) {
  return std::make_unique<GifFilm>(std::move(file), format);
}

}  // namespace contorno
