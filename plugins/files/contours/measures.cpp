#include "plugins/files/contours/measures.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/measures.h"

namespace contorno {
namespace {

/// The least and the largest of some numbers; NaN is passed over. (fmin and fmax do so, too, but are called
/// for each number.)
struct Range {
  float least = std::numeric_limits<float>::infinity(), most = -std::numeric_limits<float>::infinity();

  void add(float value) {
    least = value < least ? value : least;
    most = value > most ? value : most;
  }
  bool has_none() const { return least > most; }
};

/// The area alone, added up in the order of measuring::CentroidSums, so that it is the same bits.
struct AreaSum {
  double twice = 0;

  void add(const AreaSum& other) { twice += other.twice; }
};

}  // namespace

BoxAndArea measure_box_and_area(std::span<const Point> points, Closure closure) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  BoxAndArea m{.x = kNaN, .y = kNaN, .width = kNaN, .height = kNaN};
  if (points.empty()) return m;
  Range cols, rows;
  cols.add(points[0].col), rows.add(points[0].row);
  AreaSum lanes[kLanes];
  measuring::Offset last(points[0], points[0]);
  for (std::size_t i = 1; i < points.size(); ++i) {
    cols.add(points[i].col), rows.add(points[i].row);
    const measuring::Offset next(points[i], points[0]);
    lanes[(i - 1) % kLanes].twice += measuring::twice_area_of(last, next);
    last = next;
  }
  if (closure == Closure::Closed) m.area = sum_of_lanes(lanes).twice / 2;
  if (!cols.has_none()) m.x = cols.least, m.width = static_cast<double>(cols.most) - cols.least;
  if (!rows.has_none()) m.y = rows.least, m.height = static_cast<double>(rows.most) - rows.least;
  return m;
}

ContourMeasures measure(std::span<const Point> points, Closure closure) {
  const BoxAndArea some = measure_box_and_area(points, closure);
  ContourMeasures m{.area = some.area, .x = some.x, .y = some.y, .width = some.width, .height = some.height};
  if (points.empty()) return m;
  const Point& first = points[0];
  using measuring::CentroidSums, measuring::Offset;
  const auto sums =
      OneThread{}.sum<CentroidSums>(points.size() - 1, [&](CentroidSums& lane, std::uint64_t i) {
        lane.add(Offset(points[i], first), Offset(points[i + 1], first));
      });
  m.length = sums.line.weight;
  m.centroid_x = first.col, m.centroid_y = first.row;
  sums.move_to_centroid(closure == Closure::Closed, m.centroid_y, m.centroid_x);
  return m;
}

}  // namespace contorno
