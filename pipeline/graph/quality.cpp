#include "pipeline/graph/quality.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/error.h"

namespace contorno {
namespace {

constexpr std::array<std::pair<DegradeStep, std::string_view>, 3> kDegradeWords{
    {{DegradeStep::Overlay, "overlay"}, {DegradeStep::Mip, "mip"}, {DegradeStep::Thin, "thin"}}};

/// Why a step changes nothing.
std::string_view lacking(DegradeStep step) {
  switch (step) {
    case DegradeStep::Overlay:
      return "no stage of the graph draws on its frame (overlay)";
    case DegradeStep::Mip:
      return "no stage of the graph finds contours in maps (contours)";
    case DegradeStep::Thin:
      break;
  }
  throw InternalError("this step lacks nothing");
}

/// The graph with lighter stages; nothing where it has none of those.
std::optional<GraphSpec> lighter_graph(const GraphSpec& graph, DegradeStep step, LighterStage lighter) {
  GraphSpec made = graph;
  bool any = false;
  for (NodeSpec& node : made.nodes)
    if (const StageType* const type = lighter(step, *node.type)) node.type = type, any = true;
  return any ? std::optional(std::move(made)) : std::nullopt;
}

}  // namespace

std::string_view name_of(DegradeStep step) {
  for (const auto& [one, word] : kDegradeWords)
    if (one == step) return word;
  throw InternalError("unknown step of degrade");
}

std::optional<DegradeStep> degrade_step(std::string_view word) {
  for (const auto& [step, own] : kDegradeWords)
    if (own == word) return step;
  return std::nullopt;
}

QualityLevels quality_levels(const GraphSpec& graph, const std::vector<DegradeStep>& steps,
                             LighterStage lighter) {
  QualityLevels made;
  QualityLevels::Level level;
  for (const DegradeStep step : steps) {
    level.step = step;
    if (step == DegradeStep::Thin) {
      level.thins = true;
    } else {
      const GraphSpec& before = made.graphs.empty() ? graph : made.graphs.back();
      std::optional<GraphSpec> next = lighter_graph(before, step, lighter);
      if (!next)
        throw Error(ExitCode::BadConfig,
                    fmt::format("degrade has '{}', but {}", name_of(step), lacking(step)));
      made.graphs.push_back(std::move(*next));
      level.graph = made.graphs.size();
    }
    made.levels.push_back(level);
  }
  return made;
}

}  // namespace contorno
