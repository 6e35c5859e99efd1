// Where points lie along the border of a map, and what comes between two of them, for both backends.
#pragma once

#include <bit>
#include <cstdint>

#include "base/host_device.h"
#include "pipeline/value/contours.h"
#include "stages/contour_prep/close_at_border/stage.h"

namespace contorno {

/// Corners of a map that follow each other.
struct BorderCorners {
  unsigned first = 0, count = 0;  ///< for MapBorder::corner
};

/// The rectangle on which the outermost sample centres lie, followed clockwise on screen from (0, 0): with
/// the map on the right, as what is high is on the right of contours. Contours that are directed the other
/// way follow it the other way: clockwise on the transposed map.
class MapBorder {
 public:
  MapBorder() = default;
  MapBorder(const ContoursFormat& format, Orientation orientation)
      : last_row_(static_cast<float>(format.height - 1)),
        last_col_(static_cast<float>(format.width - 1)),
        is_transposed_(orientation == Orientation::High) {}

  CONTORNO_HD bool has(const Point& p) const {
    return p.row >= 0 && p.row <= last_row_ && p.col >= 0 && p.col <= last_col_ &&
           (p.row == 0 || p.row == last_row_ || p.col == 0 || p.col == last_col_);
  }

  static constexpr int kSideBits = 31, kPlaceBits = 33;
  /// By what points of the border (see has) are sorted along it: the number of the side, then the bits of a
  /// float that ascends along the side, from 0 at its corner. Not a distance; different points have different
  /// places.
  CONTORNO_HD std::uint64_t place(const Point& p) const {
    const float row = is_transposed_ ? p.col : p.row, last_row = is_transposed_ ? last_col_ : last_row_;
    const float col = is_transposed_ ? p.row : p.col, last_col = is_transposed_ ? last_row_ : last_col_;
    if (row == 0 && col < last_col) return place(0, bits(col));
    if (col == last_col && row < last_row) return place(1, bits(row));
    if (row == last_row && col > 0) return place(2, bits(last_col) - bits(col));
    return place(3, bits(last_row) - bits(row));
  }

  /// The corners strictly between two places, along the border from the first one; none between equal places.
  CONTORNO_HD static BorderCorners between(std::uint64_t from, std::uint64_t to) {
    if (from == to) return {};
    const auto from_side = static_cast<unsigned>(from >> kSideBits);
    const unsigned to_side = static_cast<unsigned>(to >> kSideBits) + (to < from ? 4U : 0U);
    const bool ends_on_corner = (to & ((1ULL << kSideBits) - 1)) == 0;
    return {from_side + 1, to_side - from_side - (ends_on_corner ? 1U : 0U)};
  }
  /// The corner at which side `side` % 4 begins.
  CONTORNO_HD Point corner(unsigned side) const {
    const unsigned number = is_transposed_ ? 4 - side % 4 : side;  // the other way round
    const bool is_right = number % 4 == 1 || number % 4 == 2;
    return {number % 4 >= 2 ? last_row_ : 0.0F, is_right ? last_col_ : 0.0F};
  }

 private:
  CONTORNO_HD static std::uint64_t place(unsigned side, unsigned along) {
    return std::uint64_t{side} << kSideBits | along;
  }
  /// They ascend with numbers that are not negative; -0 is 0.
  CONTORNO_HD static unsigned bits(float value) { return std::bit_cast<unsigned>(value + 0.0F); }

  float last_row_ = 0, last_col_ = 0;
  bool is_transposed_ = false;
};

/// The key by which ends of contours are sorted along the border: of several at one place, contours end there
/// before contours begin, so that these are joined there and not once round the border.
inline constexpr int kEndBits = MapBorder::kPlaceBits + 1;
CONTORNO_HD inline std::uint64_t end_key(const MapBorder& border, const Point& point, bool begins) {
  return border.place(point) << 1 | (begins ? 1U : 0U);
}

/// What a contour adds to the ring in which `next` follows it.
struct RingPart {
  std::uint32_t points = 0;  ///< of its own; without the last one, if the next contour begins there
  BorderCorners corners;     ///< behind them

  /// The contour ends on the border, and `next` begins there.
  CONTORNO_HD RingPart(const MapBorder& border, const ContoursView& in, std::uint32_t contour,
                       std::uint32_t next) {
    const std::uint64_t end = border.place(in.points[in.offsets[contour + 1] - 1]);
    const std::uint64_t begin = border.place(in.points[in.offsets[next]]);
    points = in.offsets[contour + 1] - in.offsets[contour] - (end == begin ? 1 : 0);
    corners = MapBorder::between(end, begin);
  }
  CONTORNO_HD std::uint32_t stored() const { return points + corners.count; }
};

/// Whether a contour is open and has two points or more: others have no ends to join.
CONTORNO_HD inline bool has_ends(const ContoursView& in, std::uint32_t contour) {
  return in.closed[contour] == 0 && in.offsets[contour + 1] - in.offsets[contour] > 1;
}

}  // namespace contorno
