#include "tools/replay/scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "config/load.h"
#include "pipeline/graph/applied.h"
#include "stages/contour_prep/close_at_border/stage.h"
#include "tools/apply_contours.h"
#include "tools/replay/compare_records.h"

namespace contorno {
namespace {

std::uint64_t pixels_of(const PixelRegion& region) {
  return static_cast<std::uint64_t>(std::count(region.in.begin(), region.in.end(), std::uint8_t{1}));
}

/// Adds the distances of the pixels of one edge to the other edge.
void add_distances(ClassScore& score, const PixelRegion& from, const PixelRegion& to) {
  const std::vector<std::int64_t> squares = squared_distances(to);
  for (std::size_t i = 0; i < from.in.size(); ++i) {
    if (from.in[i] == 0) continue;
    const double distance = std::sqrt(static_cast<double>(squares[i]));
    ++score.edge_pixels;
    score.distances += distance;
    score.farthest = std::max(score.farthest, distance);
  }
}

/// Which way round the contours of a graph run.
Orientation orientation_of_graph(const GraphSpec& graph) {
  for (const NodeSpec& node : graph.nodes)
    if (node.type->params.find("positive_orientation") != nullptr &&
        std::get<std::string>(node.params.get("positive_orientation")) == "high")
      return Orientation::High;
  return Orientation::Low;
}

class RecordScorer {
 public:
  RecordScorer(const std::filesystem::path& record, const GraphSpec& graph, const Truth& truth)
      : record_(record),
        truth_(truth),
        orientation_(orientation_of_graph(graph)),
        close_(close_at_border_stage(), params_of(orientation_), Backend::Cpu, 1) {}

  ValueScores score(const RecordedValue& value, const std::vector<std::uint64_t>& places) {
    ValueScores scores{.value = value.name, .classes = {}, .frames = {}};
    for (const std::uint64_t place : places) {
      if (!truth_.knows(place)) continue;
      scores.frames.push_back({.place = place, .classes = {}, .fault = {}});
      try {
        score_frame(value, scores);
      } catch (const Error& error) {
        scores.frames.back().fault = error.what();
      }
    }
    return scores;
  }

 private:
  static ParamSet params_of(Orientation orientation) {
    ParamSet params(close_at_border_stage().params);
    params.set("positive_orientation", std::string(orientation == Orientation::Low ? "low" : "high"));
    return params;
  }

  void score_frame(const RecordedValue& value, ValueScores& scores) {
    FrameScore& frame = scores.frames.back();
    if (std::filesystem::exists(record_ / failure_file(frame.place)))
      throw Error(ExitCode::BadData, "the frame failed");
    const ContourFrame recorded = recorded_contours(record_, frame.place, value);
    std::vector<std::string> names;
    for (const ClassSpec& spec : recorded.classes) names.push_back(spec.name);
    if (scores.classes.empty()) scores.classes = names;
    const TrueRegions truth = truth_.regions(frame.place, names);
    const Value in{recorded.view};
    apply_to(close_, {&in, 1});
    const auto& closed = std::get<ContoursView>(close_.output(0));
    for (std::size_t k = 0; k < names.size(); ++k)
      frame.classes.push_back(
          score_of(region_of_class(closed, k, orientation_, truth.unjudged.width, truth.unjudged.height),
                   truth.classes[k], truth.unjudged));
  }

  const std::filesystem::path& record_;
  const Truth& truth_;
  Orientation orientation_;
  AppliedStage close_;
};

}  // namespace

std::optional<double> ClassScore::iou() const {
  if (joined == 0) return std::nullopt;
  return static_cast<double>(intersection) / static_cast<double>(joined);
}

std::optional<double> ClassScore::mean_distance() const {
  if (edge_pixels == 0) return std::nullopt;
  return distances / static_cast<double>(edge_pixels);
}

std::optional<double> ClassScore::hausdorff() const {
  if (edge_pixels == 0) return std::nullopt;
  return farthest;
}

void ClassScore::add(const ClassScore& other) {
  intersection += other.intersection, joined += other.joined;
  found += other.found, missed += other.missed, extra += other.extra;
  edge_pixels += other.edge_pixels, distances += other.distances;
  farthest = std::max(farthest, other.farthest);
}

ClassScore score_of(PixelRegion result, PixelRegion truth, const PixelRegion& unjudged) {
  for (std::size_t i = 0; i < unjudged.in.size(); ++i)
    if (unjudged.in[i] != 0) result.in[i] = truth.in[i] = 0;
  ClassScore score;
  for (std::size_t i = 0; i < truth.in.size(); ++i) {
    score.intersection += result.in[i] & truth.in[i];
    score.joined += result.in[i] | truth.in[i];
  }
  const bool has_result = pixels_of(result) > 0, has_truth = pixels_of(truth) > 0;
  score.found = has_result && has_truth ? 1 : 0;
  score.missed = has_truth && !has_result ? 1 : 0;
  score.extra = has_result && !has_truth ? 1 : 0;
  if (score.found == 0) return score;
  const PixelRegion one = edge_of(result), other = edge_of(truth);
  add_distances(score, one, other);
  add_distances(score, other, one);
  return score;
}

std::optional<double> FrameScore::mean_iou() const {
  double sum = 0;
  int count = 0;
  for (const ClassScore& score : classes)
    if (const auto iou = score.iou()) sum += *iou, ++count;
  if (count == 0) return std::nullopt;
  return sum / count;
}

std::vector<ClassScore> ValueScores::totals() const {
  std::vector<ClassScore> totals(classes.size());
  for (const FrameScore& frame : frames)
    for (std::size_t k = 0; k < std::min(frame.classes.size(), totals.size()); ++k)
      totals[k].add(frame.classes[k]);
  return totals;
}

std::size_t ValueScores::count_faults() const {
  return static_cast<std::size_t>(std::count_if(
      frames.begin(), frames.end(), [](const FrameScore& frame) { return !frame.fault.empty(); }));
}

std::vector<const FrameScore*> ValueScores::worst() const {
  std::vector<const FrameScore*> worst;
  for (const FrameScore& frame : frames)
    if (frame.fault.empty() && frame.mean_iou()) worst.push_back(&frame);
  std::stable_sort(worst.begin(), worst.end(),
                   [](const FrameScore* a, const FrameScore* b) { return *a->mean_iou() < *b->mean_iou(); });
  return worst;
}

std::vector<ValueScores> score_record(const std::filesystem::path& record,
                                      const std::vector<std::uint64_t>& places,
                                      const std::vector<RecordedValue>& values, const GraphSpec& graph,
                                      const Truth& truth) {
  std::vector<ValueScores> scores;
  RecordScorer scorer(record, graph, truth);
  for (const RecordedValue& value : values)
    if (value.type == PortType::Contours) scores.push_back(scorer.score(value, places));
  return scores;
}

}  // namespace contorno
