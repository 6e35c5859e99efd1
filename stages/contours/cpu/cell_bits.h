// Single cells of one class: codes, crossing points, and which segment follows which, also where a crossing
// point lies exactly on a sample. Answers come from the bits of the crossings block and, where a sample is
// suspect, from the samples themselves. Everything is const, and safe from any thread once the crossings
// block is complete.
#pragma once

#include <cstdint>
#include <cstring>

#include "stages/contours/cpu/crossings.h"
#include "stages/contours/rules/crossing_point.h"
#include "stages/shared/sample_value.h"

namespace contorno {

/// Stands for no segment.
inline constexpr std::uint64_t kNoSegment = ~std::uint64_t{0} >> 2;

/// The code of the cell whose upper left sample is at a bit position.
inline unsigned square_bits(const std::uint64_t* words, std::int64_t row_words, std::int64_t position) {
  const char* at = reinterpret_cast<const char*>(words) + (position >> 3);
  std::uint16_t upper = 0, lower = 0;
  std::memcpy(&upper, at, sizeof(upper));
  std::memcpy(&lower, at + 8 * row_words, sizeof(lower));
  const auto shift = static_cast<unsigned>(position & 7);
  return ((upper >> shift) & 3u) | (((lower >> shift) & 3u) << 2);
}

/// Crossing point on a side of cell (row, col); T is the type of the samples.
template <class T>
PointD crossing_point(const Plane& plane, double level, std::int64_t row, std::int64_t col, Side side) {
  const GridEdge edge = edge_of_side(static_cast<int>(row), static_cast<int>(col), side);
  return crossing_point(edge, level, plane.at<T>(edge.row, edge.col),
                        plane.at<T>(edge.row + (edge.across ? 0 : 1), edge.col + (edge.across ? 1 : 0)));
}

class CellBits {
 public:
  CellBits(const PlaneBits& bits, const Plane& samples, double level, Connectivity connectivity)
      : bits_(bits), samples_(samples), level_(level), connectivity_(connectivity) {}

  const PlaneBits& bits() const { return bits_; }
  const Plane& samples() const { return samples_; }
  double level() const { return level_; }
  Connectivity connectivity() const { return connectivity_; }

  unsigned code(std::int64_t position) const { return square_bits(bits_.high, bits_.row_words, position); }
  std::int64_t position(std::int64_t row, std::int64_t col) const { return row * bits_.row_bits() + col; }

  /// Whether there is a cell at (row, col), all of whose samples may be used.
  bool is_cell(std::int64_t row, std::int64_t col) const;
  /// Whether one of the cell's samples is suspect.
  bool is_suspect(std::int64_t row, std::int64_t col) const;
  /// Whether the cell has segment `sub` and its two points differ. (A segment of length zero does not count.)
  /// Only where is_cell holds.
  bool has_segment(std::int64_t row, std::int64_t col, int sub) const;

  /// The id of the following segment, or of the one before; kNoSegment at the end of an open contour.
  std::uint64_t successor(std::uint64_t segment) const { return neighbour(segment, true); }
  std::uint64_t predecessor(std::uint64_t segment) const { return neighbour(segment, false); }

 private:
  struct Place {
    std::int64_t row, col;
    int sub;
  };
  Place place_of(std::uint64_t segment) const;
  CellSegment sides(const Place& place) const;
  PointD point(const Place& place, Side side) const;
  std::uint64_t neighbour(std::uint64_t segment, bool forward) const;
  /// The code of any cell, also where the bits are partial.
  unsigned exact_code(std::int64_t row, std::int64_t col) const;
  std::uint64_t across_edge(const Place& place, Side side, bool forward) const;
  std::uint64_t around_sample(std::int64_t row, std::int64_t col, std::uint64_t segment, bool forward) const;

  PlaneBits bits_;
  Plane samples_;
  double level_;
  Connectivity connectivity_;
};

}  // namespace contorno
