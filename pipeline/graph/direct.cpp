#include "pipeline/graph/direct.h"

#include <algorithm>

#include "base/error.h"
#include "pipeline/graph/applied.h"
#include "pipeline/graph/planned.h"
#include "pipeline/shared/threads.h"
#include "pipeline/value/sides.h"

namespace contorno {

DirectStage::DirectStage(const StageType& type, const ParamSet& params, Backend backend, int threads,
                         std::vector<ClassSpec> classes)
    : type_(type), graph_(graph_of(type, params)) {
  graph_.classes = std::move(classes);
  if (graph_.nodes.size() == 1) graph_.nodes[0].name.clear();  // messages begin with that of the stage
  capacities_ = std::make_unique<Capacities>(graph_.nodes.size());
  planned_ = std::make_unique<PlannedGraph>(PlanEnvironment{.graph = &graph_,
                                                            .backend = backend,
                                                            .probe_every = kNoFrame,
                                                            .threads = decided_threads(threads),
                                                            .capacities = capacities_.get(),
                                                            .outside = true});
}

DirectStage::~DirectStage() = default;

void DirectStage::plan(std::span<const Format> inputs, void* stream) {
  check_input_count(type_, inputs.size());
  const bool same = std::equal(inputs.begin(), inputs.end(), inputs_.begin(), inputs_.end());
  if (ready_ && same) return;
  ready_ = false;
  for (const Format& input : inputs)
    if (const auto* image = std::get_if<ImageFormat>(&input)) check_sides(*image, "an input");
  if (!same) capacities_->forget();
  inputs_.assign(inputs.begin(), inputs.end());
  planned_->plan_between({inputs_, "what was given"}, stream);
  outputs_.clear();
  for (std::size_t port = 0; port < type_.outputs.size(); ++port)
    outputs_.push_back(planned_->format(output(port)));
  ready_ = true;
}

Origin DirectStage::output(std::size_t port) const {
  return {static_cast<int>(graph_.nodes.size()) - 1, static_cast<int>(port)};
}

void DirectStage::set_frame(std::uint64_t number) {
  planned_->input().info.number = number;
}

void DirectStage::begin_anew() {
  planned_->states().begin_with({});
}

bool DirectStage::has_state() const {
  return !planned_->states().empty();
}

void DirectStage::enqueue(std::span<const Value> inputs, std::span<const Value> outputs, void* stream) {
  planned_->enqueue(inputs, outputs, stream);
}

bool DirectStage::overflowed() {
  if (!planned_->overflowed()) return false;
  ready_ = false;
  return true;
}

const ContourCounts& DirectStage::counts(std::size_t port) const {
  return *std::get<ContoursView>(planned_->value(output(port))).counts;
}

const std::uint32_t* DirectStage::selection() const {
  return planned_->selection();
}

std::span<const TrackCounts> DirectStage::track_counts() const {
  for (std::size_t node = graph_.nodes.size(); node-- > 0;)
    if (const auto counts = planned_->track_counts(node); !counts.empty()) return counts;
  return {};
}

}  // namespace contorno
