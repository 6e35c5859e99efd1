// Lists of steps: the value of a parameter that is made of stages.
#include <fmt/format.h>

#include "config/node_type.h"
#include "pipeline/graph/steps.h"

namespace contorno::config {
namespace {

std::optional<StepSpec> read_step(const YamlNode& item, const StepTypes& types, const std::string& what,
                                  Problems& problems, const MaskReader& read_mask) {
  if (!expect_map(item, what, problems)) return std::nullopt;
  const StageType* type = read_type(item, types, "step", problems);
  if (type == nullptr) return std::nullopt;
  StepSpec step{.type = type, .params = ParamSet(type->params)};
  const std::size_t before = problems.size();
  read_params(item, {"type"}, fmt::format("{} '{}'", what, type->name), item.place, step.params, problems,
              read_mask);
  return problems.size() == before ? std::optional(std::move(step)) : std::nullopt;
}

}  // namespace

std::optional<ParamValue> read_steps(const YamlNode& value, const ParamSpec& spec, const std::string& what,
                                     Problems& problems, const MaskReader& read_mask) {
  const auto items = read_list(value, what, spec.allowed(), problems);
  if (!items) return std::nullopt;
  if (items->empty() || items->size() > kMaxNodes) {
    problems.add(value.place,
                 fmt::format("{} is a list of {}, allowed 1 to {} steps", what, items->size(), kMaxNodes));
    return std::nullopt;
  }
  auto steps = std::make_shared<std::vector<StepSpec>>();
  for (YamlNode item : *items) {
    expand_type(item);
    if (auto step = read_step(item, spec.step_types(), fmt::format("{}[{}]", what, steps->size()), problems,
                              read_mask))
      steps->push_back(std::move(*step));
  }
  if (steps->size() != items->size()) return std::nullopt;
  return SharedSteps(std::move(steps));
}

}  // namespace contorno::config
