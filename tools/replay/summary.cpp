#include "tools/replay/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "pipeline/shared/printable.h"

namespace contorno {
namespace {

using Json = nlohmann::ordered_json;

double largest_distance(const RecordDifference& difference) {
  double largest = 0;
  for (const FrameDifference& frame : difference.frames) largest = std::max(largest, frame.distance);
  return largest;
}

std::string frame_line(const FrameDifference& frame) {
  return fmt::format("{:>10}  {:>5} {:>5} {:>5}  {:>12.4g}  {}\n", frame.place, frame.lost, frame.added,
                     frame.moved, frame.distance, frame.first);
}

/// What changed in the graph, and which classes differ: where the reason of all else is to be looked for.
std::string reasons_text(const RecordDifference& difference) {
  constexpr std::size_t kShown = 8;
  std::string text;
  const auto more = [&](std::size_t all, std::string_view what) {
    if (all > kShown) text += fmt::format("and {} {} more\n", all - kShown, what);
  };
  for (std::size_t i = 0; i < std::min(kShown, difference.graph.size()); ++i)
    text += fmt::format("the graph is another one: {}\n", difference.graph[i]);
  more(difference.graph.size(), "differences of the graph");
  for (std::size_t i = 0; i < std::min(kShown, difference.classes.size()); ++i) {
    const auto& [value, changes, frames] = difference.classes[i];
    text += fmt::format("class '{}' of {} differs in {} frames: {}{} lost, {} added, {} moved\n",
                        printable(changes.name), value, frames,
                        changes.itself.empty() ? "" : changes.itself + "; ", changes.lost, changes.added,
                        changes.moved);
  }
  more(difference.classes.size(), "classes");
  return text;
}

/// JSON has no infinities.
Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}
Json number(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

void add_difference(Json& all, const RecordDifference& difference, double tolerance) {
  all["tolerance"] = tolerance;
  all["frames"] = {{"same", difference.count(FrameVerdict::Same)},
                   {"within", difference.count(FrameVerdict::Within)},
                   {"different", difference.count(FrameVerdict::Different)}};
  all["distance"] = number(largest_distance(difference));
  all["graph"] = difference.graph;
  all["classes"] = Json::array();
  for (const auto& [value, changes, frames] : difference.classes)
    all["classes"].push_back({{"value", value},
                              {"name", changes.name},
                              {"frames", frames},
                              {"lost", changes.lost},
                              {"added", changes.added},
                              {"moved", changes.moved},
                              {"distance", number(changes.distance)},
                              {"itself", changes.itself}});
  all["differences"] = Json::array();
  for (const FrameDifference& frame : difference.frames) {
    if (frame.verdict == FrameVerdict::Same) continue;
    all["differences"].push_back({{"frame", frame.place},
                                  {"verdict", frame.verdict == FrameVerdict::Within ? "within" : "different"},
                                  {"lost", frame.lost},
                                  {"added", frame.added},
                                  {"moved", frame.moved},
                                  {"distance", number(frame.distance)},
                                  {"pictures", frame.pictures},
                                  {"first", frame.first}});
  }
}

Json json_of(const ClassScore& score) {
  return {{"iou", number(score.iou())},
          {"mean_distance", number(score.mean_distance())},
          {"hausdorff", number(score.hausdorff())},
          {"intersection", score.intersection},
          {"union", score.joined},
          {"edge_pixels", score.edge_pixels}};
}

Json json_of(const ValueScores& value) {
  Json all = {{"value", value.value}, {"classes", Json::array()}, {"frames", Json::array()}};
  const std::vector<ClassScore> totals = value.totals();
  for (std::size_t k = 0; k < totals.size(); ++k) {
    Json one = {{"name", value.classes[k]}};
    one.update(json_of(totals[k]));
    one["found"] = totals[k].found, one["missed"] = totals[k].missed, one["extra"] = totals[k].extra;
    all["classes"].push_back(std::move(one));
  }
  for (const FrameScore& frame : value.frames) {
    Json one = {{"frame", frame.place}};
    if (!frame.fault.empty()) {
      one["fault"] = frame.fault;
    } else {
      one["mean_iou"] = number(frame.mean_iou());
      one["classes"] = Json::array();
      for (const ClassScore& score : frame.classes) one["classes"].push_back(json_of(score));
    }
    all["frames"].push_back(std::move(one));
  }
  return all;
}

std::string figure(const std::optional<double>& value) {
  return value ? fmt::format("{:.4g}", *value) : "-";
}

}  // namespace

std::string difference_text(const RecordDifference& difference, double tolerance, std::size_t most) {
  std::string text =
      fmt::format("{} frames compared: {} same, {} within {} px, {} different\n", difference.frames.size(),
                  difference.count(FrameVerdict::Same), difference.count(FrameVerdict::Within), tolerance,
                  difference.count(FrameVerdict::Different));
  text += reasons_text(difference);
  const auto differs = [](const FrameDifference& frame) { return frame.verdict != FrameVerdict::Same; };
  const auto first = std::find_if(difference.frames.begin(), difference.frames.end(), differs);
  if (first == difference.frames.end()) return text;
  text += fmt::format("first difference: frame {}: {}\n", first->place, first->first);
  text += fmt::format("largest distance of a contour: {:.4g} px\n", largest_distance(difference));
  text += fmt::format("{:>10}  {:>5} {:>5} {:>5}  {:>12}  {}\n", "worst", "lost", "added", "moved",
                      "distance, px", "first difference");
  const std::vector<const FrameDifference*> worst = difference.worst();
  for (std::size_t i = 0; i < std::min(most, worst.size()); ++i) text += frame_line(*worst[i]);
  if (worst.size() > most) text += fmt::format("and {} frames more\n", worst.size() - most);
  return text;
}

std::string score_text(const std::vector<ValueScores>& scores) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (const ValueScores& value : scores) {
    text += fmt::format("{}: {} frames with truth{}\n", value.value, value.frames.size(),
                        value.count_faults() > 0
                            ? fmt::format(", of which {} could not be scored", value.count_faults())
                            : "");
    text += fmt::format("{:>20}  {:>7} {:>14} {:>14}  {:>6} {:>6} {:>6}\n", "class", "IoU", "mean, px",
                        "Hausdorff, px", "found", "missed", "extra");
    const std::vector<ClassScore> totals = value.totals();
    for (std::size_t k = 0; k < totals.size(); ++k)
      text += fmt::format("{:>20}  {:>7} {:>14} {:>14}  {:>6} {:>6} {:>6}\n", printable(value.classes[k]),
                          figure(totals[k].iou()), figure(totals[k].mean_distance()),
                          figure(totals[k].hausdorff()), totals[k].found, totals[k].missed, totals[k].extra);
    const std::vector<const FrameScore*> worst = value.worst();
    for (std::size_t i = 0; i < std::min(kShown, worst.size()); ++i)
      text += fmt::format("{}frame {} ({})", i == 0 ? "smallest mean IoU: " : ", ", worst[i]->place,
                          figure(worst[i]->mean_iou()));
    if (!worst.empty()) text += "\n";
    for (const FrameScore& frame : value.frames)
      if (!frame.fault.empty())
        text += fmt::format("not scored: frame {}: {}\n", frame.place, printable_sentence(frame.fault));
  }
  return text;
}

std::string report_json(const RecordDifference* difference, double tolerance,
                        const std::vector<ValueScores>& scores,
                        const std::vector<ScoreLimit::Answer>& limits) {
  Json all = {{"version", 1}};
  if (difference != nullptr) add_difference(all, *difference, tolerance);
  if (!scores.empty()) {
    all["scores"] = Json::array();
    for (const ValueScores& value : scores) all["scores"].push_back(json_of(value));
  }
  for (const ScoreLimit::Answer& answer : limits)
    all["assertions"].push_back({{"held", answer.held}, {"sentence", answer.sentence}});
  return all.dump(2) + "\n";
}

}  // namespace contorno
