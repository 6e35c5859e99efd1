// Where a contour crosses the side of a cell, for both backends. Every backend computes a point by these
// operations in this order, so both cells of an edge, and both backends, get the same bits. Pure functions.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/host_device.h"
#include "stages/contours/rules/cell_cases.h"
#include "stages/contours/rules/exact_point.h"

namespace contorno {

/// The grid edge between two neighbouring samples. (row, col) is the upper or left one; `across`: the other
/// one lies to its right, otherwise below it.
struct GridEdge {
  int row, col;
  bool across;
};
CONTORNO_HD constexpr bool is_across(int side) {
  return side == kTop || side == kBottom;
}
CONTORNO_HD constexpr GridEdge edge_of_side(int row, int col, int side) {
  return {row + (side == kBottom ? 1 : 0), col + (side == kRight ? 1 : 0), is_across(side)};
}

/// Where the level crosses an edge: 0 at sample `a`, the upper or left one, 1 at `b`. Exactly one of the two
/// values is above the level, so they differ.
CONTORNO_HD constexpr double crossing_fraction(double level, double a, double b) {
  return (level - a) / (b - a);
}
CONTORNO_HD constexpr PointD crossing_point(const GridEdge& edge, double level, double a, double b) {
  const double moving = (edge.across ? edge.col : edge.row) + crossing_fraction(level, a, b);
  return {edge.across ? edge.row : moving, edge.across ? moving : edge.col};
}

/// What links the segments that end at a point: the grid edge on which it lies, or the sample on which it
/// falls exactly. A point whose coordinate is NaN links nothing. `across` as in GridEdge.
enum class NodeKind : int { None, Edge, Sample };
CONTORNO_HD inline NodeKind node_of(const PointD& point, bool across) {
  const double moving = across ? point.col : point.row;
  if (!(moving == moving)) return NodeKind::None;
  return moving == std::floor(moving) ? NodeKind::Sample : NodeKind::Edge;
}

}  // namespace contorno
