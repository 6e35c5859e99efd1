// The contorno side of tools/bench/mean-shift: reads commands from standard input, one a line, and answers
// each with a line, so that it can be timed in turns with other programs.
//   points FILE N DIMS KERNEL SIGMA THREADS BACKEND TIMES   float64 points; labels (int32) go to FILE.labels;
//                         answer: clusters, iterations, then seconds in all and of the climb alone each time
//   image FILE HEIGHT WIDTH SPATIAL COLOUR STAGE THREADS BACKEND TIMES   uint8 RGB; the image goes to
//   FILE.out;
//                         answer: seconds of the stage, without transfers, each time
//   made BACKEND          a table of made cases, for a machine without Python
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "pipeline/graph/planned.h"
#include "pipeline/shared/clock.h"
#include "stages/mean_shift/filter.h"
#include "stages/mean_shift/points.h"
#include "stages/mean_shift/segment.h"
#include "tools/bench/commands.h"

namespace contorno {
namespace {

Backend backend_of(const std::string& name) {
  return name == "cuda" ? Backend::Cuda : Backend::Cpu;
}

MeanShiftKernel kernel_of(const std::string& name) {
  if (name == "gaussian") return MeanShiftKernel::Gaussian;
  return name == "flat" ? MeanShiftKernel::Flat : MeanShiftKernel::Epanechnikov;
}

template <class T>
std::vector<T> read_file(const std::string& name, std::size_t count) {
  std::vector<T> data(count);
  std::ifstream file(name, std::ios::binary);
  file.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(count * sizeof(T)));
  if (!file) throw Error(ExitCode::MissingInput, "cannot read " + name);
  return data;
}

void write_file(const std::string& name, const void* data, std::size_t bytes) {
  std::ofstream(name, std::ios::binary)
      .write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
}

struct PointsTimes {
  MeanShiftResult result;
  std::vector<double> all, climb;  ///< seconds
};

PointsTimes time_points(const std::vector<double>& points, int dims, const MeanShiftParams& params,
                        const MeanShiftOptions& options, int times) {
  PointsTimes measured;
  MeanShift shift(params, options);
  for (int i = 0; i < times; ++i) {
    const std::int64_t begin = now_ns();
    measured.result = shift.fit(points, dims);
    measured.all.push_back(static_cast<double>(now_ns() - begin) * 1e-9);
    measured.climb.push_back(measured.result.climb_us * 1e-6);
  }
  return measured;
}

/// One stage between a source's frame and the host.
class ImageBench {
 public:
  ImageBench(const StageType& type, int width, int height, int spatial, double colour,
             const std::string& space, Backend backend, int threads)
      : capacities_(1) {
    NodeSpec node{.name = type.name, .type = &type, .params = ParamSet(type.params)};
    node.params.set("spatial", std::int64_t{spatial});
    node.params.set("colour", colour);
    node.params.set("space", space);
    node.inputs.push_back({Origin::kSource, 0});
    graph_.nodes.push_back(std::move(node));
    const PlanEnvironment environment{.graph = &graph_,
                                      .backend = backend,
                                      .probe_every = kEveryFrame,
                                      .threads = threads,
                                      .capacities = &capacities_,
                                      .exports = {{0, 0}}};
    planned_ = std::make_unique<PlannedGraph>(environment);
    StreamFormat stream{.description = "bench"};
    stream.frame = ImageFormat{.width = width, .height = height, .channels = 3};
    planned_->plan(stream);
  }
  const ImageView& input() { return planned_->input().frame; }
  const ImageView& output() const { return std::get<ImageView>(planned_->value({0, 0})); }
  double seconds() {
    planned_->launch();
    planned_->wait();
    const PartTimes& times = *planned_->times();
    return static_cast<double>(times.part_ns.at(0) - times.uploaded_ns) * 1e-9;
  }

 private:
  GraphSpec graph_;
  Capacities capacities_;
  std::unique_ptr<PlannedGraph> planned_;
};

void run_points(std::istringstream& words) {
  std::string file, kernel, backend;
  std::size_t count = 0;
  int dims = 1, threads = 1, times = 1;
  MeanShiftParams params;
  words >> file >> count >> dims >> kernel >> params.sigma >> threads >> backend >> times;
  params.kernel = kernel_of(kernel);
  const auto points = read_file<double>(file, count * static_cast<std::size_t>(dims));
  const PointsTimes measured =
      time_points(points, dims, params, {.backend = backend_of(backend), .threads = threads}, times);
  write_file(file + ".labels", measured.result.labels.data(), count * sizeof(int));
  std::cout << measured.result.counts.size() << ' ' << measured.result.iterations;
  for (std::size_t i = 0; i < measured.all.size(); ++i)
    std::cout << ' ' << measured.all[i] << ' ' << measured.climb[i];
}

void run_image(std::istringstream& words) {
  std::string file, stage, backend;
  int height = 0, width = 0, spatial = 0, threads = 1, times = 1;
  double colour = 0;
  words >> file >> height >> width >> spatial >> colour >> stage >> threads >> backend >> times;
  const StageType& type = stage == "filter" ? mean_shift_filter_stage() : mean_shift_segment_stage();
  ImageBench bench(type, width, height, spatial, colour, "rgb", backend_of(backend), threads);
  const std::size_t row = static_cast<std::size_t>(width) * 3;
  const auto pixels = read_file<char>(file, row * static_cast<std::size_t>(height));
  for (int y = 0; y < height; ++y)
    std::copy_n(pixels.data() + row * static_cast<std::size_t>(y), row, bench.input().row<char>(y));
  for (int i = 0; i < times; ++i) std::cout << bench.seconds() << ' ';
  std::vector<char> out;
  for (int y = 0; y < height; ++y)
    out.insert(out.end(), bench.output().row<char>(y), bench.output().row<char>(y) + row);
  write_file(file + ".out", out.data(), out.size());
}

/// Gaussian clusters of unit deviation around centres in a cube.
std::vector<double> made_points(int count, int dims, int groups, double side) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0, side);
  std::vector<double> centres, points;
  for (int i = 0; i < groups * dims; ++i) centres.push_back(uniform(random));
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < dims; ++k)
      points.push_back(centres[static_cast<std::size_t>(i % groups * dims + k)] + normal(random));
  return points;
}

double median(std::vector<double> list) {
  std::nth_element(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(list.size() / 2), list.end());
  return list[list.size() / 2];
}

void made_cases_of_points(Backend backend) {
  struct Case {
    int count, dims, groups;
    MeanShiftKernel kernel;
    double sigma;
    MeanShiftStop stop = MeanShiftStop::PerPoint;
    double eps = 1e-3;
  };
  for (const Case& c :
       {Case{600, 2, 6, MeanShiftKernel::Gaussian, 1}, Case{600, 2, 6, MeanShiftKernel::Flat, 2.5},
        Case{1024, 32, 16, MeanShiftKernel::Gaussian, 3}, Case{1024, 32, 16, MeanShiftKernel::Flat, 12},
        Case{10000, 2, 12, MeanShiftKernel::Gaussian, 1}, Case{10000, 2, 12, MeanShiftKernel::Flat, 2.5},
        Case{100000, 3, 40, MeanShiftKernel::Gaussian, 1},
        Case{600, 2, 6, MeanShiftKernel::Gaussian, 1, MeanShiftStop::Frobenius, 1e-4},
        Case{1024, 32, 16, MeanShiftKernel::Gaussian, 3, MeanShiftStop::Frobenius, 1.5e-4}}) {
    const auto points = made_points(c.count, c.dims, c.groups, 60);
    const auto measured =
        time_points(points, c.dims, {.sigma = c.sigma, .kernel = c.kernel, .stop = c.stop, .eps = c.eps},
                    {.backend = backend, .threads = 2}, c.count > 50000 ? 3 : 11);
    const char* stop = c.stop == MeanShiftStop::Frobenius ? "frobenius" : "";
    std::printf("points %6d x %-2d %-8s %-9s climb %9.1f us, all %9.1f us, %3d iterations, %zu clusters\n",
                c.count, c.dims, c.kernel == MeanShiftKernel::Flat ? "flat" : "gaussian", stop,
                1e6 * median(measured.climb), 1e6 * median(measured.all), measured.result.iterations,
                measured.result.counts.size());
  }
}

void made_cases_of_images(Backend backend) {
  for (const StageType* type : {&mean_shift_filter_stage(), &mean_shift_segment_stage()})
    for (const auto& [spatial, colour] : {std::pair{10, 20.0}, std::pair{5, 10.0}, std::pair{20, 40.0}})
      for (const char* space : {"rgb", "luv"}) {
        ImageBench bench(*type, 640, 480, spatial, colour, space, backend, 2);
        std::mt19937 random(2);
        for (int y = 0; y < 480; ++y)
          for (int x = 0; x < 640 * 3; ++x) {
            const double smooth = 128 + 70 * std::sin(0.013 * x / 3 + x % 3) * std::cos(0.021 * y) +
                                  (x / 240 + y / 60) % 2 * 45;
            bench.input().row<std::uint8_t>(y)[x] =
                static_cast<std::uint8_t>(std::clamp(smooth + static_cast<int>(random() % 17), 0.0, 255.0));
          }
        std::vector<double> seconds;
        for (int i = 0; i < (backend == Backend::Cuda ? 21 : 3); ++i) seconds.push_back(bench.seconds());
        std::printf("%-18s 640 x 480 spatial %2d colour %2.0f %s %9.1f us\n", type->name.c_str(), spatial,
                    colour, space, 1e6 * median(seconds));
      }
}

}  // namespace
}  // namespace contorno

int main() {
  using namespace contorno;
  return answer_commands("bench_mean_shift", [](const std::string& command, std::istringstream& words) {
    if (command == "points") {
      run_points(words);
    } else if (command == "image") {
      run_image(words);
    } else if (command == "made") {
      std::string backend;
      words >> backend;
      made_cases_of_points(backend_of(backend));
      made_cases_of_images(backend_of(backend));
    } else {
      return false;
    }
    return true;
  });
}
