// Close at border: joins contours that end on the border of the map along it, so that they are rings around
// what is high.
//
// Input: contours of any stage, with the sides of their map.
//
// Output: where an open contour ends on the border, the border is followed with the high side on the same
// hand, through corners, to where an open contour of the class begins. Contours that are linked in a ring
// become one closed contour, in the place of the first of them; others are unchanged. The sum of the signed
// areas of a class is then the area above the level, unless no contour of it reaches a border that is high.
//
// What belongs together is told as with brackets: an end opens, a begin closes. Where all contours of a map
// are there, ends and begins alternate, so that each end is linked with the very next begin.
//
// Memory: about 180 bytes a contour of the planned capacity on the CPU, 165 on CUDA, and the output, with
// room for 5 points a contour more than the input has.
//
// Source: K. Weiler and P. Atherton, "Hidden surface removal using polygon area sorting", 1977: as they join
// the parts of a polygon along the window that clips it.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>

#include "base/host_device.h"
#include "pipeline/graph/stage.h"
#include "pipeline/value/contours.h"
#include "pipeline/value/orientation.h"

namespace contorno {

struct CloseAtBorderParams {
  Orientation positive_orientation = Orientation::Low;  ///< as contour_assembly was told
};

/// The format of the output: as many contours, and room for all points that they may get. Throws
/// Error(BadConfig) when these are more than offsets can say.
ContoursFormat closed_format(const PlanContext& context);

/// The CUDA implementation; only in builds that have CUDA.
std::unique_ptr<Stage> make_close_at_border_cuda(const ParamSet& params);

// Where points lie along the border of a map, and what comes between two of them, for both backends.

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

const StageType& close_at_border_stage();

}  // namespace contorno
