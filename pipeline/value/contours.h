// Contours as stages and sinks get them: the points of all contours in one array, offsets of the contours
// into it, and closed flags. Contours are in the order of scikit-image within a class, and classes follow
// each other. Views own nothing.
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

/// The format of a frame's contours: the sides of the map in px, the number of classes, how many points and
/// contours there is room for, and where the map lies on the frame.
struct ContoursFormat {
  int width = 0, height = 0, classes = 0;
  std::uint64_t point_capacity = 0, contour_capacity = 0;
  Placement placement;
  bool operator==(const ContoursFormat&) const = default;
};

/// How many points and contours a frame has. If either is over its capacity the arrays are not valid, and the
/// frame is run again with larger ones.
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

/// Bytes of a block for contours of this format, and the view of such a block.
std::size_t packed_bytes(const ContoursFormat& format);
ContoursView packed_view(void* data, const ContoursFormat& format);

/// The format of crossings (CrossingsView). It follows from the format of the map.
struct CrossingsFormat {
  ImageFormat map;
  std::uint64_t bytes = 0;  ///< size of the block; only the two stages that share it know its layout
  bool operator==(const CrossingsFormat&) const = default;
};

/// Which cells of a map the level crosses, as marching_squares hands it to contour_assembly: a block of bits,
/// and the map itself. Owns nothing.
struct CrossingsView {
  CrossingsFormat format;
  ImageView map;                   ///< the samples, needed again where a cell is crossed
  BandedUpload* upload = nullptr;  ///< what brings `map`; null: it is there. See Stage::takes_bands
  void* data = nullptr;            ///< the block of CrossingsFormat::bytes
};

}  // namespace contorno
