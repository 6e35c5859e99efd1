// Overlay: draws contours on a copy of the frame: anti-aliased lines with a dark outline, translucent
// insides, labels and a legend. docs/reference/overlay.md says how coverage is defined.
//
// Input: a frame (uint8 RGB or RGBA, interleaved) and contours; neither is changed.
//
// Output: a frame of the same format; the alpha channel is that of the input.
//
// Memory: a point and two references for each contour point, one bit a pixel for each filled class.
//
// Both backends give the same bits, because a pixel's distance to a class is a minimum (in any order), its
// inside bit an exclusive or, and every blend integer arithmetic in the order of the classes; OverlaySegment
// and OverlayPen run on both backends.
#pragma once

#include <bit>
#include <cmath>
#include <string>

#include "pipeline/graph/stage.h"

namespace contorno {

enum class LegendCorner : std::uint8_t { None, TopLeft, TopRight, BottomLeft, BottomRight };

struct OverlayParams {
  double line_width = 0;
  double halo = 1;
  Colour halo_colour{0, 0, 0, 150};
  double fill = 0;
  double markers = 0;
  int labels = 0;
  std::string label = "{class}";
  LegendCorner legend = LegendCorner::None;
  bool counts = false;
  std::string objects;
  bool shares = false;
  int text_height = 0;
};

/// Side of a tile in px: as many as a word of inside bits has.
inline constexpr int kTileSide = 32;
/// Squared distance of pixels that no segment reaches.
inline constexpr float kUnreached = 1e12F;

/// A contour point on the drawn image, in px, sample centres at integers.
struct FramePoint {
  float x = 0, y = 0;
};

/// From a point on the map to the drawn image: a multiplication and an addition in double, rounded to float
/// and limited to a million px, so that no later computation overflows. NaN becomes a point outside of the
/// image.
struct PointTransform {
  double gain_x = 1, gain_y = 1, bias_x = 0, bias_y = 0;
  CONTORNO_HD FramePoint operator()(const Point& point) const {
    return {within(static_cast<float>(static_cast<double>(point.col) * gain_x + bias_x)),
            within(static_cast<float>(static_cast<double>(point.row) * gain_y + bias_y))};
  }
  CONTORNO_HD static float within(float v) { return v > -1e6F ? (v < 1e6F ? v : 1e6F) : -1e6F; }
};

/// One segment, prepared for computing distances in px. A segment without length is a point.
struct OverlaySegment {
  float x, y, dx, dy, inverse;

  CONTORNO_HD OverlaySegment(FramePoint a, FramePoint b) : x(a.x), y(a.y), dx(b.x - a.x), dy(b.y - a.y) {
    const float squared = dx * dx + dy * dy;
    inverse = squared > 0.0F ? 1.0F / squared : 0.0F;
  }
  CONTORNO_HD float squared_distance(float px, float py) const {
    const float ox = px - x, oy = py - y;
    const float along = (ox * dx + oy * dy) * inverse;
    const float t = along > 0.0F ? (along < 1.0F ? along : 1.0F) : 0.0F;
    const float ex = ox - t * dx, ey = oy - t * dy;
    return ex * ex + ey * ey;
  }
};

/// Rows or columns from `low` to `high`, both included.
struct Span {
  int low = 0, high = -1;
  CONTORNO_HD bool empty() const { return low > high; }
};

CONTORNO_HD inline int floor_to_int(float v) {
  const int truncated = static_cast<int>(v);
  return static_cast<float>(truncated) > v ? truncated - 1 : truncated;
}
CONTORNO_HD inline int ceil_to_int(float v) {
  return -floor_to_int(-v);
}

/// The whole numbers within `reach` of the interval between a and b, limited to 0..size-1.
CONTORNO_HD inline Span reached(float a, float b, float reach, int size) {
  const float low = a < b ? a : b, high = a < b ? b : a;
  const int from = ceil_to_int(low - reach), to = floor_to_int(high + reach);
  return {from > 0 ? from : 0, to < size - 1 ? to : size - 1};
}

/// The columns within `reach` of a segment in rows `rows` of the image: those of its bounding box if it is
/// not taller than a tile, else those of its part near these rows.
CONTORNO_HD inline Span reached_columns(FramePoint a, FramePoint b, Span rows, float reach, int width) {
  const float tall = a.y < b.y ? b.y - a.y : a.y - b.y;
  if (tall <= static_cast<float>(kTileSide)) return reached(a.x, b.x, reach, width);
  const float slope = (b.x - a.x) / (b.y - a.y);
  const float low = a.y < b.y ? a.y : b.y, high = a.y < b.y ? b.y : a.y;
  float top = static_cast<float>(rows.low) - reach, bottom = static_cast<float>(rows.high) + reach;
  top = top > low ? top : low;
  bottom = bottom < high ? bottom : high;
  // One px more makes up for the rounding of the slope.
  return reached(a.x + (top - a.y) * slope, a.x + (bottom - a.y) * slope, reach + 1.0F, width);
}

/// The pixels of a tile whose distance to a segment is computed, counted from the tile's corner: rows, and
/// columns in groups of kGroupColumns. Groups are taken whole; distances of pixels out of reach are correct,
/// too.
inline constexpr int kGroupColumns = 4;
struct TileWindow {
  Span rows, groups;
  CONTORNO_HD bool empty() const { return rows.empty() || groups.empty(); }
};

/// How an image of width x height px is cut into tiles.
struct OverlayGrid {
  int width = 0, height = 0, tiles_x = 0, tiles_y = 0;

  OverlayGrid() = default;
  OverlayGrid(int image_width, int image_height)
      : width(image_width),
        height(image_height),
        tiles_x((image_width + kTileSide - 1) / kTileSide),
        tiles_y((image_height + kTileSide - 1) / kTileSide) {}

  CONTORNO_HD Span rows_of(int tile_row) const {
    const int end = (tile_row + 1) * kTileSide;
    return {tile_row * kTileSide, (end < height ? end : height) - 1};
  }
  /// Rows of tiles that a segment reaches.
  CONTORNO_HD Span tile_rows(FramePoint a, FramePoint b, float reach) const {
    const Span rows = reached(a.y, b.y, reach, height);
    return rows.empty() ? Span{} : Span{rows.low / kTileSide, rows.high / kTileSide};
  }
  /// Columns of tiles that it reaches in one of these rows.
  CONTORNO_HD Span tile_columns(FramePoint a, FramePoint b, int tile_row, float reach) const {
    const Span columns = reached_columns(a, b, rows_of(tile_row), reach, width);
    return columns.empty() ? Span{} : Span{columns.low / kTileSide, columns.high / kTileSide};
  }
  /// The pixels of one tile that a segment reaches.
  CONTORNO_HD TileWindow window(FramePoint a, FramePoint b, float reach, int tile_row,
                                int tile_column) const {
    const Span tile = rows_of(tile_row), rows = reached(a.y, b.y, reach, height);
    const Span columns = reached(a.x, b.x, reach, width);
    const int x0 = tile_column * kTileSide, x1 = x0 + kTileSide - 1;
    const int left = (columns.low > x0 ? columns.low : x0) - x0;
    const int right = (columns.high < x1 ? columns.high : x1) - x0;
    return {.rows = {(rows.low > tile.low ? rows.low : tile.low) - tile.low,
                     (rows.high < tile.high ? rows.high : tile.high) - tile.low},
            .groups = left <= right ? Span{left / kGroupColumns, right / kGroupColumns} : Span{}};
  }
};

/// The first column at or right of the place where a segment crosses the centre line of row `y`.
CONTORNO_HD inline int crossing_column(FramePoint a, FramePoint b, int y) {
  const float x = a.x + (static_cast<float>(y) - a.y) * ((b.x - a.x) / (b.y - a.y));
  return ceil_to_int(PointTransform::within(x));
}

/// The line that closes the inside of an open contour, from its last point to its first.
struct OverlayClosing {
  static constexpr int kPoints = 5;
  FramePoint points[kPoints];
};

/// Closes contours that begin and end on the border of a map, so that they have an inside to be filled. The
/// closing line runs half a sample outside of the map: along the side on which both ends lie, or around the
/// corner where their two sides meet. Contours that end on opposite sides, or inside of the map, are not
/// closed.
class OverlayBorder {
 public:
  OverlayBorder() = default;
  OverlayBorder(int width, int height, const PointTransform& transform)
      : right_(static_cast<float>(width - 1)),
        bottom_(static_cast<float>(height - 1)),
        transform_(transform) {}

  CONTORNO_HD bool closes(const Point& first, const Point& last) const {
    const int begin = sides(first);
    return (sides(last) & (begin | neighbours(begin))) != 0;
  }
  /// Only for contours for which closes() holds.
  CONTORNO_HD OverlayClosing close(const Point& first, const Point& last) const {
    const int begin = sides(first), end = sides(last), shared = begin & end;
    const int from = lowest(shared != 0 ? shared : end & neighbours(begin));
    const int to = shared != 0 ? from : lowest(begin & neighbours(from));
    const Point leaves = moved_out(last, from);
    return {{transform_(last), transform_(leaves), transform_(moved_out(leaves, to)),
             transform_(moved_out(first, to)), transform_(first)}};
  }

 private:
  /// One bit a side, in their order around the map, so that sides that meet have neighbouring bits.
  enum Side : std::uint8_t { kTop = 1, kRight = 2, kBottom = 4, kLeft = 8 };

  CONTORNO_HD static int neighbours(int sides) {
    return (sides << 1 | sides >> 1 | sides << 3 | sides >> 3) & (kTop | kRight | kBottom | kLeft);
  }
  CONTORNO_HD static int lowest(int sides) { return sides & -sides; }
  /// The sides on which the point lies.
  CONTORNO_HD int sides(const Point& point) const {
    return (point.row == 0.0F ? kTop : 0) | (point.col == right_ ? kRight : 0) |
           (point.row == bottom_ ? kBottom : 0) | (point.col == 0.0F ? kLeft : 0);
  }
  CONTORNO_HD Point moved_out(Point point, int side) const {
    if (side == kTop) point.row = -0.5F;
    if (side == kRight) point.col = right_ + 0.5F;
    if (side == kBottom) point.row = bottom_ + 0.5F;
    if (side == kLeft) point.col = -0.5F;
    return point;
  }
  float right_ = 0, bottom_ = 0;
  PointTransform transform_;
};

/// Every bit becomes the parity of itself and all lower bits.
CONTORNO_HD inline std::uint32_t running_parity(std::uint32_t bits) {
  for (int shift = 1; shift < 32; shift *= 2) bits ^= bits << shift;
  return bits;
}

/// (a * source + (255 - a) * target) / 255 to the nearest, without a division.
CONTORNO_HD inline std::uint8_t blend_byte(std::uint32_t target, std::uint32_t source, std::uint32_t alpha) {
  const std::uint32_t v = alpha * source + (255U - alpha) * target + 127U;
  return static_cast<std::uint8_t>((v + 1U + (v >> 8U)) >> 8U);
}

CONTORNO_HD inline void blend_pixel(std::uint8_t* pixel, const Colour& colour, std::uint32_t alpha) {
  pixel[0] = blend_byte(pixel[0], colour.red, alpha);
  pixel[1] = blend_byte(pixel[1], colour.green, alpha);
  pixel[2] = blend_byte(pixel[2], colour.blue, alpha);
}

/// Blends into a pixel that is one word, with red in the lowest byte. Red and blue are blended together, in
/// 16 bits each, which is enough for the sums of blend_byte.
CONTORNO_HD inline void blend_pixel(std::uint32_t* pixel, const Colour& colour, std::uint32_t alpha) {
  const std::uint32_t target = *pixel, rest = 255U - alpha;
  const std::uint32_t red_blue = colour.red | static_cast<std::uint32_t>(colour.blue) << 16U;
  const std::uint32_t sums = alpha * red_blue + rest * (target & 0x00FF00FFU) + 0x007F007FU;
  const std::uint32_t green = alpha * colour.green + rest * (target >> 8U & 255U) + 127U;
  *pixel = (target & 0xFF000000U) | ((sums + 0x00010001U + (sums >> 8U & 0x00FF00FFU)) >> 8U & 0x00FF00FFU) |
           ((green + 1U + (green >> 8U)) & 0xFF00U);
}

/// How one class is drawn; lengths in px. Coverage takes a pixel as a square of side 1 and the line near it
/// as straight: it is the overlap of [-half, half] with [distance - 1/2, distance + 1/2], 0..255.
struct OverlayPen {
  Colour line, halo;
  float half_line = 1, half_halo = 1, marker = 0;
  float reach = 2, squared_reach = 4;  ///< pixels further away are not drawn on
  std::uint8_t fill = 0;               ///< opacity of the inside
  bool hidden = false;

  CONTORNO_HD static std::uint32_t covered(float distance, float half) {
    const float high = distance + 0.5F < half ? distance + 0.5F : half;
    const float low = distance - 0.5F > -half ? distance - 0.5F : -half;
    return high > low ? static_cast<std::uint32_t>((high - low) * 255.0F + 0.5F) : 0U;
  }
  CONTORNO_HD static std::uint32_t product(std::uint32_t a, std::uint32_t b) { return blend_byte(0, a, b); }

  /// Draws on one pixel. `squared` is its squared distance to the nearest segment, `squared_point` that to
  /// the nearest point, which is read only where there are markers.
  template <class Channels>
  CONTORNO_HD void operator()(Channels* pixel, float squared, float squared_point, bool inside) const {
    const float distance = std::sqrt(squared);
    if (fill != 0) {
      const float near = distance < 0.5F ? distance : 0.5F;
      const float part = inside ? 0.5F + near : 0.5F - near;
      blend_pixel(pixel, line, product(fill, static_cast<std::uint32_t>(part * 255.0F + 0.5F)));
    }
    std::uint32_t outline = covered(distance, half_halo), stroke = covered(distance, half_line);
    if (marker > 0.0F) {
      const float dot = std::sqrt(squared_point);
      outline = larger(outline, covered(dot, marker + (half_halo - half_line)));
      stroke = larger(stroke, covered(dot, marker));
    }
    if (outline != 0) blend_pixel(pixel, halo, product(outline, halo.alpha));
    if (stroke != 0) blend_pixel(pixel, line, product(stroke, line.alpha));
  }

 private:
  CONTORNO_HD static std::uint32_t larger(std::uint32_t a, std::uint32_t b) { return a > b ? a : b; }
};

/// The CUDA implementation; only in builds that have CUDA.
std::unique_ptr<Stage> make_overlay_cuda(const ParamSet& params);

const StageType& overlay_stage();

}  // namespace contorno
