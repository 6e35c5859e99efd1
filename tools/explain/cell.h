// Applies the rules of marching squares (stages/contours/rules) to one cell of a map alone: the state of its
// samples, its segments, and the contours that these are part of. The functions have no state.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stages/contours/find_contours.h"
#include "stages/contours/rules/crossing_point.h"
#include "stages/shared/sample_value.h"

namespace contorno::explain {

/// Nan and Masked samples may not be used.
enum class SampleState : std::uint8_t { Low, High, Nan, Masked };
/// "low", "high", "NaN" or "masked".
std::string_view name_of(SampleState state);

/// "top", "right", "bottom" or "left".
std::string_view name_of(Side side);

struct CellSample {
  int row = 0, col = 0;
  double stored = 0;  ///< as the map has it
  double value = 0;   ///< what is compared with the level: `stored`, or for integers the probability
  SampleState state = SampleState::Low;
};

struct Cell {
  int row = 0, col = 0;
  double level = 0;
  std::array<CellSample, 4> samples;  ///< upper left, upper right, lower left, lower right
  int code = 0;                       ///< bit i: samples[i] is high; means something only where usable()

  /// Whether every sample may be used. Other cells are skipped.
  bool usable() const;
};

/// The cell whose upper left sample is (row, col); it must lie in the map. `mask` as in FindContoursOptions.
Cell cell_at(const Plane& map, const ImageView& mask, double level, int row, int col);

struct SegmentEnd {
  Side side = kTop;
  PointD point;
  NodeKind node = NodeKind::Edge;
};
struct Segment {
  SegmentEnd from, to;
  /// False where both points are equal: contours leave such a segment out.
  bool exists() const { return !(from.point == to.point); }
};
/// The segments of a usable cell, in the order of its case.
std::vector<Segment> segments_of(const Cell& cell, Connectivity connectivity);

/// Where contours have a segment: its ends are points `from` and `to` of contour `contour`.
struct SegmentPlace {
  std::size_t contour = 0, from = 0, to = 0;
};
/// Nothing if no contour has the segment. `orientation` is the one that the contours were found with.
std::optional<SegmentPlace> place_of(const Segment& segment, const FoundContours& found,
                                     Orientation orientation);

/// Where the device's contours differ first from the CPU's, as a sentence; empty if all are equal bit for
/// bit.
std::string first_difference(const FoundContours& cpu, const FoundContours& device);

}  // namespace contorno::explain
