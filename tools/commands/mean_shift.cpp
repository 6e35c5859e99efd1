// contorno mean-shift: clusters of the points of one array.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <map>
#include <memory>
#include <string>

#include "base/error.h"
#include "pipeline/shared/clock.h"
#include "pipeline/shared/threads.h"
#include "plugins/files/arrays/npy.h"
#include "stages/mean_shift/points.h"
#include "tools/commands/commands.h"
#include "tools/commands/map_options.h"
#include "tools/commands/number_options.h"
#include "tools/points/plot.h"
#include "tools/points/read_points.h"
#include "tools/say.h"
#include "tools/text_file.h"

namespace contorno {
namespace {

struct MeanShiftArguments {
  std::string input, labels, modes, points, plot, sigma = "auto", backend = "auto";
  double quantile = 0.3;
  MeanShiftParams params;
  int threads = 0;
  bool time = false;
};

double sigma_of(const MeanShiftArguments& arguments, const Points& points) {
  if (arguments.sigma == "auto") {
    if (points.values.empty()) return 1;
    const double width = estimate_bandwidth(points.values, points.dims, BandwidthRule::MeanNeighbour,
                                            arguments.quantile, 5000, arguments.threads);
    // Neighbours at no distance at all: any width will do.
    return width > 0 ? width : 1;
  }
  try {
    return std::stod(arguments.sigma);
  } catch (const std::exception&) {
    throw Error(ExitCode::Usage, fmt::format("--sigma is '{}', allowed a number or auto", arguments.sigma));
  }
}

void write_array(OutputFile& file, const std::vector<double>& values, std::uint64_t rows,
                 std::uint64_t cols) {
  if (!file.is_open()) return;
  write_npy(file, ElementType::F64, std::array<std::uint64_t, 2>{rows, cols}, values.data());
}

int run(const MeanShiftArguments& arguments) {
  OutputRegister files = command_files();
  files.add_input(arguments.input, "the array of points");
  const auto begin = [&](const std::string& path, std::string_view owner) {
    return path.empty() ? OutputFile() : open_named_file(files, path, owner);
  };
  OutputFile labels_file = begin(arguments.labels, "LABELS");
  OutputFile modes_file = begin(arguments.modes, "--modes");
  OutputFile points_file = begin(arguments.points, "--points");
  OutputFile plot_file = begin(arguments.plot, "--plot");
  const Points points = read_points(arguments.input);
  MeanShiftParams params = arguments.params;
  params.sigma = sigma_of(arguments, points);
  const MeanShiftOptions options{.backend = backend_called(arguments.backend), .threads = arguments.threads};
  MeanShift mean_shift(params, options);
  const std::int64_t start = now_ns();
  const MeanShiftResult result = mean_shift.fit(points.values, points.dims);
  const std::int64_t took = now_ns() - start;
  const auto dims = static_cast<std::uint64_t>(points.dims);
  const std::vector<double> labels(result.labels.begin(), result.labels.end());
  write_npy(labels_file, ElementType::F64, std::array<std::uint64_t, 1>{labels.size()}, labels.data());
  write_array(modes_file, result.modes, result.counts.size(), dims);
  write_array(points_file, result.points, labels.size(), dims);
  if (plot_file.is_open()) {
    plot_file.write(points_svg(points, result));
    plot_file.complete();
  }
  print("{} points, {} clusters, sigma {:.6g}, {} iterations, residual {:.3g}{}, {} {}\n", labels.size(),
        result.counts.size(), params.sigma, result.iterations, result.residual,
        result.converged ? "" : " (not converged)",
        result.precision == MeanShiftPrecision::Float64 ? "float64" : "float32", name_of(result.backend));
  if (arguments.time) {
    say_time("mean-shift", took, result.backend);
    say_time("mean-shift, climb alone", static_cast<std::int64_t>(result.climb_us * 1e3), result.backend);
  }
  say_replaced(files);
  return static_cast<int>(ExitCode::Ok);
}

/// An option that takes one of these words. (CheckedTransformer would print the values behind them as well.)
template <class E>
void add_choice(CLI::App* command, const std::string& name, E& value, const std::string& sentence,
                const std::map<std::string, E>& words) {
  const auto set = [&value, words](const std::string& word) { value = words.at(word); };
  command->add_option_function<std::string>(name, set, sentence)->check(CLI::IsMember(words));
}

}  // namespace

void add_mean_shift_command(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<MeanShiftArguments>();
  MeanShiftParams& params = arguments->params;
  CLI::App* command = app.add_subcommand("mean-shift", "Find the clusters of points by mean shift");
  command
      ->add_option("POINTS", arguments->input,
                   "Points: an array of N x dims (.npy, .npz, ...), or text with a point a line (.txt)")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("LABELS", arguments->labels, "File for the N labels (.npy, float64); -1 = in no cluster")
      ->type_name("FILE.npy")
      ->required();
  command->add_option("--modes", arguments->modes, "File for the clusters' modes (.npy)")
      ->type_name("FILE.npy");
  command->add_option("--points", arguments->points, "File for where each point came to rest (.npy)")
      ->type_name("FILE.npy");
  command->add_option("--plot", arguments->plot, "File for a picture of points and clusters (.svg)")
      ->type_name("FILE.svg");
  command->add_option("--sigma", arguments->sigma, "Width of the kernel, or auto: estimated from neighbours")
      ->capture_default_str();
  add_number(*command, "--quantile", arguments->quantile, 1e-9, 1,
             "With auto: which neighbour, as a share of all points");
  add_choice(command, "--kernel", params.kernel, "What a point counts by its distance",
             {{"gaussian", MeanShiftKernel::Gaussian},
              {"flat", MeanShiftKernel::Flat},
              {"epanechnikov", MeanShiftKernel::Epanechnikov}});
  // What is allowed is told by MeanShift.
  add_number(*command, "--cut", params.cut, -kAnyNumber, kAnyNumber, "Where the Gaussian ends, in sigmas");
  command->add_flag_callback(
      "--paper-compat", [&params] { params.cut_rule = MeanShiftCut::SigmaSquared; },
      "The Gaussian ends at a distance of sigma squared");
  add_choice(command, "--stop", params.stop, "point: each by itself; frobenius: all together",
             {{"point", MeanShiftStop::PerPoint}, {"frobenius", MeanShiftStop::Frobenius}});
  add_number(*command, "--eps", params.eps, -kAnyNumber, kAnyNumber,
             "Steps shorter than eps sigmas end a climb; with frobenius the norm");
  add_whole_number(*command, "--max-iterations", params.max_iterations, 1, 1'000'000'000, "Most steps");
  add_number(*command, "--merge", params.merge, -kAnyNumber, kAnyNumber,
             "Ends so many sigmas apart are one cluster");
  add_whole_number(*command, "--min-size", params.min_size, 1, 1'000'000'000'000'000'000,
                   "Smaller clusters are dissolved");
  add_backend(*command, arguments->backend);
  add_threads(*command, arguments->threads);
  add_time(
      *command, arguments->time,
      "what finding the clusters took, with --sigma known and without files, and the climb alone; on CUDA "
      "the latter is without transfers");
  command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace contorno
