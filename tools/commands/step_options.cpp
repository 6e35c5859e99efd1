#include "tools/commands/step_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "config/options.h"
#include "pipeline/graph/steps.h"
#include "stages/contour_prep/stage.h"

namespace contorno {
namespace {

bool is_blank(char letter) {
  return letter == ' ' || letter == '\t' || letter == '\n';
}

/// Where the value that begins at `begin` ends: at a blank, but not in a list or in quotes that it begins
/// with.
std::size_t end_of_value(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  if (end < text.size() && (text[end] == '\'' || text[end] == '"')) {
    end = std::min(text.find(text[begin], begin + 1), text.size());
  } else if (end < text.size() && text[end] == '[') {
    for (int depth = 0; end < text.size(); ++end) {
      depth += text[end] == '[' ? 1 : text[end] == ']' ? -1 : 0;
      if (depth == 0) break;
    }
  }
  while (end < text.size() && !is_blank(text[end])) ++end;
  return end;
}

std::string without_quotes(std::string_view value) {
  const bool quoted = value.size() >= 2 && (value.front() == '\'' || value.front() == '"') &&
                      value.find(value.front(), 1) == value.size() - 1;
  return std::string(quoted ? value.substr(1, value.size() - 2) : value);
}

[[noreturn]] void refuse_word(const StageType& type, std::string_view given, std::string_view word) {
  std::vector<std::string> names;
  for (const ParamSpec& spec : type.params.specs) names.push_back(spec.name);
  throw Error(
      ExitCode::Usage,
      fmt::format("--step '{}': '{}' is not NAME=VALUE, as in 'drop_small min_points=4'; {}", given, word,
                  names.empty()
                      ? fmt::format("{} has no parameters", type.name)
                      : fmt::format("the parameters of {} are {}", type.name, fmt::join(names, ", "))));
}

/// "merge_close distance=4": the name of a step, then its parameters.
StepSpec step_of(std::string_view given, const Catalog& catalog) {
  const auto skip_blanks = [given](std::size_t at) {
    while (at < given.size() && is_blank(given[at])) ++at;
    return at;
  };
  const auto end_of_word = [given](std::size_t at) {
    while (at < given.size() && !is_blank(given[at])) ++at;
    return at;
  };
  std::size_t at = skip_blanks(0), end = end_of_word(at);
  const StageType& type = stage_called(contour_steps(), "step", given.substr(at, end - at));
  std::vector<std::pair<std::string, std::string>> settings;
  while ((at = skip_blanks(end)) < given.size()) {
    end = end_of_word(at);
    const std::size_t equals = given.find('=', at);
    if (equals == at || equals >= end) refuse_word(type, given, given.substr(at, end - at));
    end = end_of_value(given, equals + 1);
    settings.emplace_back(given.substr(at, equals - at),
                          without_quotes(given.substr(equals + 1, end - equals - 1)));
  }
  return {.type = &type,
          .params = config::params_from_text(type.params, type.name, settings, catalog.read_mask,
                                             fmt::format("--step {} ", type.name))};
}

}  // namespace

CLI::Option* add_steps(CLI::App& command, std::vector<std::string>& steps) {
  return command
      .add_option("--step", steps,
                  "A step and its parameters, 'drop_small min_points=4'; in this order. Lists and what is in "
                  "quotes may have blanks: 'exclude points=[12, 30.5] radius=3'")
      ->type_name("STEP")
      ->expected(1)
      ->take_all();
}

ParamSet params_of_steps(const std::vector<std::string>& steps, const Catalog& catalog) {
  auto specs = std::make_shared<std::vector<StepSpec>>();
  for (const std::string& step : steps) specs->push_back(step_of(step, catalog));
  ParamSet params(contour_prep_stage().params);
  params.set("steps", SharedSteps(std::move(specs)));
  return params;
}

}  // namespace contorno
