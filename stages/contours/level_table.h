// From the planes that contours are found in, one a level, to the classes of a graph: where these begin, and
// the level of each contour. Made when a stage is planned; filling in is const.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/value/classes.h"
#include "pipeline/value/contours.h"

namespace contorno {

/// What contours are found of: a channel of the map at a level.
struct LevelPlane {
  int channel = 0;
  double level = 0;
};

/// All levels of all classes, class by class; class k has channel k.
inline std::vector<LevelPlane> level_planes(std::span<const ClassSpec> classes) {
  std::vector<LevelPlane> planes;
  for (std::size_t k = 0; k < classes.size(); ++k)
    for (const double level : classes[k].iso_levels()) planes.push_back({static_cast<int>(k), level});
  return planes;
}

class LevelTable {
 public:
  LevelTable() = default;
  explicit LevelTable(std::span<const ClassSpec> classes) : planes_(level_planes(classes)) {}

  std::size_t planes() const { return planes_.size(); }
  /// Sets class_begin and the column of levels. Plane p has contours [plane_begin[p], plane_begin[p + 1]).
  void fill(const std::uint32_t* plane_begin, const ContoursView& contours) const {
    double* const level = contours.column(Attribute::Level);
    std::size_t plane = 0;
    for (int k = 0; k <= contours.format.classes; ++k) {
      contours.class_begin[k] = plane_begin[plane];
      for (; plane < planes_.size() && planes_[plane].channel == k; ++plane)
        std::fill(level + plane_begin[plane], level + plane_begin[plane + 1], planes_[plane].level);
    }
  }

 private:
  std::vector<LevelPlane> planes_;
};

}  // namespace contorno
