// The contorno side of tools/bench/contour-prep: reads commands from standard input, one a line, and answers
// each with a line, so that it can be timed in turns with other programs.
//   load FILE CONTOURS POINTS THREADS BACKEND   float32 x, y; as many contours of as many points each
//   run STAGE TIMES [NAME VALUE]...     seconds of each run; then the points and contours that come out
//   made BACKEND                        a table of made contours, for a machine without Python: the stages
//   alone
// BACKEND is cpu or cuda, where contours of `run` come from the host and go back there; VALUE a number or a
// word. Contours whose last point is their first are closed.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "cuda/memory.h"
#include "pipeline/graph/applied.h"
#include "pipeline/graph/graph.h"
#include "pipeline/graph/planned.h"
#include "stages/catalog.h"
#include "tools/bench/commands.h"

namespace contorno {
namespace {

using Clock = std::chrono::steady_clock;

class Bench {
 public:
  Bench(const std::string& file, std::uint32_t contours, std::uint32_t each, int threads, Backend backend)
      : contours_(contours),
        each_(each),
        threads_(threads),
        backend_(backend),
        points_(std::size_t{contours} * each) {
    std::ifstream in(file, std::ios::binary);
    std::vector<float> numbers(2 * points_.size());
    in.read(reinterpret_cast<char*>(numbers.data()),
            static_cast<std::streamsize>(numbers.size() * sizeof(float)));
    if (!in) throw std::runtime_error("cannot read " + file);
    for (std::size_t i = 0; i < points_.size(); ++i)
      points_[i] = {.row = numbers[2 * i + 1], .col = numbers[2 * i]};
  }

  /// A first run is not counted.
  void run(const StageType& type, ParamSet params, int times) const {
    AppliedStage stage(type, std::move(params), backend_, threads_);
    const Format format = ContoursFormat{.width = 1,
                                         .height = 1,
                                         .classes = 1,
                                         .point_capacity = points_.size(),
                                         .contour_capacity = contours_};
    stage.plan(std::span(&format, 1));
    fill(std::get<ContoursView>(stage.input(0)));
    for (int time = 0; time <= times; ++time) {
      const auto start = Clock::now();
      stage.run();
      if (time > 0) std::cout << std::chrono::duration<double>(Clock::now() - start).count() << ' ';
    }
    const ContourCounts& counts = *std::get<ContoursView>(stage.output(0)).counts;
    std::cout << counts.points << ' ' << counts.contours;
  }

 private:
  void fill(const ContoursView& view) const {
    *view.counts = {.points = points_.size(), .contours = contours_};
    std::copy(points_.begin(), points_.end(), view.points);
    for (std::uint32_t c = 0; c <= contours_; ++c) view.offsets[c] = c * each_;
    for (std::uint32_t c = 0; c < contours_; ++c)
      view.closed[c] = each_ > 1 && points_[c * each_] == points_[(c + 1) * each_ - 1] ? 1 : 0;
    view.class_begin[0] = 0, view.class_begin[1] = contours_;
  }

  std::uint32_t contours_, each_;
  int threads_;
  Backend backend_;
  std::vector<Point> points_;
};

const StageType& stage_called(const std::string& name) {
  return stage_called(stage_catalog(), "stage", name);
}

void set_param(ParamSet& params, const std::string& name, const std::string& word) {
  const ParamSpec* spec = params.declaration().find(name);
  if (spec != nullptr && spec->kind == ParamKind::Integer)
    params.set(name, static_cast<std::int64_t>(std::stoll(word)));
  else if (spec != nullptr && spec->kind == ParamKind::Number)
    params.set(name, std::stod(word));
  else
    params.set(name, word);
}

struct Rings {
  std::uint32_t contours = 0, points = 0;  ///< own points of each
  std::vector<Point> stored;
};

using Words = std::vector<std::pair<std::string, std::string>>;

/// One stage between given contours and the host.
class StageBench {
 public:
  StageBench(const StageType& type, const Words& settings, const Rings& rings, Backend backend, int threads)
      : capacities_(1) {
    NodeSpec node{.name = type.name, .type = &type, .params = ParamSet(type.params)};
    for (const auto& [name, word] : settings) set_param(node.params, name, word);
    node.inputs.push_back({Origin::kSource, 0});
    graph_.nodes.push_back(std::move(node));
    planned_ = std::make_unique<PlannedGraph>(PlanEnvironment{.graph = &graph_,
                                                              .backend = backend,
                                                              .probes = Probes::On,
                                                              .threads = threads,
                                                              .capacities = &capacities_,
                                                              .exports = {{0, 0}}});
    planned_->plan({{ContoursFormat{.width = 4096,
                                    .height = 4096,
                                    .classes = 1,
                                    .point_capacity = rings.stored.size(),
                                    .contour_capacity = rings.contours}},
                    "bench"});
    fill(std::get<ContoursView>(planned_->source_value(0)), rings);
    do run();
    while (planned_->overflowed());
  }

  const ContoursView& output() const { return std::get<ContoursView>(planned_->value({0, 0})); }
  double seconds() {
    run();
    const PartTimes& times = planned_->times();
    return static_cast<double>(times.node_ns.at(0) - times.uploaded_ns) * 1e-9;
  }

 private:
  static void fill(const ContoursView& in, const Rings& rings) {
    *in.counts = {rings.stored.size(), rings.contours};
    std::copy(rings.stored.begin(), rings.stored.end(), in.points);
    for (std::uint32_t i = 0; i <= rings.contours; ++i) in.offsets[i] = i * (rings.points + 1);
    std::fill_n(in.closed, rings.contours, std::uint8_t{1});
    in.class_begin[0] = 0, in.class_begin[1] = rings.contours;
  }
  void run() {
    planned_->launch();
    planned_->wait();
  }

  GraphSpec graph_;
  Capacities capacities_;
  std::unique_ptr<PlannedGraph> planned_;
};

/// Closed contours with five bays each and noise of 0.3 px.
Rings made_rings(std::uint32_t contours, std::uint32_t points) {
  Rings rings{.contours = contours, .points = points, .stored = {}};
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

void made_cases(Backend backend) {
  const std::pair<std::string, Words> cases[] = {
      {"simplify", {{"tolerance", "1"}}},
      {"simplify", {{"tolerance", "0"}, {"points", "20"}}},
      {"simplify", {{"method", "visvalingam"}, {"tolerance", "1"}}},
      {"resample", {{"spacing", "1"}}},
      {"resample", {{"points", "64"}}},
      {"drop_small", {{"min_length", "1"}}},
      {"largest_first", {{"by", "area"}}},
      {"smooth", {{"terms", "21"}}},
      {"smooth", {{"terms", "21"}, {"keep", "top"}}},
      {"measure", {}},
      {"fourier_descriptors", {}}};
  for (const auto& [contours, points] : {std::pair{1000U, 100U}, {10U, 10000U}, {1U, 100000U}, {100000U, 1U}})
    for (const auto& [stage, settings] : cases) {
      StageBench bench(stage_called(stage), settings, made_rings(contours, points), backend, 2);
      double least = bench.seconds();
      for (int i = 0; i < 20; ++i) least = std::min(least, bench.seconds());
      std::string text;
      for (const auto& [name, word] : settings) text.append(" ").append(name).append(" ").append(word);
      std::printf("%6u x %-6u %-19s %-36s %9.1f us, %llu points\n", contours, points, stage.c_str(),
                  text.c_str(), 1e6 * least, static_cast<unsigned long long>(bench.output().counts->points));
    }
}

int answer() {
  std::unique_ptr<Bench> bench;
  return answer_commands("bench_contour_prep", [&](const std::string& command, std::istringstream& words) {
    std::string name;
    words >> name;
    if (command == "load") {
      std::uint32_t contours = 0, each = 0;
      int threads = 1;
      std::string backend;
      words >> contours >> each >> threads >> backend;
      bench = std::make_unique<Bench>(name, contours, each, threads,
                                      backend == "cuda" ? Backend::Cuda : Backend::Cpu);
      std::cout << "loaded";
    } else if (command == "made") {
      made_cases(name == "cuda" ? Backend::Cuda : Backend::Cpu);
    } else if (command == "run" && bench != nullptr) {
      int times = 1;
      words >> times;
      const StageType& type = stage_called(name);
      ParamSet params(type.params);
      for (std::string param, value; words >> param >> value;) set_param(params, param, value);
      bench->run(type, std::move(params), times);
    } else {
      return false;
    }
    return true;
  });
}

}  // namespace
}  // namespace contorno

int main() {
  return contorno::answer();
}
