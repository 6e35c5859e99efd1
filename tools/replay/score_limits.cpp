#include "tools/replay/score_limits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "pipeline/graph/param.h"
#include "pipeline/shared/printable.h"

namespace contorno {
namespace {

struct Figure {
  std::string_view name, shown;
  std::optional<double> (*of)(const ClassScore& score);
};
constexpr std::array<Figure, 6> kFigures{{
    {"iou", "IoU", [](const ClassScore& score) { return score.iou(); }},
    {"mean_distance", "mean distance, px,", [](const ClassScore& score) { return score.mean_distance(); }},
    {"hausdorff", "Hausdorff distance, px,", [](const ClassScore& score) { return score.hausdorff(); }},
    {"found", "frames found",
     [](const ClassScore& score) { return std::optional(static_cast<double>(score.found)); }},
    {"missed", "frames missed",
     [](const ClassScore& score) { return std::optional(static_cast<double>(score.missed)); }},
    {"extra", "frames extra",
     [](const ClassScore& score) { return std::optional(static_cast<double>(score.extra)); }},
}};
constexpr std::string_view kAllowedLimits =
    "wanted FIGURE>=LIMIT or CLASS.FIGURE>=LIMIT with iou, mean_distance, hausdorff, found, missed or extra, "
    "and one of < <= == >= >, as iou>=0.9 or rot.hausdorff<3";

const Figure* figure_called(std::string_view name) {
  const auto at = std::find_if(kFigures.begin(), kFigures.end(),
                               [&](const Figure& figure) { return figure.name == name; });
  return at != kFigures.end() ? &*at : nullptr;
}

}  // namespace

ScoreLimit::ScoreLimit(const std::string& text, const std::vector<std::string>& classes) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ExitCode::Usage, fmt::format("--assert '{}': {}", printable(text), why));
  };
  const std::optional<Condition> parts = Condition::from(text);
  if (!parts) refuse(std::string(kAllowedLimits));
  condition_ = *parts;
  const std::size_t dot = parts->figure.rfind('.');  // names of classes may have some
  figure_ = dot == std::string::npos ? parts->figure : parts->figure.substr(dot + 1);
  if (dot != std::string::npos) class_ = parts->figure.substr(0, dot);
  if (figure_called(figure_) == nullptr) refuse(std::string(kAllowedLimits));
  if (dot != std::string::npos && std::find(classes.begin(), classes.end(), class_) == classes.end()) {
    const std::string near = nearest(class_, classes);
    refuse(fmt::format("there is no class '{}'{}; classes: {}", printable(class_),
                       near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near),
                       fmt::join(classes, ", ")));
  }
  const std::optional<PlainLimit> limit = plain_limit_from(parts->limit);
  const bool is_iou = figure_ == "iou";
  if (!limit || (is_iou ? limit->value > 1 : limit->is_share))
    refuse(fmt::format(
        "'{}' is no limit of {}, wanted {}", printable(parts->limit), figure_,
        is_iou ? "a number from 0 to 1, or a share such as 90%" : "a number of at least 0 without a unit"));
  limit_ = limit->value;
}

std::vector<ScoreLimit::Answer> ScoreLimit::check(const std::vector<ValueScores>& scores) const {
  const Figure& figure = *figure_called(figure_);
  std::vector<Answer> answers;
  for (const ValueScores& value : scores) {
    const std::vector<ClassScore> totals = value.totals();
    for (std::size_t k = 0; k < totals.size(); ++k) {
      if (!class_.empty() && value.classes[k] != class_) continue;
      const std::optional<double> found = figure.of(totals[k]);
      if (!found && class_.empty()) continue;
      const bool held = found && condition_.holds(*found, limit_);
      std::string sentence = fmt::format("class '{}'", printable(value.classes[k]));
      if (scores.size() > 1) sentence += fmt::format(" of {}", value.value);
      sentence +=
          found ? fmt::format(": {} {:.6g}, {}{} {}", figure.shown, *found, held ? "" : "not ", condition_.op,
                              condition_.limit)
                : fmt::format(": {} is not defined, as no frame has the class in {}; wanted {} {}",
                              figure.shown,
                              figure_ == "iou" ? "its result or its truth" : "both its result and its truth",
                              condition_.op, condition_.limit);
      answers.push_back({held, std::move(sentence)});
    }
  }
  if (answers.empty())
    answers.push_back({false, fmt::format("{}: no class has this score", condition_.text)});
  return answers;
}

std::vector<ScoreLimit::Answer> check_scores(const std::vector<ScoreLimit>& limits,
                                             const std::vector<ValueScores>& scores) {
  std::vector<ScoreLimit::Answer> all;
  for (const ScoreLimit& limit : limits) {
    std::vector<ScoreLimit::Answer> answers = limit.check(scores);
    std::move(answers.begin(), answers.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace contorno
