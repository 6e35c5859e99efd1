// How long each step on contours takes on CUDA for contours that are made to be slow to work on, and how that
// grows: what counted operations say of the CPU (steps_growth_test.cpp), here by the device's clock.
//   contour_growth_gpu [cpu|cuda] [POINTS... | STEP...]     (default: cuda 6000 24000 96000, all steps)
// Prints a line for each step and family whose slowest time is over 0.2 ms, or that is refused: milliseconds
// for each number of points, and how many times longer the last one takes than the one before. Where a step
// refuses: "refused". What takes 100 ms is not tried with more points.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "pipeline/graph/graph.h"
#include "pipeline/graph/planned.h"
#include "stages/contour_prep/stage.h"
#include "tests/stages/contour_prep/slow_contours.h"

namespace contorno {
namespace {

constexpr double kShown_ms = 0.2, kMost_ms = 100;
constexpr int kRuns = 3;

void copy(const ContoursView& from, const ContoursView& to) {
  *to.counts = *from.counts;
  std::copy_n(from.points, from.counts->points, to.points);
  std::copy_n(from.offsets, from.counts->contours + 1, to.offsets);
  std::copy_n(from.closed, from.counts->contours, to.closed);
  std::copy_n(from.class_begin, 2, to.class_begin);
}

/// Of the fastest of some frames behind the first two; below 0 where the step refuses them. Throws every
/// other Error.
double milliseconds(const StageType& step, const ParamSet& params,
                    const std::vector<test::TestContour>& contours, Backend backend) {
  const test::TestContours given(test::kSlowSide, test::kSlowSide, 1, contours);
  GraphSpec graph;
  graph.nodes.push_back(
      {.name = step.name, .type = &step, .params = params, .inputs = {{Origin::kSource, 0}}});
  Capacities capacities(1);
  PlannedGraph planned({.graph = &graph,
                        .backend = backend,
                        .probe_every = kEveryFrame,
                        .threads = 1,
                        .capacities = &capacities,
                        .exports = {{0, 0}}});
  try {
    planned.plan({{given.view.format}, "growth"});
    copy(given.view, std::get<ContoursView>(planned.source_value(0)));
    double best = HUGE_VAL;
    for (int run = 0; run < kRuns + 2; ++run) {
      do planned.launch(), planned.wait();
      while (planned.overflowed());
      const PartTimes& parts = *planned.times();
      if (run >= 2)
        best = std::min(best, static_cast<double>(parts.part_ns.at(0) - parts.uploaded_ns) * 1e-6);
    }
    return best;
  } catch (const Error& error) {
    if (error.code() != ExitCode::BadData) throw;
    return -1;
  }
}

struct Case {
  const char* step;
  test::Settings settings;
};

std::vector<test::Settings> settings_of(const std::string& step) {
  const std::vector<Case> cases{{"order_nearest", {{"order", std::string("endpoint")}}},
                                {"order_nearest", {{"order", std::string("2opt")}}},
                                {"simplify", {{"method", std::string("visvalingam")}}},
                                {"simplify", {{"tolerance", 0.0}}},
                                {"drop_duplicates", {{"rule", std::string("any_earlier")}}},
                                {"merge_close", {{"distance", 0.001}}}};
  std::vector<test::Settings> all{{}};
  for (const Case& one : cases)
    if (one.step == step) all.push_back(one.settings);
  return all;
}

void show(const StageType& step, const test::Settings& settings, const test::SlowContours& family,
          Backend backend, const std::vector<int>& points) {
  ParamSet params(step.params);
  for (const auto& [name, value] : settings) params.set(name, value);
  if (!why_not_on(backend, step, params).empty()) return;
  std::vector<double> times;
  for (const int count : points)
    if (times.empty() || times.back() < kMost_ms)
      times.push_back(milliseconds(step, params, family.make(count), backend));
  const bool refused = std::ranges::any_of(times, [](double ms) { return ms < 0; });
  if (!refused && *std::ranges::max_element(times) < kShown_ms) return;
  std::string text = step.name;
  for (const auto& [name, value] : settings) text += " " + name + " " + to_text(value);
  std::printf("%-34.34s %-40.40s", text.c_str(), family.name.c_str());
  for (const double ms : times) ms < 0 ? std::printf("    refused") : std::printf(" %10.3f", ms);
  if (times.size() > 1 && times.back() > 0 && times[times.size() - 2] > 0)
    std::printf("   %5.1fx", times.back() / times[times.size() - 2]);
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace
}  // namespace contorno

int main(int argc, char** argv) try {
  using namespace contorno;
  Backend backend = Backend::Cuda;
  std::vector<int> points;
  std::vector<std::string> steps;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "cpu" || word == "cuda")
      backend = word == "cpu" ? Backend::Cpu : Backend::Cuda;
    else if (std::isdigit(static_cast<unsigned char>(word[0])) != 0)
      points.push_back(std::stoi(word));
    else if (std::ranges::any_of(contour_steps(), [&](const StageType* step) { return step->name == word; }))
      steps.push_back(word);
    else
      throw Error(ExitCode::Usage, "there is no step '" + word + "'");
  }
  if (points.empty()) points = {6000, 24000, 96000};
  for (const StageType* step : contour_steps()) {
    if (step->inputs.size() != 1) continue;  // measure_map reads a map too
    if (!steps.empty() && std::ranges::find(steps, step->name) == steps.end()) continue;
    for (const test::Settings& settings : settings_of(step->name))
      for (const test::SlowContours& family : test::slow_contours())
        show(*step, settings, family, backend, points);
  }
  return 0;
} catch (const contorno::Error& error) {
  std::fprintf(stderr, "contour_growth_gpu: %s\n", error.what());
  return static_cast<int>(error.code());
}
