// The 16 cases of marching squares, once, for both backends: which sides of a cell a contour joins, and how a
// walk goes on from side to side. A cell (row, col) has its samples at (row, col), (row, col + 1),
// (row + 1, col), (row + 1, col + 1); its code has bit 0, 1, 2, 3 for those that are high (above the level).
// Segments are directed: low is on the left as seen on screen. All constexpr, no state.
#pragma once

#include <array>
#include <cstdint>

#include "cuda/host_device.h"

namespace contorno {

/// Which samples of a saddle cell are joined: the two low ones or the two high ones (scikit-image's
/// fully_connected).
enum class Connectivity : std::uint8_t { Low, High };

/// What a contour turns around counter-clockwise on screen (scikit-image's positive_orientation).
enum class Orientation : std::uint8_t { Low, High };

/// Sides of a cell, clockwise, so that the opposite one is `side ^ 2`.
enum Side : std::uint8_t { kTop = 0, kRight = 1, kBottom = 2, kLeft = 3 };
inline constexpr int kSides = 4, kCodes = 16;
CONTORNO_HD constexpr Side opposite(Side side) {
  return static_cast<Side>(side ^ 2);
}

struct CellSegment {
  Side from = kTop, to = kTop;
};

/// The segments of a cell; the order of two is part of the definition (see segment ids in crossings.h).
struct CellCase {
  int count = 0;
  CellSegment segment[2];
};

/// By code; the saddles 6 and 9 as for Connectivity::Low, entries 16 and 17 are 6 and 9 for
/// Connectivity::High.
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

/// How a walk crosses a cell that it enters (or, walking backward, leaves) through a given side.
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
      tables.forward[segment.from][code] = {true, static_cast<std::uint8_t>(sub), segment.to};
      tables.backward[segment.to][code] = {true, static_cast<std::uint8_t>(sub), segment.from};
    }
  }
  return tables;
}

}  // namespace contorno
