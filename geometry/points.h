// The arithmetic of points that both backends share: in float64 from float32 coordinates, without fused
// multiply-adds, so that both give the same bits.
#pragma once

#include <bit>

#include "base/host_device.h"
#include "pipeline/value/contours.h"

namespace contorno {

/// Whether both coordinates are finite.
CONTORNO_HD inline bool is_finite(const Point& p) {
  return p.row - p.row == 0 && p.col - p.col == 0;
}

/// The squared distance of two points, px^2, by which distances are compared.
CONTORNO_HD inline double squared_distance(const Point& a, const Point& b) {
  const double rows = static_cast<double>(a.row) - static_cast<double>(b.row);
  const double cols = static_cast<double>(a.col) - static_cast<double>(b.col);
  return rows * rows + cols * cols;
}

/// Twice the area of a triangle, px^2, with a sign that says which way round its corners come.
CONTORNO_HD inline double twice_signed_area(const Point& a, const Point& b, const Point& c) {
  const double b_rows = static_cast<double>(b.row) - static_cast<double>(a.row);
  const double b_cols = static_cast<double>(b.col) - static_cast<double>(a.col);
  const double c_rows = static_cast<double>(c.row) - static_cast<double>(a.row);
  const double c_cols = static_cast<double>(c.col) - static_cast<double>(a.col);
  return b_cols * c_rows - c_cols * b_rows;
}

/// The straight line from point a to point b.
struct Segment {
  double a_row = 0, a_col = 0, b_row = 0, b_col = 0;
  double rows = 0, cols = 0;  ///< rows and columns from a to b; less than 0 backwards
  double length = 0;          ///< squared

  CONTORNO_HD Segment(const Point& a, const Point& b)
      : a_row(a.row), a_col(a.col), b_row(b.row), b_col(b.col), rows(b_row - a_row), cols(b_col - a_col) {
    length = rows * rows + cols * cols;
  }

  /// The squared distance of a point, without a division: if `is_beside`, the foot of the perpendicular lies
  /// between the ends, and the squared distance is multiplied by `length`.
  struct Distance {
    double squared = 0;
    bool is_beside = false;
  };
  CONTORNO_HD Distance operator()(const Point& p) const {
    const double row = static_cast<double>(p.row) - a_row, col = static_cast<double>(p.col) - a_col;
    const double row_b = static_cast<double>(p.row) - b_row, col_b = static_cast<double>(p.col) - b_col;
    // The foot of the perpendicular, as a multiple of the squared length.
    const double along = row * rows + col * cols;
    const double across = row * cols - col * rows;
    const double from_a = row * row + col * col, from_b = row_b * row_b + col_b * col_b;
    const bool is_before = along <= 0, is_behind = along >= length;
    return {is_before ? from_a : is_behind ? from_b : across * across, !is_before && !is_behind};
  }
};

/// The bits of a number. Of numbers that are not negative, they have the order of the numbers; unsigned long
/// long is what atomic functions take.
CONTORNO_HD inline unsigned long long bits_of(double value) {
  return std::bit_cast<unsigned long long>(value);
}

}  // namespace contorno
