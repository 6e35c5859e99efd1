// The contorno side of tools/bench/contour-prep: reads commands from standard input, one a line, and answers
// each with a line, so that it can be timed in turns with other programs.
//   load FILE CONTOURS POINTS THREADS BACKEND   float32 x, y; as many open contours of as many points each
//   run STAGE TIMES [NAME VALUE]...     seconds of each run; then the points and contours that come out
// BACKEND is cpu or cuda, where contours come from the host and go back there; VALUE a number or a word.
#include <chrono>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "cuda/memory.h"
#include "pipeline/graph/applied.h"
#include "stages/catalog.h"

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
    std::cout << counts.points << ' ' << counts.contours << std::endl;
  }

 private:
  void fill(const ContoursView& view) const {
    *view.counts = {.points = points_.size(), .contours = contours_};
    std::copy(points_.begin(), points_.end(), view.points);
    for (std::uint32_t c = 0; c <= contours_; ++c) view.offsets[c] = c * each_;
    std::fill_n(view.closed, contours_, std::uint8_t{0});
    view.class_begin[0] = 0, view.class_begin[1] = contours_;
  }

  std::uint32_t contours_, each_;
  int threads_;
  Backend backend_;
  std::vector<Point> points_;
};

const StageType& stage_called(const std::string& name) {
  for (const StageType* type : stage_catalog())
    if (type->name == name) return *type;
  throw std::runtime_error("no stage " + name);
}

ParamValue value_of(const std::string& word) {
  std::istringstream text(word);
  double number = 0;
  if (text >> number) return number;
  return word;
}

int answer_commands() {
  std::unique_ptr<Bench> bench;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command, name;
    words >> command >> name;
    if (command == "load") {
      std::uint32_t contours = 0, each = 0;
      int threads = 1;
      std::string backend;
      words >> contours >> each >> threads >> backend;
      bench = std::make_unique<Bench>(name, contours, each, threads,
                                      backend == "cuda" ? Backend::Cuda : Backend::Cpu);
      std::cout << "loaded" << std::endl;
    } else if (command == "run" && bench != nullptr) {
      int times = 1;
      words >> times;
      const StageType& type = stage_called(name);
      ParamSet params(type.params);
      for (std::string param, value; words >> param >> value;) params.set(param, value_of(value));
      bench->run(type, std::move(params), times);
    } else {
      return 2;
    }
  }
  return 0;
}

}  // namespace
}  // namespace contorno

int main() {
  return contorno::answer_commands();
}
