// Exclude: leaves out points that a brush painted over: points and strokes of a radius, and a mask.
//
// Input: contours of any stage.
//
// Output: the points of all classes that are not painted over, in their order and their contours.
//
// Memory: a byte a point of the planned capacity on the CPU, 1.4 a point and 12 a contour on CUDA, the
// painted region as often as there are slots, and the output.
//
// Source: L. V. Greco, "Fourier Drawing Machine", section 2.1 (filter_contour_by_hand), for points.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "geometry/points.h"
#include "pipeline/graph/stage.h"
#include "stages/contour_prep/shared/per_contour.h"

namespace contorno {

struct ExcludeParams {
  std::vector<double> points;   ///< x0, y0, x1, y1, ... in px
  std::vector<double> strokes;  ///< x0, y0, x1, y1 of one stroke after another, in px
  SharedMask mask;              ///< excludes where it is not 0; null: none
  double radius = 0;            ///< px, of points and strokes
};

// The region that exclude leaves out, on both backends. Points and strokes lie in the lists of a grid of
// square bins: each bin lists those that come into it, so that a point is compared with the list of its bin
// alone.

/// A stroke of the brush from `a` to `b`, which are equal where the brush made a point.
struct Stroke {
  Point a, b;
};

/// Whether a point is nearer to a stroke than the brush's radius, or at that distance. Without a division: on
/// quarters of px nothing is rounded.
struct UnderStroke {
  double radius_square = 0;

  CONTORNO_HD bool operator()(const Stroke& stroke, const Point& p) const {
    const Segment segment(stroke.a, stroke.b);
    const Segment::Distance distance = segment(p);
    return distance.squared <= (distance.is_beside ? radius_square * segment.length : radius_square);
  }
};

/// The region, whose arrays are somebody else's. A point that is not finite is not in it.
struct RegionView {
  UnderStroke under;
  double first_row = 0, first_col = 0, bins_a_px = 0;
  int rows = 0, cols = 0;                 ///< bins; 0: no strokes
  const std::uint32_t* begins = nullptr;  ///< where each bin's list begins, and the end of the last one
  const Stroke* lists = nullptr;
  int mask_width = 0, mask_height = 0;
  const std::uint8_t* mask = nullptr;  ///< row by row; not 0: excluded

  CONTORNO_HD bool has(const Point& p) const { return has_painted(p) || is_masked(p); }

 private:
  CONTORNO_HD bool has_painted(const Point& p) const {
    const double row = (static_cast<double>(p.row) - first_row) * bins_a_px;
    const double col = (static_cast<double>(p.col) - first_col) * bins_a_px;
    if (!(row >= 0 && row < rows && col >= 0 && col < cols)) return false;
    const int bin = static_cast<int>(row) * cols + static_cast<int>(col);
    for (std::uint32_t i = begins[bin]; i < begins[bin + 1]; ++i)
      if (under(lists[i], p)) return true;
    return false;
  }
  /// Whether the mask excludes the sample that is nearest to the point; of two, the later one.
  CONTORNO_HD bool is_masked(const Point& p) const {
    const double row = static_cast<double>(p.row) + 0.5, col = static_cast<double>(p.col) + 0.5;
    if (!(row >= 0 && row < mask_height && col >= 0 && col < mask_width)) return false;
    return mask[static_cast<int>(row) * mask_width + static_cast<int>(col)] != 0;
  }
};

/// Throw Error(BadConfig) when points or strokes have a number too much.
void check_points(const ExcludeParams& params);
void check_strokes(const ExcludeParams& params);

/// The region's arrays on the host.
class Region {
 public:
  /// Throws what check_points and check_strokes throw.
  explicit Region(const ExcludeParams& params);

  /// The region with its arrays on the host; on a device the three arrays lie elsewhere.
  RegionView view() const;
  const std::vector<std::uint32_t>& begins() const { return begins_; }
  const std::vector<Stroke>& lists() const { return lists_; }
  const std::vector<std::uint8_t>& mask() const { return mask_; }

 private:
  void lay_grid(const std::vector<Stroke>& strokes);
  template <class Visit>
  void visit_bins(const Stroke& stroke, const Visit& visit) const;
  int bin_at(double coordinate, double first, int count) const;
  double padding(const Stroke& stroke) const;

  double radius_;
  RegionView shape_;  // without arrays
  std::vector<std::uint32_t> begins_;
  std::vector<Stroke> lists_;
  std::vector<std::uint8_t> mask_;
};

// Which points exclude leaves out, for both backends.

struct Exclude {
  using Params = ExcludeParams;
  static constexpr const char* kName = "exclude";
  static constexpr Gives kGives = Gives::Marks;
  static constexpr ContourTeams kTeams{};

  /// Throws what check_points and check_strokes throw.
  explicit Exclude(const ExcludeParams& params) { check_points(params), check_strokes(params); }

  void tables(Tables& tables, const ExcludeParams& params, const ContoursFormat&) {
    const Region made(params);
    region = made.view();
    region.begins = tables.keep(made.begins());
    region.lists = tables.keep(made.lists());
    region.mask = tables.keep(made.mask());
  }

  CONTORNO_FOR_TEAMS
  template <class Team>
  CONTORNO_HD void operator()(const Team& team, const OwnPoints& own, std::uint8_t* keep) const {
    const RegionView& where = region;
    const Point* const points = own.points;
    team.each(own.count, [&](std::uint64_t i) { keep[i] = where.has(points[i]) ? 0 : 1; });
  }

  RegionView region;
};

const StageType& exclude_stage();

}  // namespace contorno
