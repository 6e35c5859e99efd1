// The 16 cases of marching squares, for both backends: which sides of a cell a contour joins, and where the
// sides lie. kCellCases is the definition. Everything else in this file is derived from that table, or is a
// faster computation that a static_assert compares with the table for every code. A cell (row, col) has its
// samples at (row, col), (row, col + 1), (row + 1, col), (row + 1, col + 1); its code has bit 0, 1, 2, 3 for
// those that are high (above the level). Segments are directed: low is on the left as seen on screen. All
// constexpr, no state.
#pragma once

#include <array>
#include <cstdint>

#include "base/host_device.h"
#include "pipeline/value/orientation.h"

namespace contorno {

/// Which samples of a saddle cell are joined: the two low ones or the two high ones (scikit-image's
/// fully_connected).
enum class Connectivity : std::uint8_t { Low, High };

/// Sides of a cell, clockwise, so that the opposite one is `side ^ 2`.
enum Side : std::uint8_t { kTop = 0, kRight = 1, kBottom = 2, kLeft = 3 };
inline constexpr int kSides = 4, kCodes = 16;
CONTORNO_HD constexpr Side opposite(Side side) {
  return static_cast<Side>(side ^ 2);
}
CONTORNO_HD constexpr int opposite(int side) {
  return side ^ 2;
}
/// Rows and columns from a cell to its neighbour across a side.
CONTORNO_HD constexpr int row_step(int side) {
  return (side == kBottom ? 1 : 0) - (side == kTop ? 1 : 0);
}
CONTORNO_HD constexpr int column_step(int side) {
  return (side == kRight ? 1 : 0) - (side == kLeft ? 1 : 0);
}

struct CellSegment {
  Side from = kTop, to = kTop;
};

/// The segments of a cell. Where there are two, their order is part of the definition: contours are ordered
/// by segment ids, 2 * (cells before this one in raster order) + number of the segment in the cell.
struct CellCase {
  int count = 0;
  CellSegment segment[2];
};

/// Entries 0 to 15 by code, with the saddles 6 and 9 for Connectivity::Low; entries 16 and 17 are the codes 6
/// and 9 for Connectivity::High.
inline constexpr CellCase kCellCases[kCodes + 2] = {
    {},                                       // 0  . . / . .
    {1, {{kTop, kLeft}}},                     // 1  # . / . .
    {1, {{kRight, kTop}}},                    // 2  . # / . .
    {1, {{kRight, kLeft}}},                   // 3  # # / . .
    {1, {{kLeft, kBottom}}},                  // 4  . . / # .
    {1, {{kTop, kBottom}}},                   // 5  # . / # .
    {2, {{kRight, kTop}, {kLeft, kBottom}}},  // 6  . # / # .  low corners joined
    {1, {{kRight, kBottom}}},                 // 7  # # / # .
    {1, {{kBottom, kRight}}},                 // 8  . . / . #
    {2, {{kTop, kLeft}, {kBottom, kRight}}},  // 9  # . / . #  low corners joined
    {1, {{kBottom, kTop}}},                   // 10 . # / . #
    {1, {{kBottom, kLeft}}},                  // 11 # # / . #
    {1, {{kLeft, kRight}}},                   // 12 . . / # #
    {1, {{kTop, kRight}}},                    // 13 # . / # #
    {1, {{kLeft, kTop}}},                     // 14 . # / # #
    {},                                       // 15 # # / # #
    {2, {{kLeft, kTop}, {kRight, kBottom}}},  // 6  . # / # .  high corners joined
    {2, {{kTop, kRight}, {kBottom, kLeft}}},  // 9  # . / . #  high corners joined
};

constexpr const CellCase& cell_case(int code, Connectivity connectivity) {
  if (connectivity == Connectivity::High && (code == 6 || code == 9)) return kCellCases[code == 6 ? 16 : 17];
  return kCellCases[code];
}

// Faster twins of the table ---------------------------------------------------------------------------------

CONTORNO_HD constexpr bool is_saddle(int code) {
  return code == 6 || code == 9;
}
CONTORNO_HD constexpr int segment_count(int code) {
  return code == 0 || code == kCodes - 1 ? 0 : (is_saddle(code) ? 2 : 1);
}

/// The sides of a segment in four bits: from | to << 2.
constexpr unsigned pack_sides(const CellSegment& segment) {
  return static_cast<unsigned>(segment.from | segment.to << 2);
}
/// The sides of every code's first segment in one number, four bits a code, for backends that read a table in
/// memory slowly.
constexpr std::uint64_t pack_first_segments(Connectivity connectivity) {
  std::uint64_t packed = 0;
  for (int code = 0; code < kCodes; ++code)
    packed |= std::uint64_t{pack_sides(cell_case(code, connectivity).segment[0])} << (4 * code);
  return packed;
}
inline constexpr std::uint64_t kFirstSegmentsLow = pack_first_segments(Connectivity::Low);
inline constexpr std::uint64_t kFirstSegmentsHigh = pack_first_segments(Connectivity::High);
/// A saddle's second segment has the opposite sides of its first.
inline constexpr unsigned kBothOpposite = pack_sides({opposite(kTop), opposite(kTop)});

/// Sides of segment `sub` of a cell that has it, packed.
CONTORNO_HD constexpr unsigned sides_of(int code, int sub, Connectivity connectivity) {
  const std::uint64_t first = connectivity == Connectivity::High ? kFirstSegmentsHigh : kFirstSegmentsLow;
  return (static_cast<unsigned>(first >> (4 * code)) & 15U) ^ (sub != 0 ? kBothOpposite : 0U);
}

/// One bit a side, set where the second segment of a saddle begins. (The first one begins on another side.)
constexpr unsigned pack_second_starts(Connectivity connectivity) {
  unsigned sides = 0;
  for (const int code : {6, 9}) sides |= 1U << cell_case(code, connectivity).segment[1].from;
  return sides;
}
inline constexpr unsigned kSecondStartsLow = pack_second_starts(Connectivity::Low);
inline constexpr unsigned kSecondStartsHigh = pack_second_starts(Connectivity::High);
/// Which segment of a saddle begins on `side`: 0 or 1. One of them must begin there.
CONTORNO_HD constexpr unsigned saddle_segment_from(int side, Connectivity connectivity) {
  return (connectivity == Connectivity::High ? kSecondStartsHigh : kSecondStartsLow) >> side & 1U;
}

/// For as many cells as a word has bits: the cells with a segment, and the cells with two (saddles). `ul`,
/// `ur`, `ll`, `lr` have the bits of the cells' upper left, upper right, lower left and lower right samples.
template <class Word>
CONTORNO_HD constexpr Word crossed_cells(Word ul, Word ur, Word ll, Word lr) {
  return (ul | ur | ll | lr) & ~(ul & ur & ll & lr);
}
template <class Word>
CONTORNO_HD constexpr Word saddle_cells(Word ul, Word ur, Word ll, Word lr) {
  return (ul ^ ur) & (ll ^ lr) & (ul ^ ll);
}
/// The sides of the cells' first segments, bit by bit: "odd" is bit 0 of a side, "late" is bit 1. The bits of
/// cells without a segment mean nothing.
template <class Word>
struct FirstSegments {
  Word to_odd, to_late, from_odd, from_late;
};
template <class Word>
CONTORNO_HD constexpr FirstSegments<Word> first_segments(Word ul, Word ur, Word ll, Word lr,
                                                         Connectivity connectivity) {
  const Word connect = connectivity == Connectivity::High ? ~Word{0} : Word{0};
  return {(lr & (ul | ~ur)) | (~lr & ul & ~ll), (lr & ul & ~ll & (~connect | ur)) | (~lr & (ul | (ll & ~ur))),
          (ur & ~lr) | (ll & ~ul), (lr & (~ul | ur)) | (~lr & ll & ~ul & (connect | ~ur))};
}

/// Where a contour goes on in the cell that it enters, seen along its direction; low samples are on its
/// left.
enum Turn : std::uint8_t { kTurnLeft = 0, kStraight = 1, kTurnRight = 2 };
/// `left_high`, `right_high`: whether the cell's two samples ahead are high. If only the left one is, the
/// cell is a saddle.
CONTORNO_HD constexpr Turn turn_of(bool left_high, bool right_high, Connectivity connectivity) {
  if (left_high == right_high) return left_high ? kTurnLeft : kTurnRight;
  if (right_high) return kStraight;
  return connectivity == Connectivity::High ? kTurnLeft : kTurnRight;
}
/// The side through which a contour leaves a cell that it enters through `from`.
CONTORNO_HD constexpr int side_after(int from, Turn turn) {
  return (from + 1 + turn) % kSides;
}
/// Whether a corner is high: by number, clockwise from the upper left one, so that side k joins the corners k
/// and k + 1.
constexpr bool is_corner_high(int code, int corner) {
  constexpr int kBits[kSides] = {0, 1, 3, 2};
  return (code >> kBits[corner % kSides] & 1) != 0;
}

/// Whether every faster computation above agrees with the table.
constexpr bool twins_match(Connectivity connectivity) {
  for (int code = 0; code < kCodes; ++code) {
    const CellCase& cell = cell_case(code, connectivity);
    const unsigned ul = code & 1, ur = code >> 1 & 1, ll = code >> 2 & 1, lr = code >> 3 & 1;
    if (segment_count(code) != cell.count || is_saddle(code) != (cell.count == 2)) return false;
    if ((crossed_cells(ul, ur, ll, lr) & 1U) != (cell.count > 0 ? 1U : 0U)) return false;
    if ((saddle_cells(ul, ur, ll, lr) & 1U) != (cell.count == 2 ? 1U : 0U)) return false;
    for (int sub = 0; sub < cell.count; ++sub) {
      if (sides_of(code, sub, connectivity) != pack_sides(cell.segment[sub])) return false;
      if (cell.count == 2 &&
          saddle_segment_from(cell.segment[sub].from, connectivity) != static_cast<unsigned>(sub))
        return false;
      const auto [from, to] = cell.segment[sub];
      const bool left_high = is_corner_high(code, from + 2), right_high = is_corner_high(code, from + 3);
      if (side_after(from, turn_of(left_high, right_high, connectivity)) != to) return false;
      if ((left_high && !right_high) != (cell.count == 2)) return false;
    }
    const auto first = first_segments(ul, ur, ll, lr, connectivity);
    const unsigned sides = (first.from_odd & 1U) | (first.from_late & 1U) << 1 | (first.to_odd & 1U) << 2 |
                           (first.to_late & 1U) << 3;
    if (cell.count > 0 && sides != pack_sides(cell.segment[0])) return false;
  }
  return true;
}
static_assert(twins_match(Connectivity::Low) && twins_match(Connectivity::High));

// Walks -----------------------------------------------------------------------------------------------------

/// How a walk along a contour crosses a cell, given the side through which it enters the cell.
struct Crossing {
  bool exists = false;
  std::uint8_t sub = 0;  ///< 0 or 1: which segment of the cell
  Side other = kTop;     ///< the segment's other side
};

/// Crossings by side and code: forward by the side a segment comes from, backward by the side it goes to.
struct CrossingTables {
  std::array<std::array<Crossing, kCodes>, kSides> forward{}, backward{};
};

constexpr CrossingTables make_crossing_tables(Connectivity connectivity) {
  CrossingTables tables;
  for (int code = 0; code < kCodes; ++code) {
    const CellCase& cell = cell_case(code, connectivity);
    for (int sub = 0; sub < cell.count; ++sub) {
      const CellSegment& segment = cell.segment[sub];
      const auto at = static_cast<std::size_t>(code);
      tables.forward[segment.from][at] = {true, static_cast<std::uint8_t>(sub), segment.to};
      tables.backward[segment.to][at] = {true, static_cast<std::uint8_t>(sub), segment.from};
    }
  }
  return tables;
}

}  // namespace contorno
