// The contours of one class sorted into regions: rings around high parts, with the holes that lie in them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "geometry/nest.h"
#include "plugins/files/contours/writer.h"

namespace contorno {

/// What becomes of contours that end at the border of the map.
enum class OpenContours : std::uint8_t {
  Keep,   ///< as lines
  Close,  ///< a straight line joins their ends, and they are rings like those that were closed
};

/// Keeps its memory from class to class and frame to frame; spans are valid until the next sort().
class RegionSorter {
 public:
  struct Ring {
    std::span<const Point> points;  ///< first point repeated as last
    ContourMeasures measures;
    std::uint32_t contour = 0;  ///< its index in the view
    std::uint32_t parent = 0;   ///< index of a hole's outer ring in outers()
    std::uint32_t place = 0;    ///< among the contours of the class, by their levels
    std::uint32_t level = 0;    ///< how many lower levels there are
  };
  struct Line {
    std::span<const Point> points;
    bool closed = false;  ///< a ring without area, or a hole without a ring of positive area close around it
    ContourMeasures measures;
    std::uint32_t contour = 0;  ///< its index in the view
  };

  /// Sorts the contours of class `of_class`, in the coordinates of `placer`. A ring of negative area is a
  /// hole of its parent by the rules of hierarchy, if that has a positive area, else a line: so polygons stay
  /// valid where a ring between two holes is missing. Rings of one level are sorted among themselves.
  /// Contours whose length is not finite (a coordinate is NaN or infinite) are left out. Throws
  /// Error(BadData) where more rings are around a hole than are tried (geometry/nesting.h).
  void sort(const ContoursView& view, std::size_t of_class, ContourPlacer& placer,
            OpenContours open_contours);

  std::span<const Ring> outers() const { return outers_; }  ///< the smallest area first
  std::span<const Ring> holes() const { return holes_; }    ///< in order of their parents
  std::span<const Line> lines() const { return lines_; }
  /// The holes of outer `index`.
  std::span<const Ring> holes_of(std::size_t index) const;

 private:
  void list_levels(const ContoursView& view, std::uint32_t first, std::uint32_t last);
  void add(const Ring& ring, bool closed, OpenContours open_contours);
  void find_parents();

  std::vector<Point> points_;
  std::vector<std::uint32_t> by_level_;     // the contours of the class; their indices in the view
  std::vector<std::uint32_t> level_begin_;  // where each level begins among them; one more
  // Arrays with an element for each contour of the class:
  std::vector<std::uint32_t> offsets_;  // into points_; one more
  std::vector<std::uint8_t> rings_;     // 1: the contour is a ring
  std::vector<std::uint32_t> places_;   // of a ring of positive area: index into outers_
  std::vector<Box> boxes_;
  std::vector<std::uint64_t> areas_;
  std::vector<std::uint32_t> order_;
  std::vector<nesting::NestNode> nodes_;
  std::vector<Box> blocks_;  // boxes around blocks of points, of all contours
  std::vector<Ring> outers_, holes_;
  std::vector<Line> lines_;
};

}  // namespace contorno
