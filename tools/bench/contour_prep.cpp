// The contorno side of tools/bench/contour-prep: reads commands from standard input, one a line, and answers
// each with a line, so that it can be timed in turns with other programs.
//   load FILE CONTOURS POINTS THREADS BACKEND   float32 x, y; as many contours of as many points each
//   run STAGE TIMES [NAME VALUE]...     seconds of each run; then the points and contours that come out
//   made BACKEND                        a table of made contours, for a machine without Python: the stages
//                                       alone, the least of 21 runs and their median
//   steps BACKEND THREADS TIMES POINTS...   the same of steps that look for near points, and of a list of
//                                       all, on as many points of circles
//   brush BACKEND THREADS TIMES POINTS BRUSH    the same of exclude with that many pixels under a brush, as
//                                       L. V. Greco has it: whole px, a point goes when it is one of them
// BACKEND is cpu or cuda, where contours of `run` come from the host and go back there; VALUE a number,
// numbers between commas or a word. Contours whose last point is their first are closed.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/memory.h"
#include "pipeline/graph/applied.h"
#include "pipeline/graph/graph.h"
#include "pipeline/graph/steps.h"
#include "stages/catalog.h"
#include "tools/bench/commands.h"
#include "tools/bench/contour_stage.h"

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

/// Numbers between commas.
std::vector<double> numbers_of(const std::string& word) {
  std::vector<double> numbers;
  std::istringstream words(word);
  for (std::string one; std::getline(words, one, ',');) numbers.push_back(std::stod(one));
  return numbers;
}

void set_param(ParamSet& params, const std::string& name, const std::string& word) {
  const ParamSpec* spec = params.declaration().find(name);
  if (spec != nullptr && spec->kind == ParamKind::Integer)
    params.set(name, static_cast<std::int64_t>(std::stoll(word)));
  else if (spec != nullptr && spec->kind == ParamKind::Number)
    params.set(name, std::stod(word));
  else if (spec != nullptr && spec->kind == ParamKind::Numbers)
    params.set(name, numbers_of(word));
  else
    params.set(name, word);
}

StageCase stage_case(const std::string& name, std::vector<std::pair<std::string, ParamValue>> settings = {}) {
  return {&stage_called(name), std::move(settings)};
}

void print_case(const StageCase& stage, const MadeContours& made, Backend backend, int threads, int times) {
  StageBench bench(stage, made, backend, threads);
  const auto [least, median] = bench.seconds(times);
  const ContourCounts& counts = *bench.output().counts;
  std::printf("%7u x %-6u %-56.56s %9.1f us, median %9.1f us, %llu points in %llu contours\n", made.contours,
              made.points, stage.text().c_str(), 1e6 * least, 1e6 * median,
              static_cast<unsigned long long>(counts.points),
              static_cast<unsigned long long>(counts.contours));
  std::fflush(stdout);
}

void made_cases(Backend backend) {
  const std::string top = "top", visvalingam = "visvalingam", area = "area";
  const StageCase cases[] = {stage_case("simplify", {{"tolerance", 1.0}}),
                             stage_case("simplify", {{"tolerance", 0.0}, {"points", std::int64_t{20}}}),
                             stage_case("simplify", {{"method", visvalingam}, {"tolerance", 1.0}}),
                             stage_case("resample", {{"spacing", 1.0}}),
                             stage_case("resample", {{"points", std::int64_t{64}}}),
                             stage_case("drop_small", {{"min_length", 1.0}}),
                             stage_case("largest_first", {{"by", area}}),
                             stage_case("smooth", {{"terms", std::int64_t{21}}}),
                             stage_case("smooth", {{"terms", std::int64_t{21}}, {"keep", top}}),
                             stage_case("measure"),
                             stage_case("fourier_descriptors")};
  for (const auto& [contours, points] :
       {std::pair{1000U, 100U}, {10U, 10000U}, {1U, 100000U}, {100000U, 1U}, {1000U, 512U}})
    for (const StageCase& stage : cases) print_case(stage, made_rings(contours, points), backend, 2, 21);
}

/// Whole px under a round brush that was set down at 20 places on the map's diagonal; x, y of each.
std::vector<double> brushed_pixels(double side, std::uint32_t count) {
  constexpr int kPlaces = 20;
  std::vector<double> pixels;
  const int radius = static_cast<int>(std::sqrt(count / (kPlaces * 3.141592653589793))) + 1;
  for (int place = 0; place < kPlaces; ++place) {
    const double centre = std::floor(side * (place + 0.5) / kPlaces);
    const std::size_t most = 2 * (std::size_t{count} * static_cast<std::size_t>(place + 1) / kPlaces);
    for (int y = -radius; y <= radius; ++y)
      for (int x = -radius; x <= radius && pixels.size() < most; ++x)
        if (x * x + y * y <= radius * radius) pixels.insert(pixels.end(), {centre + x, centre + y});
  }
  return pixels;
}

/// Also prints how long the stage took to be planned, where the brush's points are put into bins.
void brush_case(Backend backend, int threads, int times, std::uint32_t points, std::uint32_t brush) {
  MadeContours circles = made_circles(points / 100);
  for (Point& point : circles.stored) point = {.row = std::round(point.row), .col = std::round(point.col)};
  const std::vector<double> pixels = brushed_pixels(side_for(points), brush);
  const StageCase exclude = stage_case("exclude", {{"points", pixels}});
  const auto start = Clock::now();
  StageBench bench(exclude, circles, backend, threads);
  const double planned = std::chrono::duration<double>(Clock::now() - start).count();
  const auto [least, median] = bench.seconds(times);
  std::printf(
      "%7u points, exclude by %zu brush points: planned in %.2f ms, %9.1f us, median %9.1f us, %llu "
      "points remain\n",
      points, pixels.size() / 2, 1e3 * planned, 1e6 * least, 1e6 * median,
      static_cast<unsigned long long>(bench.output().counts->points));
  std::fflush(stdout);
}

/// The steps that look for near points, and all of a list in one stage.
void step_cases(Backend backend, int threads, int times, std::uint32_t points) {
  const MadeContours circles = made_circles(points / 100);
  std::vector<double> brush;
  for (int i = 0; i < 20; ++i) brush.insert(brush.end(), 2, side_for(points) * (i + 0.5) / 20);
  const StageCase steps[] = {stage_case("exclude", {{"radius", 10.0}, {"points", brush}}),
                             stage_case("merge_close", {{"distance", 5.0}}),
                             stage_case("drop_small", {{"min_points", std::int64_t{10}}}),
                             stage_case("drop_duplicates", {{"distance", 2.0}}),
                             stage_case("largest_first"),
                             stage_case("order_nearest")};
  std::vector<StepSpec> list;
  for (const StageCase& step : steps) {
    print_case(step, circles, backend, threads, times);
    list.push_back({.type = step.type, .params = step.params()});
  }
  const auto all = std::make_shared<const std::vector<StepSpec>>(std::move(list));
  print_case(stage_case("contour_prep", {{"steps", SharedSteps(all)}}), circles, backend, threads, times);
}

Backend backend_called(const std::string& name) {
  return name == "cuda" ? Backend::Cuda : Backend::Cpu;
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
      bench = std::make_unique<Bench>(name, contours, each, threads, backend_called(backend));
      std::cout << "loaded";
    } else if (command == "made") {
      made_cases(backend_called(name));
    } else if (command == "steps") {
      int threads = 1, times = 1;
      words >> threads >> times;
      for (std::uint32_t points = 0; words >> points;)
        step_cases(backend_called(name), threads, times, points);
    } else if (command == "brush") {
      int threads = 1, times = 1;
      std::uint32_t points = 0, brush = 0;
      words >> threads >> times >> points >> brush;
      brush_case(backend_called(name), threads, times, points, brush);
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
