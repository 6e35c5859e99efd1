// The declaration of measure_map, and its implementation on the CPU.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "geometry/nest.h"
#include "geometry/team.h"
#include "stages/contour_prep/measure_map/stage.h"
#include "stages/contour_prep/shared/arrays.h"
#include "stages/contour_prep/shared/attribute_step.h"
#include "stages/contour_prep/shared/contour_step.h"

namespace contorno {
namespace map_measuring {

void check_map(const ContoursFormat& contours, const ImageFormat& map) {
  if (map.width != contours.width || map.height != contours.height || map.channels != contours.classes)
    throw Error(ExitCode::BadConfig,
                fmt::format("the contours are of maps of {}x{} with {} classes, and the maps that were given "
                            "are {}; give those that the contours were found in",
                            contours.width, contours.height, contours.classes, describe(map)));
}

std::uint64_t room_for_crossings(const PlanContext& context, const ContoursFormat& contours) {
  return context.capacity(2 * contours.point_capacity);
}

namespace {

/// Arrays of a frame, with an element a contour.
struct Regions {
  std::uint64_t room = 0;  ///< for crossings
  nesting::NestMemory nest;
  std::uint32_t* parents = nullptr;
  std::uint64_t* own = nullptr;  ///< how many crossings the contour has
  /// Of the crossings of the contour's region: first its own, then those in it.
  std::uint64_t *begins = nullptr, *ends = nullptr;
  std::uint64_t* in_parent = nullptr;  ///< where the contour's crossings are among those of its parent
  std::uint64_t* crossings = nullptr;  ///< of all

  void arrays(ArrayTaker& take, const ContoursFormat& format) {
    nest.arrays(take, format);
    take(parents, format.contour_capacity);
    for (auto** one : {&own, &begins, &ends, &in_parent}) take(*one, format.contour_capacity);
    take(crossings, room);
  }
};

/// Calls use(row, a, b) for every row that a contour crosses.
template <class Use>
void for_crossings(const ContoursView& contours, std::uint32_t contour, int height, const Use& use) {
  const std::span<const Point> points = contours.contour(contour);
  for (std::size_t i = 1; i < points.size(); ++i) {
    const CrossedRows rows(points[i - 1], points[i], height);
    for (int row = rows.first; row < rows.last; ++row) use(row, points[i - 1], points[i]);
  }
}

std::uint64_t count_crossings(const ContoursView& contours, std::uint32_t contour, int height) {
  const std::span<const Point> points = contours.contour(contour);
  if (contours.closed[contour] == 0 || !std::all_of(points.begin(), points.end(), is_finite)) return 0;
  std::uint64_t count = 0;
  for (std::size_t i = 1; i < points.size(); ++i)
    count += CrossedRows(points[i - 1], points[i], height).count();
  return count;
}

/// Whether a contour is taken out of the region of its parent, which must have one.
bool is_in_region(const Regions& regions, std::uint32_t contour) {
  return regions.parents[contour] != nesting::kNoParent && regions.own[regions.parents[contour]] > 0;
}

/// Places the crossings of all regions one after the other; returns how many there are.
std::uint64_t place_crossings(const Regions& regions, std::uint32_t contours) {
  std::copy_n(regions.own, contours, regions.ends);
  for (std::uint32_t i = 0; i < contours; ++i)
    if (is_in_region(regions, i)) regions.ends[regions.parents[i]] += regions.own[i];
  std::uint64_t end = 0;
  for (std::uint32_t i = 0; i < contours; ++i) {
    regions.begins[i] = end;
    end += regions.ends[i];
    regions.ends[i] = regions.begins[i] + regions.own[i];
  }
  for (std::uint32_t i = 0; i < contours; ++i)
    if (is_in_region(regions, i)) {
      regions.in_parent[i] = regions.ends[regions.parents[i]];
      regions.ends[regions.parents[i]] += regions.own[i];
    }
  return end;
}

/// Writes a contour's crossings to its region, and to the one that it is in.
void write_crossings(const ContoursView& contours, std::uint32_t contour, const CrossingKeys& form,
                     const Regions& regions) {
  if (regions.own[contour] == 0) return;
  std::uint64_t* const own = regions.crossings + regions.begins[contour];
  std::uint64_t* to = own;
  for_crossings(contours, contour, contours.format.height,
                [&](int row, const Point& a, const Point& b) { *to++ = form.key(0, row, a, b); });
  if (is_in_region(regions, contour))
    std::copy_n(own, regions.own[contour], regions.crossings + regions.in_parent[contour]);
}

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

/// Sums over the samples between the crossings of a region, which it sorts.
template <class T>
SampleSums sums_of_region(const MapPlanes& planes, unsigned of_class, const CrossingKeys& form,
                          std::span<std::uint64_t> crossings) {
  std::sort(crossings.begin(), crossings.end());
  return OneThread{}.sum<SampleSums>(crossings.size() / 2, [&](SampleSums& lane, std::uint64_t span) {
    const std::uint64_t from = crossings[2 * span], to = crossings[2 * span + 1];
    lane.add(sums_of_span<T>(planes, of_class, form.row(from), form.col(from), form.col(to)));
  });
}

}  // namespace
}  // namespace map_measuring

namespace {

using map_measuring::Regions;

class MeasureMapCpu final : public AttributeStep {
 public:
  MeasureMapCpu() : AttributeStep(Backend::Cpu, kMapAttributes) {}

  std::uint64_t overflow(const RunContext& context) const override {
    const std::uint64_t needed = *context.scratch<std::uint64_t>(needed_);
    return needed > room_ ? needed : 0;
  }

 private:
  void plan_computing(PlanContext& context, const ContoursFormat& format) override {
    map_measuring::check_map(format, context.image(1));
    room_ = map_measuring::room_for_crossings(context, format);
    form_ = {format.width, format.height};
    arrays_.plan(context, MemoryKind::Host, format, Regions{.room = room_});
    needed_ = context.scratch(sizeof(std::uint64_t), MemoryKind::Host);
  }

  void compute(const RunContext& context, const ContoursView& out, std::uint32_t* sources) const override {
    const auto regions = arrays_.of(context, Regions{.room = room_});
    find_regions(context, out, sources, regions);
    auto& needed = *context.scratch<std::uint64_t>(needed_);
    needed = map_measuring::place_crossings(regions, static_cast<std::uint32_t>(out.counts->contours));
    if (needed > room_) return;
    for_contours(context.threads, out.counts->contours, [&](std::uint32_t contour) {
      map_measuring::write_crossings(out, contour, form_, regions);
    });
    with_sample_type(context.image_in(1).format.type,
                     [&]<class T>(const T*) { write_measures<T>(context, out, regions); });
  }

  void skip(const RunContext& context) const override { *context.scratch<std::uint64_t>(needed_) = 0; }

  void find_regions(const RunContext& context, const ContoursView& out, std::uint32_t* sources,
                    const Regions& regions) const {
    const nesting::Nest nest(out, regions.nest, context.threads);
    nest.for_each(context.threads, [&](std::uint32_t contour, const nesting::Around& around) {
      sources[contour] = contour;
      regions.parents[contour] = around.parent_or_none();
      regions.own[contour] = map_measuring::count_crossings(out, contour, out.format.height);
    });
  }

  template <class T>
  void write_measures(const RunContext& context, const ContoursView& out, const Regions& regions) const {
    const map_measuring::MapPlanes planes(context.image_in(1));
    for (int k = 0; k < out.format.classes; ++k) {
      const std::uint32_t first = out.class_begin[k], end = out.class_begin[k + 1];
      for_contours(context.threads, end - first, [&](std::uint32_t i) {
        const std::uint64_t begin = regions.begins[first + i], count = regions.ends[first + i] - begin;
        map_measuring::write(out, first + i,
                             map_measuring::sums_of_region<T>(planes, static_cast<unsigned>(k), form_,
                                                              {regions.crossings + begin, count}));
      });
    }
  }

  PlannedArrays arrays_;
  Scratch needed_;
  map_measuring::CrossingKeys form_;
  std::uint64_t room_ = 0;
};

}  // namespace

const StageType& measure_map_stage() {
  static const StageType type = [] {
    StageType made = contour_step({
        .name = "measure_map",
        .summary = "Measures the mean and the maximum of the map inside each contour.",
        .gives = "The same contours, with what the map has inside them as attributes.",
        .params = declare(ParamList<NoParams>()),
        .example = "- type: measure_map\n",
        .make_cpu = make_step<MeasureMapCpu, NoParams>,
        .make_cuda = on_cuda<make_measure_map_cuda>(),
    });
    made.inputs.push_back({.name = "maps",
                           .type = PortType::Image,
                           .sentence = "The maps that the contours are of, one channel a class.",
                           .from = From::MapsOrFrame});
    return made;
  }();
  return type;
}

}  // namespace contorno
