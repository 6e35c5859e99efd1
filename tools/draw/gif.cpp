// GIF: frames of one palette of mixtures of the drawing's colours, each only where it differs from the one
// before. Source: CompuServe, Graphics Interchange Format, version 89a.
#include <algorithm>
#include <array>
#include <map>

#include "tools/draw/film.h"
#include "tools/draw/scene.h"

namespace contorno {
namespace {

constexpr int kColours = 256;

std::string little_endian(int value) {
  return {static_cast<char>(value & 255), static_cast<char>(value >> 8 & 255)};
}

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
  std::string text() const {
    std::string text;
    for (const Colour& colour : colours_)
      for (const std::uint8_t part : {colour.red, colour.green, colour.blue}) text += static_cast<char>(part);
    return text;
  }
  /// The number of the nearest colour, of equally near ones the first.
  std::uint8_t nearest(const std::uint8_t* pixel) {
    const std::uint32_t key = pixel[0] | pixel[1] << 8U | pixel[2] << 16U;
    if (const auto known = numbers_.find(key); known != numbers_.end()) return known->second;
    const auto distance = [pixel](const Colour& colour) {
      const int r = colour.red - pixel[0], g = colour.green - pixel[1], b = colour.blue - pixel[2];
      return r * r + g * g + b * b;
    };
    const auto best =
        std::min_element(colours_.begin(), colours_.end(),
                         [&](const Colour& a, const Colour& b) { return distance(a) < distance(b); });
    return numbers_[key] = static_cast<std::uint8_t>(best - colours_.begin());
  }

 private:
  std::array<Colour, kColours> colours_;
  std::map<std::uint32_t, std::uint8_t> numbers_;  ///< of the pixels that have come
};

/// The codes of LZW as GIF packs them: from the lowest bit, in blocks of up to 255 bytes.
class Codes {
 public:
  void add(unsigned code, int bits) {
    held_ |= code << count_;
    for (count_ += bits; count_ >= 8; count_ -= 8, held_ >>= 8) bytes_ += static_cast<char>(held_ & 255U);
  }
  std::string blocks() {
    if (count_ > 0) bytes_ += static_cast<char>(held_ & 255U);
    std::string text;
    for (std::size_t at = 0; at < bytes_.size(); at += 255) {
      const std::string block = bytes_.substr(at, 255);
      text += static_cast<char>(block.size()) + block;
    }
    return text + '\0';
  }

 private:
  std::string bytes_;
  unsigned held_ = 0;
  int count_ = 0;
};

std::string lzw(const std::string& pixels) {
  constexpr unsigned kClear = kColours, kEnd = kColours + 1, kFirst = kColours + 2, kMost = 4096;
  constexpr int kFirstBits = 9;
  std::vector<std::uint16_t> follows(std::size_t{kMost} * kColours);  // 0: none
  Codes codes;
  unsigned next = kFirst, now = static_cast<std::uint8_t>(pixels[0]);
  int bits = kFirstBits;
  codes.add(kClear, bits);
  for (std::size_t i = 1; i < pixels.size(); ++i) {
    const auto pixel = static_cast<std::uint8_t>(pixels[i]);
    std::uint16_t& longer = follows[std::size_t{now} * kColours + pixel];
    if (longer != 0) {
      now = longer;
      continue;
    }
    codes.add(now, bits);
    if (next < kMost) {
      if (next == 1U << static_cast<unsigned>(bits)) ++bits;
      longer = static_cast<std::uint16_t>(next++);
    } else {
      codes.add(kClear, bits);
      std::fill(follows.begin(), follows.end(), std::uint16_t{0});
      next = kFirst, bits = kFirstBits;
    }
    now = pixel;
  }
  codes.add(now, bits);
  // The reader has entered one code more by now.
  if (next == 1U << static_cast<unsigned>(bits) && bits < 12) ++bits;
  codes.add(kEnd, bits);
  return codes.blocks();
}

class GifFilm final : public Film {
 public:
  GifFilm(OutputFile file, const FilmFormat& format) : file_(std::move(file)), rate_(format.rate) {
    file_.write("GIF89a" + little_endian(format.width) + little_endian(format.height) +
                std::string{'\xf7', '\0', '\0'} + palette_.text());
  }

  void add(const ImageView& frame) override {
    const ImageView box = change_.next(frame);
    std::string pixels;
    for (int y = 0; y < box.format.height; ++y)
      for (int x = 0; x < box.format.width; ++x)
        pixels += static_cast<char>(
            palette_.nearest(box.row<const std::uint8_t>(y) + 3 * static_cast<std::ptrdiff_t>(x)));
    // Hundredths of a second, rounded so that the whole keeps its length.
    const auto at = [this](int frames) { return (200 * frames + rate_) / (2 * rate_); };
    const int delay = at(frames_ + 1) - at(frames_);
    ++frames_;
    file_.write(std::string{'\x21', '\xf9', '\x04', '\x04'} + little_endian(delay) + std::string(2, '\0') +
                "," + little_endian(change_.left()) + little_endian(change_.top()) +
                little_endian(box.format.width) + little_endian(box.format.height) +
                std::string{'\0', '\x08'} + lzw(pixels));
  }
  void finish() override {
    file_.write(";");
    file_.complete();
  }

 private:
  OutputFile file_;
  int rate_, frames_ = 0;
  Palette palette_;
  FrameChange change_;
};

}  // namespace

std::unique_ptr<Film> make_gif(OutputFile file, const FilmFormat& format) {
  return std::make_unique<GifFilm>(std::move(file), format);
}

}  // namespace contorno
