// Measure of the map: the mean and the maximum of a class's map inside each contour, as attributes.
//
// Inputs: contours of any stage, and the maps that they are of: one channel a class, with the contours'
// sides.
//
// Output: the same contours, with these attributes more:
//
//   samples   how many samples are inside
//   mean      of them, as probabilities: integers are divided by 255 or 65535
//   maximum   of them
//
// A sample is inside of a contour if its centre is in the contour's region: what the contour encloses without
// what the contours closest inside enclose, by the even-odd rule of all of these together. These are the
// contours of its class whose parent it is by the rules of hierarchy, which need not have run. So the samples
// of a hole are the hole's and not those of the contour around it, and where contours do not cross, each
// sample is inside of one at most. A sample whose centre lies on a contour is inside on the right of what the
// contour encloses and at the top, and outside on the left and at the bottom, so that none is lost or counted
// twice between two contours.
//
// Samples that are NaN do not count. A contour without samples has NaN for the other two: an open one, one
// between samples, beyond the map, or with a coordinate that is infinite or NaN, which is not taken out of
// its parent either.
//
// Memory: about 30 bytes a point and 50 a contour of the planned capacity on the CPU, 60 and 70 on CUDA, and
// the output.
//
// Speed: every segment gives one crossing for each row that it crosses, and one more for the contour around
// its own; sorted, two and two of them are the ends of a span of samples inside. So time goes with crossings
// and samples.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>

#include "geometry/attributes.h"
#include "geometry/inside.h"
#include "geometry/points.h"
#include "pipeline/graph/stage.h"
#include "stages/shared/sample_value.h"

namespace contorno {

/// The attributes that it gives.
inline constexpr Attributes kMapAttributes{Attribute::Samples, Attribute::Mean, Attribute::Maximum};

/// The CUDA implementation; only in builds that have CUDA.
std::unique_ptr<Stage> make_measure_map_cuda(const ParamSet& params);

// What measure_map does, for host and device: the crossings of a contour with the rows of a map, and the sums
// over spans of samples between them, in a fixed order.

class PlanContext;
}  // namespace contorno

namespace contorno::map_measuring {

/// The rows [first, last) of a map whose sample centres a segment crosses, as `crosses` tells for each of
/// them.
struct CrossedRows {
  int first = 0, last = 0;

  CONTORNO_HD CrossedRows(const Point& a, const Point& b, int height) {
    first = rows_above(a.row < b.row ? a.row : b.row, height);
    last = rows_above(a.row < b.row ? b.row : a.row, height);
  }
  CONTORNO_HD std::uint32_t count() const { return static_cast<std::uint32_t>(last - first); }

 private:
  /// How many rows of the map are less than `row`.
  CONTORNO_HD static int rows_above(float row, int height) {
    const double rows = std::ceil(static_cast<double>(row));
    return rows > 0 ? static_cast<int>(rows < height ? rows : height) : 0;
  }
};

/// A crossing as one number, by which crossings are sorted: contour, row, and the first column of the map to
/// the right of it.
class CrossingKeys {
 public:
  CrossingKeys() = default;
  CrossingKeys(int width, int height)
      : width_(width),
        col_bits_(std::bit_width(static_cast<unsigned>(width))),
        row_bits_(std::bit_width(static_cast<unsigned>(height))) {}

  /// Bits of the keys of contours up to `last`.
  int bits(std::uint64_t last) const {
    return static_cast<int>(std::bit_width(last)) + row_bits_ + col_bits_;
  }
  /// The first key of a contour; of contour i + 1 it is the end of those of contour i.
  CONTORNO_HD unsigned long long first(unsigned long long contour) const {
    return contour << (row_bits_ + col_bits_);
  }
  CONTORNO_HD unsigned long long key(unsigned long long contour, int row, const Point& a,
                                     const Point& b) const {
    const double col = std::floor(crossing_column(row, a, b)) + 1;
    const unsigned in_map = col > 0 ? static_cast<unsigned>(col < width_ ? col : width_) : 0U;
    return first(contour) | static_cast<unsigned long long>(row) << col_bits_ | in_map;
  }
  CONTORNO_HD unsigned contour(unsigned long long key) const {
    return static_cast<unsigned>(key >> (row_bits_ + col_bits_));
  }
  CONTORNO_HD int row(unsigned long long key) const {
    return static_cast<int>((key >> col_bits_) & ((1ULL << row_bits_) - 1));
  }
  CONTORNO_HD int col(unsigned long long key) const {
    return static_cast<int>(key & ((1ULL << col_bits_) - 1));
  }

 private:
  int width_ = 0, col_bits_ = 0, row_bits_ = 0;
};

/// The classes of a map.
struct MapPlanes {
  Plane first;
  std::ptrdiff_t step = 0;  ///< bytes from class to class

  MapPlanes() = default;
  explicit MapPlanes(const ImageView& map) : first(plane_of(map, 0, probability_scale(map.format.type))) {
    step = map.format.channels > 1 ? plane_of(map, 1, first.scale).data - first.data : 0;
  }
  template <class T>
  CONTORNO_HD double at(unsigned of_class, int row, int col) const {
    return value_of(
        *reinterpret_cast<const T*>(first.data + of_class * step + row * first.row_pitch + col * first.step),
        first.scale);
  }
};

/// Samples that were looked at.
struct SampleSums {
  double sum = 0, greatest = -std::numeric_limits<double>::infinity();
  unsigned long long count = 0;  ///< without NaN

  CONTORNO_HD void add(double sample) {
    const bool known = sample == sample;
    sum += known ? sample : 0;
    if (sample > greatest) greatest = sample;
    count += known ? 1 : 0;
  }
  CONTORNO_HD void add(const SampleSums& other) {
    sum += other.sum;
    if (other.greatest > greatest) greatest = other.greatest;
    count += other.count;
  }
};

/// Sample i of a span adds to lane i % kSpanLanes of its sums; the sums of span j of a contour add to lane j
/// % kLanes (geometry/team.h).
inline constexpr unsigned kSpanLanes = 8;

CONTORNO_HD inline void write(const ContoursView& out, std::uint32_t contour, const SampleSums& sums) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  put(out, Attribute::Samples, contour, static_cast<double>(sums.count));
  put(out, Attribute::Mean, contour, sums.count > 0 ? sums.sum / static_cast<double>(sums.count) : none);
  // -0 becomes 0, whichever of them came first.
  put(out, Attribute::Maximum, contour, sums.count > 0 ? sums.greatest + 0.0 : none);
}

/// Throws Error(BadConfig) when a map is not one of the contours.
void check_map(const ContoursFormat& contours, const ImageFormat& map);
/// Room for crossings, as part of a stage's plan. Contours of maps have a crossing for every second point,
/// and those inside others count twice.
std::uint64_t room_for_crossings(const PlanContext& context, const ContoursFormat& contours);

}  // namespace contorno::map_measuring

namespace contorno {

const StageType& measure_map_stage();

}  // namespace contorno
