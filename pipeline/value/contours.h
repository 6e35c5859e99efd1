// Contours as stages and sinks get them: the points of all contours in one array, offsets of the contours
// into it, and closed flags. Contours are in the order of scikit-image within a class, and classes follow
// each other. Views own nothing.
#pragma once

#include <cstdint>
#include <span>

#include "base/host_device.h"
#include "pipeline/value/attributes.h"
#include "pipeline/value/image.h"

namespace contorno {

/// A contour point on the map, in px; sample centres at integers.
struct Point {
  float row = 0, col = 0;
  bool operator==(const Point&) const = default;
};

/// The format of a frame's contours: the sides of the map in px, the number of classes, how many points and
/// contours there is room for, where the map lies on the frame, and what else is known of each contour.
struct ContoursFormat {
  int width = 0, height = 0, classes = 0;
  std::uint64_t point_capacity = 0, contour_capacity = 0;
  Placement placement{};
  Attributes attributes{};
  bool operator==(const ContoursFormat&) const = default;

  /// From one column of attributes to the next; even, so that each begins at a multiple of 16 bytes.
  CONTORNO_HD std::uint64_t column_stride() const { return contour_capacity + contour_capacity % 2; }
};

/// How many points and contours a frame has. If either is over its capacity the arrays are not valid, and the
/// frame is run again with larger ones.
struct ContourCounts {
  std::uint64_t points = 0, contours = 0;
};

/// One frame's contours. Class k has contours [class_begin[k], class_begin[k+1]); contour i has points
/// [offsets[i], offsets[i+1]). A closed contour repeats its first point as the last.
struct ContoursView {
  ContoursFormat format{};
  ContourCounts* counts = nullptr;
  Point* points = nullptr;               ///< point_capacity
  std::uint32_t* offsets = nullptr;      ///< contour_capacity + 1
  std::uint8_t* closed = nullptr;        ///< contour_capacity; 1 = closed
  std::uint32_t* class_begin = nullptr;  ///< classes + 1
  double* columns = nullptr;             ///< format.attributes.count() of them, column_stride() apart

  /// In a view without points and offsets (see packed_counts): the offset at which each class begins; classes
  /// + 1.
  std::uint32_t* class_offsets = nullptr;

  /// Whether the arrays are valid: there was room for all points and contours.
  CONTORNO_HD bool fits() const {
    return counts->points <= format.point_capacity && counts->contours <= format.contour_capacity;
  }
  /// The points of the classes before class `k`, on the host.
  std::uint32_t points_before(std::size_t k) const {
    return offsets != nullptr ? offsets[class_begin[k]] : class_offsets[k];
  }
  /// The numbers of an attribute, contour_capacity of them; null when the contours do not have it.
  CONTORNO_HD double* column(Attribute one) const {
    return format.attributes.has(one) ? columns + format.attributes.column(one) * format.column_stride()
                                      : nullptr;
  }
  std::span<const Point> contour(std::uint32_t index) const {
    return {points + offsets[index], offsets[index + 1] - offsets[index]};
  }
};

/// Bytes of a block for contours of this format, and the view of such a block.
std::size_t packed_bytes(const ContoursFormat& format);
ContoursView packed_view(void* data, const ContoursFormat& format);

/// Bytes of a block that holds only how many points and contours each class has, and the view of such a
/// block: it is without points, offsets, closed flags and attributes.
std::size_t packed_counts_bytes(const ContoursFormat& format);
ContoursView packed_counts(void* data, const ContoursFormat& format);

}  // namespace contorno
