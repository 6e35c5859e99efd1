// Animated PNG: the chunks of one PNG picture a frame, whose data are renamed after the first one. Source:
// W3C, Portable Network Graphics, third edition, section 11.3.6.
#include <zlib.h>

#include "plugins/files/levels/writer.h"
#include "tools/draw/film.h"

namespace contorno {
namespace {

std::string big_endian(std::uint32_t value, int bytes) {
  std::string text;
  for (int i = bytes; i-- > 0;) text += static_cast<char>(value >> (8 * i) & 255U);
  return text;
}

std::string chunk(const std::string& name, const std::string& data) {
  const std::string body = name + data;
  const uLong sum = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(static_cast<std::uint32_t>(data.size()), 4) + body +
         big_endian(static_cast<std::uint32_t>(sum), 4);
}

/// The data of all chunks of this name in a PNG file, one after the other.
std::string data_of(const std::string& png, const std::string& name) {
  constexpr std::size_t kSignature = 8, kFrame = 12;
  std::string data;
  for (std::size_t at = kSignature; at + kFrame <= png.size();) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < 4; ++i) size = size << 8 | static_cast<std::uint8_t>(png[at + i]);
    if (png.compare(at + 4, 4, name) == 0) data += png.substr(at + 8, size);
    at += kFrame + size;
  }
  return data;
}

class ApngFilm final : public Film {
 public:
  ApngFilm(OutputFile file, const FilmFormat& format) : file_(std::move(file)), format_(format) {}

  void add(const ImageView& frame) override {
    const ImageView box = change_.next(frame);
    const std::string png = encode_png(box, {.compression = 6});
    const auto u32 = [](int value) { return big_endian(static_cast<std::uint32_t>(value), 4); };
    std::string text;
    const bool first = sequence_ == 0;
    if (first)
      text = "\x89PNG\r\n\x1a\n" + chunk("IHDR", data_of(png, "IHDR")) +
             chunk("acTL", u32(format_.frames) + u32(1));
    constexpr std::uint32_t kMilli = 1000;
    text += chunk("fcTL", big_endian(sequence_++, 4) + u32(box.format.width) + u32(box.format.height) +
                              u32(change_.left()) + u32(change_.top()) + big_endian(kMilli, 2) +
                              big_endian(kMilli * static_cast<std::uint32_t>(format_.rate), 2) +
                              std::string(2, '\0'));
    text += first ? chunk("IDAT", data_of(png, "IDAT"))
                  : chunk("fdAT", big_endian(sequence_++, 4) + data_of(png, "IDAT"));
    file_.write(text);
  }
  void finish() override {
    file_.write(chunk("IEND", ""));
    file_.complete();
  }

 private:
  OutputFile file_;
  FilmFormat format_;
  FrameChange change_;
  std::uint32_t sequence_ = 0;
};

}  // namespace

std::unique_ptr<Film> make_apng(OutputFile file, const FilmFormat& format) {
  return std::make_unique<ApngFilm>(std::move(file), format);
}

}  // namespace contorno
