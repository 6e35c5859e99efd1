#include "stages/contours/stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "stages/contours/cpu/assemble.h"
#include "stages/contours/cpu/crossings.h"
#include "stages/contours/cpu/level_search.h"
#include "stages/contours/cpu/mark_samples.h"
#include "stages/contours/level_table.h"

namespace contorno {
namespace {

ParamDeclaration contours_params() {
  ParamList<ContoursParams> list;
  list.choice("fully_connected", &ContoursParams::fully_connected,
              {{"low", Connectivity::Low}, {"high", Connectivity::High}},
              "Which samples of a saddle cell are joined: those below or those above the level.");
  list.choice("positive_orientation", &ContoursParams::positive_orientation,
              {{"low", Orientation::Low}, {"high", Orientation::High}},
              "Contours run counter-clockwise around regions that are low, or high.");
  list.integer("min_points", &ContoursParams::min_points, 0, 1000000000, Unit::None,
               "Contours with fewer points are left out.");
  return declare(list);
}

class ContoursCpu : public Stage {
 public:
  explicit ContoursCpu(const ContoursParams& params) : params_(params) {}

  void plan(PlanContext& context) override {
    const ImageFormat& map = checked_map(context);
    const AssemblyOptions options{.fully_connected = params_.fully_connected,
                                  .positive_orientation = params_.positive_orientation,
                                  .min_points = static_cast<std::uint64_t>(params_.min_points),
                                  .scale = probability_scale(map.type),
                                  .threads = context.threads()};
    points_ = planned_points(context, map);
    contours_ = planned_contours(points_);
    search_.reset();
    if (have_levels(context.classes()))
      plan_levels(context, map, options);
    else
      plan_classes(context, map, options);
    needed_ = context.scratch(sizeof(std::uint64_t), MemoryKind::Host);
    context.set_output(0, planned_output(context, map, points_));
  }

  void run(const RunContext& context) const override {
    if (search_ != nullptr)
      find_levels(context, context.image_in(0));
    else
      find_classes(context, context.image_in(0));
  }

  std::uint64_t overflow(const RunContext& context) const override {
    return *context.scratch<std::uint64_t>(needed_);
  }

 private:
  void plan_classes(PlanContext& context, const ImageFormat& map, const AssemblyOptions& options) {
    std::vector<double> levels;
    for (const ClassSpec& spec : context.classes()) levels.push_back(spec.level);
    marker_ = std::make_unique<SampleMarker>(map, levels, options.scale);
    assembler_ = std::make_unique<Assembler>(map, std::move(levels), options);
    memory_ = context.temporary(crossings_bytes(map), MemoryKind::Host);
    scratch_ = context.temporary(assembler_->scratch_bytes(contours_, points_), MemoryKind::Host);
  }

  void plan_levels(PlanContext& context, const ImageFormat& map, const AssemblyOptions& options) {
    table_ = LevelTable(context.classes());
    search_ = std::make_unique<LevelSearch>(map, level_planes(context.classes()), options);
    scratch_ = context.temporary(search_->scratch_bytes(contours_, points_), MemoryKind::Host);
    memory_ = context.temporary(search_->memory_bytes(), MemoryKind::Host);
    plane_begin_ = context.temporary((table_.planes() + 1) * sizeof(std::uint32_t), MemoryKind::Host);
  }

  /// The counts so far; true if the contours fit.
  bool take(const RunContext& context, const AssemblyCounts& counts) const {
    if (counts.points > std::numeric_limits<std::uint32_t>::max())
      throw Error(ExitCode::BadData, fmt::format("the contours of the frame have {} points, allowed {}",
                                                 counts.points, std::numeric_limits<std::uint32_t>::max()));
    const auto& contours = std::get<ContoursView>(context.outputs[0]);
    // What was lost is not counted, and nothing is written: who reads this must see that it did not fit.
    *contours.counts = {.points = counts.lost ? std::max(counts.points, points_ + 1) : counts.points,
                        .contours = counts.contours};
    auto& needed = *context.scratch<std::uint64_t>(needed_);
    needed = capacity_for(counts);
    return needed == 0;
  }

  EmitTarget target_of(const ContoursView& contours) const {
    return {.points = contours.points,
            .offsets = contours.offsets,
            .closed = contours.closed,
            .orientation = params_.positive_orientation};
  }

  void find_classes(const RunContext& context, const ImageView& map) const {
    const auto& contours = std::get<ContoursView>(context.outputs[0]);
    auto *scratch = context.scratch<std::byte>(scratch_), *crossings = context.scratch<std::byte>(memory_);
    marker_->mark(map, crossings, context.threads);
    context.end_part(kMarchingSquares);
    const AssemblyCounts counts = assembler_->link(map, crossings, scratch, contours_, points_);
    if (take(context, counts))
      assembler_->emit(map, crossings, scratch, contours_, points_, target_of(contours),
                       contours.class_begin);
  }

  void find_levels(const RunContext& context, const ImageView& map) const {
    const auto& contours = std::get<ContoursView>(context.outputs[0]);
    auto *scratch = context.scratch<std::byte>(scratch_), *memory = context.scratch<std::byte>(memory_);
    auto* const plane_begin = context.scratch<std::uint32_t>(plane_begin_);
    search_->read(map, {}, memory);
    AssemblyCounts counts;
    bool fits = true;
    for (int group = 0; group < search_->groups(); ++group) {
      search_->mark(group, map, memory);
      context.end_part(kMarchingSquares);
      const AssemblyCounts before = counts;
      const AssemblyCounts more = search_->link(group, memory, scratch, contours_, points_);
      counts.points += more.points;
      counts.contours += more.contours;
      counts.lost |= more.lost;
      fits = take(context, counts);  // once it is false it stays so: the frame runs again, with more room
      if (fits)
        search_->emit(group, memory, scratch, contours_, points_, before, target_of(contours),
                      plane_begin + search_->first_plane(group));
      context.end_part(kContourAssembly);
    }
    if (fits) table_.fill(plane_begin, contours);
  }

  /// 0 if everything fits.
  std::uint64_t capacity_for(const AssemblyCounts& counts) const {
    // Where the pool ran out, contours across bands have not been counted.
    return std::max(contour_capacity_needed({counts.points, counts.contours}, points_),
                    counts.lost ? 2 * points_ : std::uint64_t{0});
  }

  ContoursParams params_;
  std::uint64_t points_ = 0, contours_ = 0;
  // One level a class:
  std::unique_ptr<const SampleMarker> marker_;
  std::unique_ptr<const Assembler> assembler_;
  // Several:
  std::unique_ptr<const LevelSearch> search_;
  LevelTable table_;
  Scratch plane_begin_;
  Scratch scratch_, needed_;
  Scratch memory_;  // what is marked: crossings, or that of the search
};

}  // namespace

// The smallest maps get room for as many points; larger ones for one at every eighth sample. Busier frames
// are run again.
constexpr std::uint64_t kFewestPoints = 16384, kSamplesPerPoint = 8;
// A closed contour has five points and more, an open one at least two: on the average fewer contours than
// this.
constexpr std::uint64_t kPointsPerContour = 6, kFewestContours = 1024;

const ImageFormat& checked_map(const PlanContext& context) {
  const ImageFormat& map = context.image(0);
  if (static_cast<std::size_t>(map.channels) != context.classes().size())
    throw Error(ExitCode::BadConfig,
                fmt::format("the maps have {} channels ({}), but the graph declares {} classes; declare one "
                            "class a channel",
                            map.channels, describe(map), context.classes().size()));
  return map;
}

std::uint64_t planned_points(const PlanContext& context, const ImageFormat& map) {
  const std::uint64_t samples = static_cast<std::uint64_t>(map.width) *
                                static_cast<std::uint64_t>(map.height) *
                                static_cast<std::uint64_t>(map.channels);
  return std::min<std::uint64_t>(context.capacity(std::max(kFewestPoints, samples / kSamplesPerPoint)),
                                 std::numeric_limits<std::uint32_t>::max());
}

std::uint64_t planned_contours(std::uint64_t points) {
  return points / kPointsPerContour + kFewestContours;
}

ContoursFormat planned_output(const PlanContext& context, const ImageFormat& map, std::uint64_t points) {
  return {.width = map.width,
          .height = map.height,
          .classes = map.channels,
          .point_capacity = points,
          .contour_capacity = planned_contours(points),
          .placement = map.placement,
          .attributes = have_levels(context.classes()) ? Attributes(Attribute::Level) : Attributes()};
}

std::uint64_t contour_capacity_needed(const ContourCounts& counts, std::uint64_t points) {
  if (counts.points <= points && counts.contours <= planned_contours(points)) return 0;
  const std::uint64_t for_contours =
      counts.contours > kFewestContours ? (counts.contours - kFewestContours + 1) * kPointsPerContour : 0;
  return std::max(counts.points, for_contours);
}

const StageType& contours_stage() {
  static const StageType type{
      .name = "contours",
      .summary = "Finds contours where maps cross levels: marching_squares and contour_assembly in one.",
      .inputs = {{.name = "maps",
                  .type = PortType::Image,
                  .sentence = "Probability maps, one channel a class.",
                  .from = From::MapsOrFrame}},
      .outputs = {{.name = "contours", .type = PortType::Contours, .sentence = "Contours of all classes."}},
      .params = contours_params(),
      .example = "- type: contours\n  min_points: 8\n",
      .make_cpu = [](const ParamSet& params) -> std::unique_ptr<Stage> {
        return std::make_unique<ContoursCpu>(params.as<ContoursParams>());
      },
      .make_cuda = on_cuda<make_contours_cuda>(),
      .classes = ClassUse::Needed,
      .parts = {{"marching_squares", "Finds the cells of each class's map that the class's level crosses."},
                {"contour_assembly", "Joins crossed cells to contours with sub-pixel points."}},
  };
  return type;
}

}  // namespace contorno
