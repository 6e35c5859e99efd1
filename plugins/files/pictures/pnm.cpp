// The formats of Netpbm: PBM, PGM and PPM as text (P1 to P3) and binary (P4 to P6), and PAM (P7), of 1 to 16
// bits.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "plugins/files/pictures/numbers.h"
#include "plugins/files/pictures/picture.h"

namespace contorno {
namespace {

using namespace std::string_view_literals;

constexpr std::uint32_t kMostSample = 65535;
constexpr auto kBlanks = " \t\r\n\v\f"sv;

/// The words and bytes of a file. A word of PNM may have comments before it.
class Words {
 public:
  explicit Words(std::string_view file) : file_(file) {}

  std::string_view word() {
    skip_blanks();
    const std::size_t begin = at_;
    at_ = std::min(file_.find_first_of(" \t\r\n\v\f#"sv, begin), file_.size());
    if (begin == at_) damaged("the file is cut off, its end is missing");
    return file_.substr(begin, at_ - begin);
  }
  std::uint32_t number() {
    const std::string_view text = word();
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      damaged(fmt::format("'{}' stands where a number is due", text.substr(0, 20)));
    return value;
  }
  /// A sample of a text bitmap, 0 or 1; blanks between samples may be missing.
  std::uint32_t digit() {
    skip_blanks();
    if (at_ == file_.size()) damaged("the file is cut off, its end is missing");
    const char c = file_[at_++];
    if (c != '0' && c != '1') damaged("a sample of a text bitmap is neither 0 nor 1");
    return c == '1' ? 1 : 0;
  }
  /// The bytes behind the one blank that ends a header.
  std::string_view samples() const { return file_.substr(std::min(at_ + 1, file_.size())); }
  std::string_view left() const { return file_.substr(at_); }

 private:
  void skip_blanks() {
    while ((at_ = std::min(file_.find_first_not_of(kBlanks, at_), file_.size())) < file_.size() &&
           file_[at_] == '#')
      at_ = std::min(file_.find_first_of("\r\n"sv, at_), file_.size());
  }

  std::string_view file_;
  std::size_t at_ = 0;
};

/// What a header says.
struct PnmHeader {
  char kind = '0';  ///< '1' to '7'
  std::uint32_t width = 0, height = 0, channels = 1, most = 1;

  bool is_text() const { return kind <= '3'; }
  bool is_bitmap() const { return kind == '1' || kind == '4'; }
  std::uint64_t row_bytes() const {
    if (kind == '4') return (std::uint64_t{width} + 7) / 8;
    return std::uint64_t{width} * channels * (is_text() ? 1 : most > 255 ? 2 : 1);
  }
};

PnmHeader read_pam_header(Words& words) {
  PnmHeader header{.kind = '7', .channels = 0, .most = 0};
  for (std::string_view word = words.word(); word != "ENDHDR"; word = words.word()) {
    if (word == "WIDTH")
      header.width = words.number();
    else if (word == "HEIGHT")
      header.height = words.number();
    else if (word == "DEPTH")
      header.channels = words.number();
    else if (word == "MAXVAL")
      header.most = words.number();
    else if (word == "TUPLTYPE")
      words.word();
    else
      damaged(fmt::format("its header has the word '{}'", word.substr(0, 20)));
  }
  return header;
}

PnmHeader read_header(Words& words) {
  const std::string_view magic = words.word();
  if (magic[1] == '7') return read_pam_header(words);
  PnmHeader header{.kind = magic[1]};
  header.width = words.number();
  header.height = words.number();
  if (!header.is_bitmap()) header.most = words.number();
  header.channels = header.kind == '3' || header.kind == '6' ? 3 : 1;
  return header;
}

void check(const PnmHeader& header, std::uint64_t max_pixels, std::size_t bytes_left) {
  check_picture_size(header.width, header.height, max_pixels);
  if (header.channels < 1 || header.channels > 4)
    damaged(fmt::format("it has {} channels, allowed are 1 to 4", header.channels));
  if (header.most < 1 || header.most > kMostSample)
    damaged(fmt::format("its largest sample is {}, allowed are 1 to {}", header.most, kMostSample));
  const std::uint64_t least = header.row_bytes() * header.height;
  if (bytes_left < least)
    damaged(fmt::format("the file is cut off: it has {} bytes of samples, its header tells of {}", bytes_left,
                        least));
}

/// Delivers samples one after the other, whatever form they have.
class Samples {
 public:
  Samples(const PnmHeader& header, Words& words) : header_(header), words_(words), bytes_(words.samples()) {}

  std::uint8_t at(std::uint32_t x, std::uint32_t y, std::uint32_t channel) {
    if (header_.kind == '1') return words_.digit() != 0 ? 0 : 255;  // 1 is black
    if (header_.kind == '4') {
      const auto byte = static_cast<std::uint8_t>(bytes_[y * header_.row_bytes() + x / 8]);
      return (byte >> (7 - x % 8) & 1) != 0 ? 0 : 255;
    }
    const std::uint32_t value = header_.is_text() ? words_.number() : stored(x, y, channel);
    if (value > header_.most)
      damaged(fmt::format("a sample is {}, the largest is said to be {}", value, header_.most));
    return scale_to_byte(value, header_.most);
  }

 private:
  std::uint32_t stored(std::uint32_t x, std::uint32_t y, std::uint32_t channel) const {
    const std::size_t size = header_.most > 255 ? 2 : 1;
    const std::size_t at = y * header_.row_bytes() + (std::size_t{x} * header_.channels + channel) * size;
    const auto byte = [this](std::size_t i) { return std::uint32_t{static_cast<std::uint8_t>(bytes_[i])}; };
    return size == 1 ? byte(at) : byte(at) << 8 | byte(at + 1);
  }

  const PnmHeader& header_;
  Words& words_;
  std::string_view bytes_;
};

}  // namespace

bool is_pnm(std::string_view file) {
  return file.size() > 2 && file[0] == 'P' && file[1] >= '1' && file[1] <= '7' &&
         (kBlanks.find(file[2]) != std::string_view::npos || file[2] == '#');
}

ExifOrientation decode_pnm(std::string_view file, std::uint64_t max_pixels, Picture& out) {
  Words words(file);
  const PnmHeader header = read_header(words);
  check(header, max_pixels, header.is_text() ? words.left().size() : words.samples().size());
  out.width = static_cast<int>(header.width), out.height = static_cast<int>(header.height);
  out.pixels.resize(std::size_t{header.width} * header.height * kPictureChannels);
  Samples samples(header, words);
  const bool grey = header.channels < 3;
  std::uint8_t* to = out.pixels.data();
  for (std::uint32_t y = 0; y < header.height; ++y)
    for (std::uint32_t x = 0; x < header.width; ++x, to += kPictureChannels) {
      std::uint32_t channel = 0;
      to[0] = samples.at(x, y, channel++);
      to[1] = grey ? to[0] : samples.at(x, y, channel++);
      to[2] = grey ? to[0] : samples.at(x, y, channel++);
      to[3] = channel < header.channels ? samples.at(x, y, channel) : 255;
    }
  return ExifOrientation::Upright;
}

}  // namespace contorno
