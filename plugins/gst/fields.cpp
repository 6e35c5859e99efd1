#include "plugins/gst/fields.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace contorno::gst {
namespace {

constexpr int kChannels = 4, kColours = 3;
constexpr int kNoise = 12;  // of 255, by which a pixel may lie outside its neighbours where nothing moves

using Row = const std::uint8_t*;

bool lies_outside(Row above, Row pixel, Row below) {
  for (int c = 0; c < kColours; ++c) {
    const auto [least, most] = std::minmax(int{above[c]}, int{below[c]});
    if (pixel[c] < least - kNoise || pixel[c] > most + kNoise) return true;
  }
  return false;
}

/// How different the rows are at `x + slant` above and `x - slant` below.
int difference(Row above, Row below, int x, int slant, int width) {
  int sum = 0;
  for (int beside = -1; beside <= 1; ++beside) {
    const auto at = [&](int column) { return std::clamp(column, 0, width - 1) * kChannels; };
    const std::uint8_t *one = above + at(x + beside + slant), *other = below + at(x + beside - slant);
    for (int c = 0; c < kColours; ++c) sum += std::abs(one[c] - other[c]);
  }
  return sum;
}

/// Along which slant the rows are most alike; straight down where none is better.
int slant_at(Row above, Row below, int x, int width) {
  int best = 0, least = difference(above, below, x, 0, width);
  for (const int slant : {-1, 1, -2, 2}) {
    if (x - std::abs(slant) < 0 || x + std::abs(slant) >= width) continue;
    const int found = difference(above, below, x, slant, width);
    if (found < least) best = slant, least = found;
  }
  return best;
}

void mend_row(Row above, std::uint8_t* row, Row below, int width) {
  for (int x = 0; x < width; ++x) {
    std::uint8_t* const pixel = row + std::ptrdiff_t{x} * kChannels;
    if (!lies_outside(above + std::ptrdiff_t{x} * kChannels, pixel, below + std::ptrdiff_t{x} * kChannels))
      continue;
    const int slant = slant_at(above, below, x, width);
    const Row one = above + std::ptrdiff_t{x + slant} * kChannels,
              other = below + std::ptrdiff_t{x - slant} * kChannels;
    for (int c = 0; c < kColours; ++c) pixel[c] = static_cast<std::uint8_t>((one[c] + other[c] + 1) / 2);
  }
}

}  // namespace

void join_fields(const ImageView& frame, FirstField first) {
  const int height = frame.format.height;
  if (height < 2) return;
  for (int y = first == FirstField::Upper ? 1 : 0; y < height; y += 2) {
    const int above = y > 0 ? y - 1 : y + 1, below = y + 1 < height ? y + 1 : y - 1;
    mend_row(frame.row<std::uint8_t>(above), frame.row<std::uint8_t>(y), frame.row<std::uint8_t>(below),
             frame.format.width);
  }
}

}  // namespace contorno::gst
