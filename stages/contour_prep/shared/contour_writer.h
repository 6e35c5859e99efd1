// Contours that are written one behind the other, on the CPU.
#pragma once

#include <algorithm>
#include <cstdint>

#include "geometry/attributes.h"

namespace contorno {

/// Appends contours to an output that begin_output has begun.
class ContourWriter {
 public:
  explicit ContourWriter(const ContoursView& out) : out_(out) {}
  void add_points(const Point* points, std::uint32_t count) {
    std::copy_n(points, count, out_.points + points_);
    points_ += count;
  }
  /// Its attributes are those of contour `first` of `in`.
  void end_contour(const ContoursView& in, std::uint32_t first, bool closed) {
    out_.closed[contours_] = closed ? 1 : 0;
    copy_attributes(in, first, out_, contours_);
    out_.offsets[++contours_] = points_;
  }
  /// A contour of `in`, whole.
  void add_contour(const ContoursView& in, std::uint32_t contour) {
    add_points(in.points + in.offsets[contour], in.offsets[contour + 1] - in.offsets[contour]);
    end_contour(in, contour, in.closed[contour] != 0);
  }
  ContourCounts counts() const { return {.points = points_, .contours = contours_}; }

 private:
  const ContoursView& out_;
  std::uint32_t points_ = 0, contours_ = 0;
};

}  // namespace contorno
