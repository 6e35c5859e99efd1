#include "stages/contours/contour_assembly.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "stages/contours/cpu/assemble.h"
#include "stages/contours/cpu/level_search.h"
#include "stages/contours/level_table.h"

namespace contorno {
namespace {

ParamDeclaration contour_assembly_params() {
  ParamList<ContourAssemblyParams> list;
  list.choice("fully_connected", &ContourAssemblyParams::fully_connected,
              {{"low", Connectivity::Low}, {"high", Connectivity::High}},
              "Which samples of a saddle cell are joined: those below or those above the level.");
  list.choice("positive_orientation", &ContourAssemblyParams::positive_orientation,
              {{"low", Orientation::Low}, {"high", Orientation::High}},
              "Contours run counter-clockwise around regions that are low, or high.");
  list.integer("min_points", &ContourAssemblyParams::min_points, 0, 1000000000, Unit::None,
               "Contours with fewer points are left out.");
  return declare(list);
}

class ContourAssemblyCpu : public Stage {
 public:
  explicit ContourAssemblyCpu(const ContourAssemblyParams& params) : params_(params) {}

  void plan(PlanContext& context) override {
    const ImageFormat& map = map_behind_crossings(context);
    const AssemblyOptions options{.fully_connected = params_.fully_connected,
                                  .positive_orientation = params_.positive_orientation,
                                  .min_points = static_cast<std::uint64_t>(params_.min_points),
                                  .scale = probability_scale(map.type),
                                  .threads = context.threads()};
    points_ = planned_points(context, map);
    contours_ = planned_contours(points_);
    search_.reset();
    assembler_.reset();
    if (have_levels(context.classes()))
      plan_levels(context, map, options);
    else
      plan_classes(context, map, options);
    needed_ = context.scratch(sizeof(std::uint64_t), MemoryKind::Host);
    context.set_output(0, planned_output(context, map, points_));
  }

  void run(const RunContext& context) const override {
    const auto& crossings = std::get<PrivateView>(context.inputs[0]);
    const ImageView& map = crossings.maker->image_in(0);
    if (search_ != nullptr)
      find_levels(context, map);
    else
      find_classes(context, map, crossings.data);
  }

  std::uint64_t overflow(const RunContext& context) const override {
    return *context.scratch<std::uint64_t>(needed_);
  }

 private:
  void plan_classes(PlanContext& context, const ImageFormat& map, const AssemblyOptions& options) {
    std::vector<double> levels;
    for (const ClassSpec& spec : context.classes()) levels.push_back(spec.level);
    assembler_ = std::make_unique<Assembler>(map, std::move(levels), options);
    scratch_ = context.scratch(assembler_->scratch_bytes(contours_, points_), MemoryKind::Host);
  }

  void plan_levels(PlanContext& context, const ImageFormat& map, const AssemblyOptions& options) {
    table_ = LevelTable(context.classes());
    search_ = std::make_unique<LevelSearch>(map, level_planes(context.classes()), options);
    scratch_ = context.scratch(search_->scratch_bytes(contours_, points_), MemoryKind::Host);
    memory_ = context.scratch(search_->memory_bytes(), MemoryKind::Host);
    plane_begin_ = context.scratch((table_.planes() + 1) * sizeof(std::uint32_t), MemoryKind::Host);
  }

  /// The counts so far; true if the contours fit.
  bool take(const RunContext& context, const AssemblyCounts& counts) const {
    if (counts.points > std::numeric_limits<std::uint32_t>::max())
      throw Error(ExitCode::BadData, fmt::format("the contours of the frame have {} points, allowed {}",
                                                 counts.points, std::numeric_limits<std::uint32_t>::max()));
    const auto& contours = std::get<ContoursView>(context.outputs[0]);
    *contours.counts = {.points = counts.points, .contours = counts.contours};
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

  void find_classes(const RunContext& context, const ImageView& map, void* crossings) const {
    const auto& contours = std::get<ContoursView>(context.outputs[0]);
    auto* scratch = context.scratch<std::byte>(scratch_);
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
      const AssemblyCounts before = counts;
      const AssemblyCounts more = search_->link(group, memory, scratch, contours_, points_);
      counts.points += more.points;
      counts.contours += more.contours;
      counts.lost |= more.lost;
      fits = take(context, counts);  // once it is false it stays so: the frame runs again, with more room
      if (fits)
        search_->emit(group, memory, scratch, contours_, points_, before, target_of(contours),
                      plane_begin + search_->first_plane(group));
    }
    if (fits) table_.fill(plane_begin, contours);
  }

  /// 0 if everything fits.
  std::uint64_t capacity_for(const AssemblyCounts& counts) const {
    // Where the pool ran out, contours across bands have not been counted.
    return std::max(contour_capacity_needed({counts.points, counts.contours}, points_),
                    counts.lost ? 2 * points_ : std::uint64_t{0});
  }

  ContourAssemblyParams params_;
  std::uint64_t points_ = 0, contours_ = 0;
  std::unique_ptr<const Assembler> assembler_;  // one level a class
  std::unique_ptr<const LevelSearch> search_;   // several
  LevelTable table_;
  Scratch scratch_, needed_, memory_, plane_begin_;
};

}  // namespace

// The smallest maps get room for as many points; larger ones for one at every eighth sample. Busier frames
// are run again.
constexpr std::uint64_t kFewestPoints = 16384, kSamplesPerPoint = 8;
// A closed contour has five points and more, an open one at least two: on the average fewer contours than
// this.
constexpr std::uint64_t kPointsPerContour = 6, kFewestContours = 1024;

const ImageFormat& map_behind_crossings(const PlanContext& context) {
  return std::get<ImageFormat>(context.input_of_maker(0, 0));
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

const StageType& contour_assembly_stage() {
  static const StageType type {
    .name = "contour_assembly", .summary = "Joins crossed cells to contours with sub-pixel points.",
    .inputs = {{.name = "crossings",
                .type = PortType::Private,
                .sentence = "Crossed cells, from marching_squares."}},
    .outputs = {{.name = "contours", .type = PortType::Contours, .sentence = "Contours of all classes."}},
    .params = contour_assembly_params(), .example = "- type: contour_assembly\n  min_points: 8\n",
    .make_cpu = [](const ParamSet& params) -> std::unique_ptr<Stage> {
      return std::make_unique<ContourAssemblyCpu>(params.as<ContourAssemblyParams>());
    },
#if CONTORNO_HAVE_CUDA
    .make_cuda = make_contour_assembly_cuda,
#endif
    .classes = ClassUse::Needed,
  };
  return type;
}

}  // namespace contorno
