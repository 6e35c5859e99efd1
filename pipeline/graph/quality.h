// Levels of quality: what a graph becomes, step by step, where a run does with less instead of dropping
// frames. A pure function of the graph; pipeline/run/degrade.h decides when which level is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "pipeline/graph/graph.h"

namespace contorno {

/// What a graph can do without.
enum class DegradeStep : std::uint8_t {
  Overlay,  ///< nothing is drawn
  Mip,      ///< contours are those of the next mipmap level of their maps
  Thin,     ///< every second frame is dropped
};
std::string_view name_of(DegradeStep step);
/// The step that a word means, or nothing.
std::optional<DegradeStep> degrade_step(std::string_view word);

/// The stage that takes the place of another one at a step: with the same ports, parameters and parts, the
/// same formats of what it makes, and the same state. Null: the other one stays as it is.
using LighterStage = const StageType* (*)(DegradeStep step, const StageType& type);

/// The levels below full quality, each with all steps up to its own.
struct QualityLevels {
  struct Level {
    DegradeStep step = DegradeStep::Overlay;
    std::size_t graph = 0;  ///< 0: the graph at full quality; else one more than its place in `graphs`
    bool thins = false;     ///< every second frame is dropped
  };
  std::vector<GraphSpec> graphs;
  std::vector<Level> levels;  ///< level 1, 2, ..
};

/// `graph` is bound to its source. Nodes keep their numbers and names, so that whoever reads a value reads it
/// at every level. Throws Error(BadConfig) for a step that changes nothing.
QualityLevels quality_levels(const GraphSpec& graph, const std::vector<DegradeStep>& steps,
                             LighterStage lighter);

}  // namespace contorno
