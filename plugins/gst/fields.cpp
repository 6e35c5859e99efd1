#include "plugins/gst/fields.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <vector>

namespace contorno::gst {
namespace {

constexpr int kChannels = 4, kColours = 3;
constexpr int kNoise = 12;  // of 255, by which a pixel may lie outside its neighbours where nothing moves

using Row = const std::uint8_t*;

bool lies_outside(Row above, Row pixel, Row below) {
  for (int c = 0; c < kColours; ++c) {
    const int least = std::min(above[c], below[c]), most = std::max(above[c], below[c]);
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

/// A row of the second field between two of the first.
struct Rows {
  Row above;
  std::uint8_t* row;
  Row below;
};
Rows rows_at(const ImageView& frame, int y) {
  const int above = y > 0 ? y - 1 : y + 1, below = y + 1 < frame.format.height ? y + 1 : y - 1;
  return {frame.row<std::uint8_t>(above), frame.row<std::uint8_t>(y), frame.row<std::uint8_t>(below)};
}

/// Sets `moved` near each pixel that lies outside: what moves shows itself at its edges, and not at all of
/// them.
void find_movement(const Rows& rows, int width, std::uint8_t* moved) {
  constexpr int kNear = 12;  // pixels
  int until = 0;             // up to here it is set
  for (int x = 0; x < width; ++x) {
    const std::ptrdiff_t at = std::ptrdiff_t{x} * kChannels;
    if (!lies_outside(rows.above + at, rows.row + at, rows.below + at)) continue;
    const int begin = std::max({0, until, x - kNear}), end = std::min(width, x + kNear + 1);
    std::fill(moved + begin, moved + end, std::uint8_t{1});
    until = end;
  }
}

void mend_pixel(const Rows& rows, int x, int width) {
  const int slant = slant_at(rows.above, rows.below, x, width);
  const Row one = rows.above + std::ptrdiff_t{x + slant} * kChannels,
            other = rows.below + std::ptrdiff_t{x - slant} * kChannels;
  std::uint8_t* const pixel = rows.row + std::ptrdiff_t{x} * kChannels;
  for (int c = 0; c < kColours; ++c) pixel[c] = static_cast<std::uint8_t>((one[c] + other[c] + 1) / 2);
}

}  // namespace

void join_fields(const ImageView& frame, FirstField first) {
  const int width = frame.format.width, height = frame.format.height;
  if (height < 2) return;
  const int begin = first == FirstField::Upper ? 1 : 0, rows = (height - begin + 1) / 2;
  static thread_local std::vector<std::uint8_t> moved;  // a row of zeros, those of the field, and another one
  const auto columns = static_cast<std::size_t>(width);
  moved.assign(columns * static_cast<std::size_t>(rows + 2), 0);
  const auto row_of = [&](int row) { return moved.data() + columns * static_cast<std::size_t>(row + 1); };
  for (int row = 0; row < rows; ++row) find_movement(rows_at(frame, begin + 2 * row), width, row_of(row));
  for (int row = 0; row < rows; ++row) {
    const Rows at = rows_at(frame, begin + 2 * row);
    const std::uint8_t *before = row_of(row - 1), *here = row_of(row), *behind = row_of(row + 1);
    for (int x = 0; x < width; ++x)
      if (before[x] + here[x] + behind[x] > 0) mend_pixel(at, x, width);
  }
}

}  // namespace contorno::gst
