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
#pragma once

#include "geometry/ascending.h"
#include "geometry/nesting.h"
#include "geometry/team.h"
#include "stages/contour_prep/measure_map/stage.h"
#include "stages/contour_prep/shared/arrays.h"
#include "stages/contour_prep/shared/attribute_step.h"

namespace contorno {
namespace map_measuring {

using Word = unsigned long long;

/// What the functions below share.
struct Regions {
  ContoursView contours;
  MapPlanes planes;
  CrossingKeys form;
  Word room = 0;                      ///< for crossings
  unsigned* parents = nullptr;        ///< of each contour; kNoParent of those that lie in none
  Word* own = nullptr;                ///< of each contour, how many crossings it has; 0: no region
  Word* in_parent = nullptr;          ///< of each contour, where these are among those of its parent
  Word* begins = nullptr;             ///< of each region, and one more; at first how many it has
  Word* crossings = nullptr;          ///< of all regions
  const Word* sorted = nullptr;       ///< the same in their order
  const SampleSums* spans = nullptr;  ///< on a device, of every two crossings
  Word* needed = nullptr;             ///< for the host: how many crossings there are

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
