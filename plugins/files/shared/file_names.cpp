#include "plugins/files/shared/file_names.h"

#include <algorithm>
#include <array>
#include <string>

namespace contorno {
namespace {

constexpr std::array<std::string_view, 19> kPictureExtensions{
    ".png", ".jpg", ".jpeg", ".jpe", ".bmp", ".gif",  ".tif",  ".tiff", ".webp", ".pbm",
    ".pgm", ".ppm", ".pnm",  ".pam", ".tga", ".avif", ".heic", ".heif", ".jxl"};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The digits at `at` without leading zeros; moves `at` behind them.
std::string_view take_number(std::string_view text, std::size_t& at) {
  while (at < text.size() && text[at] == '0') ++at;
  const std::size_t begin = at;
  while (at < text.size() && is_digit(text[at])) ++at;
  return text.substr(begin, at - begin);
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const std::string_view x = take_number(a, i), y = take_number(b, j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else {
      if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      ++i, ++j;
    }
  }
  const std::size_t left_a = a.size() - i, left_b = b.size() - j;
  return left_a != left_b ? left_a < left_b : a < b;  // equal but for leading zeros
}

std::string lower_extension(const std::filesystem::path& file) {
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
  return extension;
}

bool has_picture_extension(const std::filesystem::path& file) {
  return std::find(kPictureExtensions.begin(), kPictureExtensions.end(), lower_extension(file)) !=
         kPictureExtensions.end();
}

}  // namespace contorno
