// Stages on contours one by one, between contours that are made here and the host, for bench_contour_prep:
// what a stage takes alone, on CUDA inside the captured graph of a frame, without the copies of its contours.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/graph/graph.h"
#include "pipeline/graph/planned.h"

namespace contorno {

/// Contours of one class, each with as many points as the others.
struct MadeContours {
  std::uint32_t contours = 0, points = 0;  ///< stored points of each
  bool closed = false;
  std::vector<Point> stored;
};

/// Closed contours with five bays each and noise of 0.3 px; `points` own ones each.
inline MadeContours made_rings(std::uint32_t contours, std::uint32_t points) {
  MadeContours rings{.contours = contours, .points = points + 1, .closed = true, .stored = {}};
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 0.3);
  for (std::uint32_t c = 0; c < contours; ++c) {
    for (std::uint32_t i = 0; i < points; ++i) {
      const double angle = 6.283185307179586 * i / points;
      const double radius = points / 6.283185307179586 * (1 + 0.2 * std::sin(5 * angle)) + noise(random);
      rings.stored.push_back({static_cast<float>(2000 + radius * std::sin(angle)),
                              static_cast<float>(2000 + radius * std::cos(angle))});
    }
    rings.stored.push_back(rings.stored[rings.stored.size() - points]);
  }
  return rings;
}

/// The sides of a map with one point in 40 px^2.
inline double side_for(std::uint32_t points) {
  return std::sqrt(40.0 * points);
}

/// Open circles of 100 points that are 0.6 to 1.4 px apart, on such a map.
inline MadeContours made_circles(std::uint32_t contours) {
  constexpr std::uint32_t kEach = 100;
  MadeContours circles{.contours = contours, .points = kEach, .stored = {}};
  std::mt19937 random(1);
  std::uniform_real_distribution<double> place(0, side_for(contours * kEach)), scale(0.6, 1.4);
  for (std::uint32_t c = 0; c < contours; ++c) {
    const double row = place(random), col = place(random);
    const double radius = kEach / 6.283185307179586 * scale(random);
    for (std::uint32_t i = 0; i < kEach; ++i) {
      const double angle = 6.283185307179586 * i / kEach;
      circles.stored.push_back({static_cast<float>(row + radius * std::sin(angle)),
                                static_cast<float>(col + radius * std::cos(angle))});
    }
  }
  return circles;
}

/// A stage with the parameters that are not at their defaults.
struct StageCase {
  const StageType* type = nullptr;
  std::vector<std::pair<std::string, ParamValue>> settings;

  ParamSet params() const {
    ParamSet params(type->params);
    for (const auto& [name, value] : settings) params.set(name, value);
    return params;
  }
  std::string text() const {
    std::string text = type->name;
    for (const auto& [name, value] : settings)
      text.append(" ").append(name).append(" ").append(to_text(value));
    return text;
  }
};

/// One stage on contours, or a list of steps.
class StageBench {
 public:
  StageBench(const StageCase& stage, const MadeContours& made, Backend backend, int threads)
      : graph_(graph_of(*stage.type, stage.params())), capacities_(graph_.nodes.size()) {
    planned_ = std::make_unique<PlannedGraph>(PlanEnvironment{.graph = &graph_,
                                                              .backend = backend,
                                                              .probe_every = kEveryFrame,
                                                              .threads = threads,
                                                              .capacities = &capacities_,
                                                              .exports = {last()}});
    planned_->plan({{ContoursFormat{.width = 4096,
                                    .height = 4096,
                                    .classes = 1,
                                    .point_capacity = made.stored.size(),
                                    .contour_capacity = made.contours}},
                    "bench"});
    fill(std::get<ContoursView>(planned_->source_value(0)), made);
    do run();
    while (planned_->overflowed());
  }

  const ContoursView& output() const { return std::get<ContoursView>(planned_->value(last())); }
  /// The least and the median of `times` runs.
  std::pair<double, double> seconds(int times) {
    std::vector<double> all;
    for (int i = 0; i < times; ++i) {
      run();
      const PartTimes& parts = *planned_->times();
      all.push_back(static_cast<double>(parts.part_ns.back() - parts.uploaded_ns) * 1e-9);
    }
    std::sort(all.begin(), all.end());
    return {all.front(), all[all.size() / 2]};
  }

 private:
  Origin last() const { return {static_cast<int>(graph_.nodes.size()) - 1, 0}; }
  static void fill(const ContoursView& in, const MadeContours& made) {
    *in.counts = {made.stored.size(), made.contours};
    std::copy(made.stored.begin(), made.stored.end(), in.points);
    for (std::uint32_t i = 0; i <= made.contours; ++i) in.offsets[i] = i * made.points;
    std::fill_n(in.closed, made.contours, static_cast<std::uint8_t>(made.closed ? 1 : 0));
    in.class_begin[0] = 0, in.class_begin[1] = made.contours;
  }
  void run() {
    planned_->launch();
    planned_->wait();
  }

  GraphSpec graph_;
  Capacities capacities_;
  std::unique_ptr<PlannedGraph> planned_;
};

}  // namespace contorno
