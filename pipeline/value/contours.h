// Contours as the pipeline hands them on: points of all classes in one array, compressed-row offsets, closed
// flags. Views own nothing. Order is that of scikit-image within a class; classes follow each other.
#pragma once

#include <cstdint>
#include <span>

#include "pipeline/value/image.h"

namespace contorno {

class BandedUpload;

/// A contour point on the map, in px; sample centres at integers.
struct Point {
  float row = 0, col = 0;
  bool operator==(const Point&) const = default;
};

/// What a frame's contours are planned for. Sides are those of the map; capacities are numbers of points and
/// contours.
struct ContoursFormat {
  int width = 0, height = 0, classes = 0;
  std::uint64_t point_capacity = 0, contour_capacity = 0;
  Placement placement;
  bool operator==(const ContoursFormat&) const = default;
};

/// How many there are, written by the assembly. When a number is over its capacity the arrays are not valid
/// and the frame is run again with larger ones.
struct ContourCounts {
  std::uint64_t points = 0, contours = 0;
};

/// One frame's contours. Class k has contours [class_begin[k], class_begin[k+1]); contour i has points
/// [offsets[i], offsets[i+1]). A closed contour repeats its first point as the last.
struct ContoursView {
  ContoursFormat format;
  ContourCounts* counts = nullptr;
  Point* points = nullptr;               ///< point_capacity
  std::uint32_t* offsets = nullptr;      ///< contour_capacity + 1
  std::uint8_t* closed = nullptr;        ///< contour_capacity; 1 = closed
  std::uint32_t* class_begin = nullptr;  ///< classes + 1

  std::span<const Point> contour(std::uint32_t index) const {
    return {points + offsets[index], offsets[index + 1] - offsets[index]};
  }
};

std::size_t packed_bytes(const ContoursFormat& format);
ContoursView packed_view(void* data, const ContoursFormat& format);

/// What a crossings block holds besides the map it was made from: the map's format fixes everything.
struct CrossingsFormat {
  ImageFormat map;
  std::uint64_t bytes = 0;  ///< size of the block; only the two stages that share it know its layout
  bool operator==(const CrossingsFormat&) const = default;
};

/// Which cells of a map are crossed by the level, as the marching squares stage leaves them for the assembly.
struct CrossingsView {
  CrossingsFormat format;
  ImageView map;                   ///< the samples, needed again where a cell is crossed
  BandedUpload* upload = nullptr;  ///< what brings `map`; null: it is there. See Stage::takes_bands
  void* data = nullptr;
};

}  // namespace contorno
