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

#include "geometry/ascending.h"
#include "geometry/attributes.h"
#include "geometry/inside.h"
#include "geometry/nesting.h"
#include "geometry/points.h"
#include "geometry/team.h"
#include "pipeline/graph/stage.h"
#include "stages/contour_prep/shared/arrays.h"
#include "stages/contour_prep/shared/attribute_step.h"
#include "stages/shared/sample_value.h"

namespace contorno {

/// The attributes that it gives.
inline constexpr Attributes kMapAttributes{Attribute::Samples, Attribute::Mean, Attribute::Maximum};

/// The CUDA implementation; only in builds that have CUDA.
std::unique_ptr<Stage> make_measure_map_cuda(const ParamSet& params);

// What measure_map does, for host and device: the crossings of a contour with the rows of a map, and the sums
// over spans of samples between them, in a fixed order.

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

// measure_map for both backends. Crossings of the region of a contour are its own, and those of the contours
// for which it is the closest around. Two and two, in their order, they are the ends of a span of samples.
//
//   (nest)           what lies in what
//   ClearRegions     of what is unused, no crossings
//   CountCrossings   how many each contour has, by teams
//   GiveToParents    where they are among those of the contour around it
//   (sum)            where the crossings of each region begin
//   WriteCrossings   the crossings, by teams
//   (sort)           those of each region by rows and columns
//   (spans)          on a device, sums over the samples of every span
//   MeasureRegions   sums over the spans of every region, and its attributes, by teams

namespace map_measuring {

using Word = unsigned long long;

/// What the functions below share.
struct Regions {
  ContoursView contours;
  MapPlanes planes;
  CrossingKeys form;
  Word room = 0;                ///< number of crossings that there is room for
  unsigned* parents = nullptr;  ///< the contour closest around each contour, or kNoParent
  Word* own = nullptr;          ///< number of crossings of each contour; 0: it has no region
  Word* in_parent = nullptr;    ///< where each contour's crossings begin among those of its parent
  Word* begins = nullptr;  ///< where each region's crossings begin, and one more; at first how many there are
  Word* crossings = nullptr;          ///< of all regions
  const Word* sorted = nullptr;       ///< the crossings in their order
  const SampleSums* spans = nullptr;  ///< sums over the samples between every two crossings; on a device
  Word* needed = nullptr;             ///< number of crossings, for the host

  void arrays(ArrayTaker& take, const ContoursFormat& format) {
    take(parents, format.contour_capacity), take(crossings, room);
    for (auto** one : {&own, &in_parent, &begins}) take(*one, format.contour_capacity + 1);
  }
  /// Whether a contour is taken out of the region of its parent, which must have one.
  CONTORNO_HD bool is_in_region(unsigned contour) const {
    return parents[contour] != nesting::kNoParent && own[parents[contour]] > 0;
  }
  /// How many crossings may be written and read: none where they do not fit.
  CONTORNO_HD Word stored() const {
    const Word all = begins[contours_of(contours)];
    return all <= room ? all : 0;
  }
  CONTORNO_HD CrossedRows rows(unsigned contour, std::uint64_t segment) const {
    const Point* const point = contours.points + contours.offsets[contour] + segment;
    return {point[0], point[1], contours.format.height};
  }
  CONTORNO_HD std::uint32_t segments(unsigned contour) const {
    const unsigned points = points_of(contours, contour);
    return points > 0 ? points - 1 : 0;
  }
};

struct ClearRegions : Regions {
  CONTORNO_HD void operator()(unsigned i) const {
    begins[i] = 0;
    if (i == 0) *needed = 0;
  }
};

struct CountCrossings : Regions {
  static constexpr ContourTeams kTeams = kWarpsAlone;
  static constexpr std::size_t kRoom = 0;

  CONTORNO_FOR_TEAMS
  template <class Team>
  CONTORNO_HD void operator()(const Team& team, std::uint32_t contour) const {
    const Point* const point = contours.points + contours.offsets[contour];
    std::uint64_t count = 0;
    if (contours.closed[contour] != 0 &&
        team.count(points_of(contours, contour), [=](std::uint64_t i) { return !is_finite(point[i]); }) == 0)
      count = team.template join<WholeSum>(
                      segments(contour),
                      [&](WholeSum& sum, std::uint64_t i) { sum.value += rows(contour, i).count(); })
                  .value;
    if (team.is_first()) own[contour] = begins[contour] = count;
  }
};

/// The crossings of the contours in a region come in any order: they are sorted.
struct GiveToParents : Regions {
  CONTORNO_HD void operator()(unsigned contour) const {
    if (contour >= contours_of(contours) || own[contour] == 0 || !is_in_region(contour)) return;
    Word& of_parent = begins[parents[contour]];
#if defined(__CUDA_ARCH__)
    in_parent[contour] = atomicAdd(&of_parent, own[contour]);
#else
    in_parent[contour] = of_parent;
    of_parent += own[contour];
#endif
  }
};

/// Writes a contour's crossings to its region, and to the one that it is in.
struct WriteCrossings : Regions {
  static constexpr ContourTeams kTeams = kWarpsAlone;
  static constexpr std::size_t kRoom = 0;

  CONTORNO_FOR_TEAMS
  template <class Team>
  CONTORNO_HD void operator()(const Team& team, std::uint32_t contour) const {
    if (contour == 0 && team.is_first()) *needed = begins[contours_of(contours)];
    if (own[contour] == 0 || stored() == 0) return;
    const bool twice = is_in_region(contour);
    const unsigned parent = twice ? parents[contour] : contour;
    Word* const to = crossings + begins[contour];
    Word* const to_parent = crossings + begins[parent] + (twice ? in_parent[contour] : 0);
    team.scan(
        segments(contour), [&](std::uint64_t i) { return std::uint64_t{rows(contour, i).count()}; },
        [&](std::uint64_t i, std::uint64_t at) {
          const Point* const point = contours.points + contours.offsets[contour] + i;
          const CrossedRows crossed = rows(contour, i);
          for (int row = crossed.first; row < crossed.last; ++row, ++at) {
            to[at] = form.key(contour, row, point[0], point[1]);
            if (twice) to_parent[at] = to[at] - form.first(contour) + form.first(parent);
          }
        });
  }
};

/// Sums over one span of samples.
template <class T>
SampleSums sums_of_span(const MapPlanes& planes, unsigned of_class, int row, int begin, int end) {
  SampleSums lanes[kSpanLanes];
  int col = begin;
  for (; end - col >= static_cast<int>(kSpanLanes); col += static_cast<int>(kSpanLanes))
    for (unsigned lane = 0; lane < kSpanLanes; ++lane)
      lanes[lane].add(planes.at<T>(of_class, row, col + static_cast<int>(lane)));
  for (unsigned lane = 0; col < end; ++lane, ++col) lanes[lane].add(planes.at<T>(of_class, row, col));
  return sum_of_lanes(lanes);
}

/// kHasSpans: `spans` is there.
template <class T, bool kHasSpans>
struct MeasureRegions : Regions {
  static constexpr ContourTeams kTeams = kWarpsAlone;
  static constexpr std::size_t kRoom = 0;

  CONTORNO_FOR_TEAMS
  template <class Team>
  CONTORNO_HD void operator()(const Team& team, std::uint32_t contour) const {
    const unsigned k = part_of(contours.class_begin, static_cast<unsigned>(contours.format.classes), contour);
    const Word begin = begins[contour] / 2, end = stored() > 0 ? begins[contour + 1] / 2 : begin;
    const auto sums = team.template sum<SampleSums>(end - begin, [&](SampleSums& lane, std::uint64_t i) {
      const Word span = begin + i;
      if constexpr (kHasSpans)
        lane.add(spans[span]);
      else
        lane.add(sums_of_span<T>(planes, k, form.row(sorted[2 * span]), form.col(sorted[2 * span]),
                                 form.col(sorted[2 * span + 1])));
    });
    if (team.is_first()) write(contours, contour, sums);
  }
};

/// A host has no sums over spans: MeasureRegions makes them.
struct HostSpans {
  static constexpr bool kGives = false;
  void plan(PlanContext&, std::uint64_t) {}
  template <class T>
  const SampleSums* run(const RunContext&, const Regions&) const {
    return nullptr;
  }
};

}  // namespace map_measuring

/// On a backend: OnHost (on_host.h) or OnDevice (on_device.cuh), with its Nest, which finds what lies in what
/// (hierarchy), and its Spans, which gives the sums over spans (Spans::kGives) or null.
template <class On, class Nest, class Spans>
class MeasureMap final : public AttributeStep {
 public:
  MeasureMap() : AttributeStep(On::kBackend, kMapAttributes) {}

  std::uint64_t overflow(const RunContext& context) const override {
    nest_.check(context);
    const std::uint64_t needed = *context.scratch<map_measuring::Word>(needed_);
    return needed > room_ ? needed : 0;
  }

 private:
  void plan_computing(PlanContext& context, const ContoursFormat& format) override {
    using namespace map_measuring;
    check_map(format, context.image(1));
    room_ = room_for_crossings(context, format);
    form_ = {format.width, format.height};
    nest_.plan(context, format);
    sum_.plan(context, format.contour_capacity + 1);
    sort_.plan(context, room_, form_.bits(format.contour_capacity));
    spans_.plan(context, room_ / 2);
    arrays_.plan(context, On::kMemory, format, Regions{.room = room_});
    needed_ = context.scratch(sizeof(Word), On::kAnswers);
    on_.template plan<CountCrossings>(format);  // and of the other calls by teams
  }

  void compute(const RunContext& context, const ContoursView& out, std::uint32_t* sources) const override {
    using namespace map_measuring;
    auto regions = arrays_.of(context, Regions{.room = room_});
    regions.contours = out, regions.planes = MapPlanes(context.image_in(1));
    regions.form = form_, regions.needed = context.scratch<Word>(needed_);
    const unsigned contours = On::contours(out);
    nest_.run(context, out, sources, regions.parents);
    On::for_each(context, "clear_regions", contours + 1, ClearRegions{regions});
    on_.each(context, "count_crossings", out, CountCrossings{regions});
    On::for_each(context, "give_to_parents", contours, GiveToParents{regions});
    sum_.run(context, regions.begins, contours + 1);
    sort_.clear(context, regions.crossings);
    on_.each(context, "write_crossings", out, WriteCrossings{regions});
    regions.sorted = sort_.run(context, regions.crossings, regions.begins, out);
    with_sample_type(context.image_in(1).format.type, [&]<class T>(const T*) {
      regions.spans = spans_.template run<T>(context, regions);
      on_.each(context, "measure_regions", out, MeasureRegions<T, Spans::kGives>{regions});
    });
  }

  void skip(const RunContext& context) const override { *context.scratch<map_measuring::Word>(needed_) = 0; }

  On on_;
  Nest nest_;
  Spans spans_;
  typename On::Sum sum_;
  typename On::SegmentSort sort_;
  PlannedArrays arrays_;
  map_measuring::CrossingKeys form_;
  std::uint64_t room_ = 0;
  Scratch needed_;
};

}  // namespace contorno
