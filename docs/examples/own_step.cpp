// Steps of one's own on contours: one that looks at a contour alone, and one that looks at the maps as well.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <span>

#include <contorno/base/error.h>
#include <contorno/config/load.h>
#include <contorno/geometry/contour_loop.h>
#include <contorno/geometry/contour_size.h>
#include <contorno/pipeline/graph/applied.h>
#include <contorno/pipeline/run/runner.h>
#include <contorno/plugins/catalog.h>
#include <contorno/stages/contour_prep/shared/on_host.h>
#include <contorno/stages/contour_prep/shared/outputs.h>
#include <contorno/stages/contour_prep/stage.h>
#include <contorno/stages/shared/map_value.h>

namespace {

struct DropOpenParams {
  double min_length = 10;
};

/// Which contours stay. `size_in_units` adds integers, so that every team gets the same bits.
struct DropOpen {
  using Params = DropOpenParams;
  static constexpr const char* kName = "drop_open";
  static constexpr contorno::Gives kGives = contorno::Gives::Choice;
  static constexpr contorno::ContourTeams kTeams{};

  explicit DropOpen(const Params& params)
      : length(static_cast<std::uint64_t>(std::llround(params.min_length * contorno::kSizeUnits))) {}

  CONTORNO_FOR_TEAMS
  template <class Team>
  CONTORNO_HD bool operator()(const Team& team, const contorno::ContoursView& in,
                              std::uint32_t contour) const {
    return in.closed[contour] != 0 ||
           contorno::size_in_units(team, contorno::ContourSize::Length, in, contour) >= length;
  }

  std::uint64_t length = 0;
};

const contorno::StageType& drop_open_stage() {
  static const contorno::StageType type =
      contorno::contour_step({.name = DropOpen::kName,
                              .summary = "Leaves out open contours that are short.",
                              .gives = "The closed ones and those that are long enough, in their order.",
                              .params = contorno::declare(contorno::ParamList<DropOpenParams>().number(
                                  "min_length", &DropOpenParams::min_length, 0, 1e9, contorno::Unit::Pixels,
                                  "Shorter open contours are left out.")),
                              .example = "- type: drop_open\n  min_length: 4\n",
                              .make_cpu = contorno::make_per_contour<DropOpen, contorno::OnHost>});
  return type;
}

struct DropFaintParams {
  double least = 0.6;
};

/// Looks at the map where the middle of a contour's points is.
class DropFaint final : public contorno::Stage {
 public:
  explicit DropFaint(const DropFaintParams& params) : least_(params.least) {}

  void plan(contorno::PlanContext& context) override {
    const auto& in = std::get<contorno::ContoursFormat>(context.input(0));
    const contorno::ImageFormat& maps = context.image(1);
    if (maps.width != in.width || maps.height != in.height || maps.channels != in.classes)
      throw contorno::Error(contorno::ExitCode::BadConfig,
                            "drop_faint: the maps are " + describe(maps) + ", and not those of the contours");
    choice_.plan(context, in);
    context.set_output(0, in);
  }

  void run(const contorno::RunContext& context) const override {
    const auto& in = std::get<contorno::ContoursView>(context.inputs[0]);
    if (in.fits()) choose(in, context.image_in(1), context.threads, choice_.chosen(context));
    choice_.write(context);
  }
  std::optional<contorno::Scratch> selection() const override { return choice_.sources(); }

 private:
  void choose(const contorno::ContoursView& in, const contorno::ImageView& maps, int threads,
              std::uint8_t* chosen) const {
    for (int k = 0; k < in.format.classes; ++k) {
      const std::uint32_t first = in.class_begin[k], end = in.class_begin[k + 1];
      contorno::for_contours(threads, end - first, [&](std::uint32_t i) {
        chosen[first + i] = in_the_middle(maps, k, in.contour(first + i)) >= least_ ? 1 : 0;
      });
    }
  }
  static double in_the_middle(const contorno::ImageView& maps, int k,
                              std::span<const contorno::Point> points) {
    double row = 0, col = 0;
    for (const contorno::Point& point : points)
      row += static_cast<double>(point.row), col += static_cast<double>(point.col);
    row = std::round(row / static_cast<double>(points.size()));
    col = std::round(col / static_cast<double>(points.size()));
    const bool inside = row >= 0 && row < maps.format.height && col >= 0 && col < maps.format.width;
    if (!inside) return 0;  // NaN, too
    return map_value(maps, k, static_cast<int>(row), static_cast<int>(col),
                     contorno::probability_scale(maps.format.type));
  }

  double least_;
  contorno::HostChoice choice_;
};

const contorno::StageType& drop_faint_stage() {
  static const contorno::StageType type = [] {
    contorno::StageType made =
        contorno::contour_step({.name = "drop_faint",
                                .summary = "Leaves out contours in whose middle the map is low.",
                                .gives = "Those that stay, in their order.",
                                .params = contorno::declare(contorno::ParamList<DropFaintParams>().number(
                                    "least", &DropFaintParams::least, 0, 1, contorno::Unit::Fraction,
                                    "Contours with less in their middle are left out.")),
                                .example = "- type: drop_faint\n  least: 0.9\n",
                                .make_cpu = contorno::make_step<DropFaint, DropFaintParams>});
    made.inputs.push_back({.name = "maps",
                           .sentence = "The maps that the contours are of, one channel a class.",
                           .from = contorno::From::MapsOrFrame});
    return made;
  }();
  return type;
}

/// The steps of contorno, and these.
const contorno::StepTypes& steps() {
  static const contorno::StepTypes all = [] {
    contorno::StepTypes list = contorno::contour_steps();
    list.insert(list.end(), {&drop_open_stage(), &drop_faint_stage()});
    return list;
  }();
  return all;
}

/// All that contorno has; contour_prep takes all of these steps, each of which is a stage as well.
const contorno::Catalog& catalog() {
  static const contorno::StageType contour_prep = contorno::contour_prep_with(steps);
  static const contorno::Catalog all = [] {
    contorno::Catalog mine = contorno::full_catalog();
    std::ranges::replace(mine.stages, &contorno::contour_prep_stage(), &contour_prep);
    mine.stages.insert(mine.stages.end(), {&drop_open_stage(), &drop_faint_stage()});
    return mine;
  }();
  return all;
}

const char* const kGraph = R"(
source: {type: synthetic, classes: 3, frames: 5}
classes: auto
stages:
  - marching_squares
  - contour_assembly
  - {type: contour_prep, steps: [{type: drop_open, min_length: 8}, drop_faint, largest_first]}
)";

void run_graph() {
  contorno::GraphSpec graph = contorno::config::load_graph_text(kGraph, "the graph", catalog());
  const auto [source, notice] = contorno::config::open_source(graph);
  contorno::Runner runner(graph, *source, {}, {.backend = contorno::Backend::Cpu});
  const contorno::RunReport report = runner.run();
  for (const contorno::ClassCounts& one : report.classes)
    std::printf("%s: %d contours\n", one.name.c_str(), static_cast<int>(one.contours));
}

/// Two open contours of 2 and of 7 px.
void apply() {
  contorno::ParamSet params(drop_open_stage().params);
  params.set("min_length", 4.0);
  contorno::AppliedStage stage(drop_open_stage(), params, contorno::Backend::Cpu, 2);
  const std::array<contorno::Format, 1> formats{contorno::ContoursFormat{
      .width = 20, .height = 20, .classes = 1, .point_capacity = 5, .contour_capacity = 2}};
  stage.plan(formats);
  const auto& in = std::get<contorno::ContoursView>(stage.input(0));
  const std::array<contorno::Point, 5> points{{{1, 1}, {1, 2}, {1, 3}, {5, 1}, {5, 8}}};
  std::ranges::copy(points, in.points);
  std::ranges::copy(std::array{0U, 3U, 5U}, in.offsets);  // points 0 to 2, 3 to 4
  std::ranges::copy(std::array{0U, 2U}, in.class_begin);  // contours 0 to 1 of the only class
  in.closed[0] = in.closed[1] = 0;
  *in.counts = {.points = points.size(), .contours = 2};
  stage.run();
  const auto& out = std::get<contorno::ContoursView>(stage.output(0));
  std::printf("%d of 2 contours stay\n", static_cast<int>(out.counts->contours));
}

}  // namespace

int main() {
  try {
    apply();
    run_graph();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
