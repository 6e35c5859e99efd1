// contorno draw: the lines of a picture, drawn by machines of turning arms.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>

#include "base/error.h"
#include "pipeline/shared/loops.h"
#include "pipeline/shared/threads.h"
#include "plugins/files/arrays/array_file.h"
#include "plugins/files/contours/contour_frame.h"
#include "plugins/files/shared/file_names.h"
#include "plugins/opencv/edges.h"
#include "stages/contour_prep/stage.h"
#include "stages/contours/find_contours.h"
#include "tools/apply_contours.h"
#include "tools/commands/commands.h"
#include "tools/commands/given_options.h"
#include "tools/commands/map_options.h"
#include "tools/commands/number_options.h"
#include "tools/commands/step_options.h"
#include "tools/draw/film.h"
#include "tools/draw/pixel_lines.h"
#include "tools/draw/svg.h"
#include "tools/progress.h"
#include "tools/text_file.h"

namespace contorno {
namespace {

struct DrawArguments {
  std::string input, output, backend = "auto", series = "each", select = "low", edges = "grey";
  std::vector<double> levels;
  CannyParams canny;
  std::vector<std::string> steps;
  std::int64_t terms = 0;
  int frames = 300, rate = 30, size = 0, threads = 0;
  bool quiet = false;
  GivenOptions given;

  bool has_canny() const { return edges == "canny"; }
};

const std::vector<std::string> kUsualSteps{"drop_small min_length=40", "resample spacing=1",
                                           "order_nearest order=2opt"};

/// Levels that part the picture's grey values into equally many: its quartiles.
std::vector<double> quartiles(const ImageView& grey) {
  if (grey.format.type != ElementType::U8) return {middle_level(grey, {})};
  std::vector<double> values;
  for (int y = 0; y < grey.format.height; ++y)
    values.insert(values.end(), grey.row<const std::uint8_t>(y),
                  grey.row<const std::uint8_t>(y) + grey.format.width);
  std::vector<double> levels;
  const double least = *std::min_element(values.begin(), values.end());
  for (const std::size_t part : {1U, 2U, 3U}) {
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() * part / 4);
    std::nth_element(values.begin(), at, values.end());
    // Between grey values, where lines do not depend on which of equal samples are above.
    if (const double level = *at - 0.5; level > (levels.empty() ? least : levels.back()))
      levels.push_back(level);
  }
  if (levels.empty()) levels.push_back(middle_level(grey, {}));
  return levels;
}

ContourFrame as_one_class(ContourParts& parts, const ImageFormat& format) {
  parts.end_class();
  ContourFrame frame;
  parts.pack(format.width, format.height, frame);
  return frame;
}

/// The lines of edges, as one class. The picture's samples are replaced by its edges.
ContourFrame edges_of(const ImageView& grey, const CannyParams& params, const std::string& input) {
  const ImageFormat& format = grey.format;
  if (format.type != ElementType::U8 || format.channels != 1)
    throw Error(
        ExitCode::BadData,
        fmt::format("'{}': --edges canny takes an array H x W of uint8, this one is {} x {}{} of {}", input,
                    format.height, format.width,
                    format.channels == 1 ? "" : fmt::format(" x {}", format.channels), name_of(format.type)));
  find_edges(grey, params, grey);
  ContourParts parts;
  add_pixel_lines(grey, parts);
  ContourFrame frame = as_one_class(parts, format);
  if (frame.view.counts->contours == 0)
    throw Error(ExitCode::BadData,
                fmt::format("'{}' has no edge to draw at --low {} --high {} --sigma {}; lower ones find more",
                            input, params.low, params.high, params.sigma));
  return frame;
}

/// Throws Error(Usage) for options of the edges that are not looked for.
void check_edge_options(const DrawArguments& arguments) {
  check_goes_with(arguments.given, "--level", !arguments.has_canny(), "--edges grey");
  for (const char* name : {"--low", "--high", "--sigma"})
    check_goes_with(arguments.given, name, arguments.has_canny(), "--edges canny");
  if (arguments.canny.low > arguments.canny.high)
    throw Error(ExitCode::Usage, fmt::format("--low {} is above --high {}; allowed is at most that",
                                             arguments.canny.low, arguments.canny.high));
}

/// The contours of all levels, as one class, so that steps see them together.
ContourFrame contours_of(const ImageView& grey, const std::vector<double>& levels, int threads) {
  ContourParts parts;
  for (const double level : levels) {
    FindContoursOptions options;
    options.level = level, options.threads = threads;
    const FoundContours found = find_contours(grey, options);
    for (std::size_t i = 0; i < found.count(); ++i) {
      for (const PointD& point : found.contour(i))
        parts.add({static_cast<float>(point.row), static_cast<float>(point.col)});
      parts.end_contour(found.closed[i] != 0);
    }
  }
  return as_one_class(parts, grey.format);
}

/// The size of the picture, or with its longer side as wanted.
DrawingSize drawing_size(const ImageFormat& format, int wanted) {
  const double scale =
      wanted == 0 ? 1.0 : static_cast<double>(wanted) / std::max(format.width, format.height);
  const auto side = [scale](int pixels) {
    return std::max(16, static_cast<int>(std::lround(pixels * scale)));
  };
  return {format.width, format.height, side(format.width), side(format.height)};
}

/// Paints as many frames at a time as there are threads.
void make_frames(std::span<const Machine> machines, const DrawingSize& size, const DrawArguments& arguments,
                 Backend backend, Film& film) {
  const int threads = std::min(decided_threads(arguments.threads), arguments.frames);
  std::vector<std::unique_ptr<ScenePainter>> painters;
  for (int i = 0; i < threads; ++i)
    painters.push_back(std::make_unique<ScenePainter>(machines, size, backend));
  const std::uint64_t all = line_points(machines);
  ProgressLine progress(!arguments.quiet);
  for (int first = 0; first < arguments.frames; first += threads) {
    const int count = std::min(threads, arguments.frames - first);
    for_tasks(threads, count, [&](int task) {
      painters[static_cast<std::size_t>(task)]->paint(all * static_cast<std::uint64_t>(first + task + 1) /
                                                      static_cast<std::uint64_t>(arguments.frames));
    });
    for (int i = 0; i < count; ++i) film.add(painters[static_cast<std::size_t>(i)]->view());
    progress.show(fmt::format("{} of {} frames ({} %)", first + count, arguments.frames,
                              (first + count) * 100 / arguments.frames));
  }
  progress.clear();
}

[[noreturn]] void refuse_to_draw_nothing(const std::string& input, std::uint64_t found,
                                         const std::vector<double>& levels,
                                         const std::vector<std::string>& steps) {
  throw Error(
      ExitCode::BadData,
      found == 0
          ? fmt::format("'{}' has no contour to draw: none was found at the levels {}; try another --level",
                        input, fmt::join(levels, ", "))
          : fmt::format("'{}' has no contour to draw: of {} that were found the steps ({}) left none; "
                        "try other ones by --step",
                        input, found, fmt::join(steps, "; ")));
}

int draw(const DrawArguments& arguments, const Catalog& catalog) {
  check_drawing_path(arguments.output);
  check_edge_options(arguments);
  OutputRegister files = command_files();
  files.add_input(split_array_path(arguments.input).file, "IMAGE");
  const std::vector<std::string>& given_steps = arguments.steps.empty() ? kUsualSteps : arguments.steps;
  const ParamSet steps = params_of_steps(given_steps, catalog);
  files.add_inputs(steps, "a step");
  const LoadedImage image = load_image(arguments.input, Layout::Interleaved, PictureChannels::Grey);
  const int threads = decided_threads(arguments.threads);
  std::vector<double> levels = arguments.levels;
  if (levels.empty() && !arguments.has_canny()) levels = quartiles(image.view);
  const ContourFrame found = arguments.has_canny() ? edges_of(image.view, arguments.canny, arguments.input)
                                                   : contours_of(image.view, levels, threads);
  const Backend backend = backend_called(arguments.backend);
  AppliedStage prepared(contour_prep_stage(), steps, backend, arguments.threads);
  const Value value = found.view;
  apply_to(prepared, std::span(&value, 1));
  const auto& contours = std::get<ContoursView>(prepared.output(0));
  if (contours.counts->contours == 0)
    refuse_to_draw_nothing(arguments.input, found.view.counts->contours, levels, given_steps);
  const std::vector<Machine> machines =
      machines_of(contours, {.all = arguments.series == "all",
                             .terms = static_cast<std::uint64_t>(arguments.terms),
                             .keep = arguments.select == "top" ? KeptTerms::Top : KeptTerms::Low,
                             .threads = threads});
  const DrawingSize size = drawing_size(image.view.format, arguments.size);
  if (lower_extension(arguments.output) == ".svg") {
    OutputFile file = files.open(arguments.output, "OUT");
    file.write(animated_svg(machines, size, static_cast<double>(arguments.frames) / arguments.rate));
    file.complete();
  } else {
    const std::unique_ptr<Film> film = make_film(
        arguments.output, {size.width, size.height, arguments.rate, arguments.frames}, catalog, files);
    make_frames(machines, size, arguments, backend, *film);
    film->finish();
  }
  say_replaced(files);
  return static_cast<int>(ExitCode::Ok);
}

}  // namespace

void add_draw_command(CLI::App& app, const Catalog& catalog, Action& action) {
  auto arguments = std::make_shared<DrawArguments>();
  CLI::App* command = app.add_subcommand("draw", "Draw the contours of a picture by turning arms, as a film");
  command->add_option("IMAGE", arguments->input, "Picture, or array of two dimensions (.npy, FILE.npz:NAME)")
      ->type_name("FILE")
      ->required();
  command->add_option("OUT", arguments->output, "File to write: .webm, .mkv, .gif, .apng or .svg")
      ->type_name("FILE.webm|mkv|gif|apng|svg")
      ->required();
  command
      ->add_option("--edges", arguments->edges,
                   "Contours of the grey values, or the lines that Canny's detector finds (needs OpenCV)")
      ->check(CLI::IsMember({"grey", "canny"}))
      ->capture_default_str();
  add_numbers(*command, "--level", arguments->levels,
              "Level of the contours, may come again; without it the quartiles of the grey values");
  add_number(*command, "--low", arguments->canny.low, 0, 1e6,
             "Of canny: an edge goes on while its gradient is above this");
  add_number(*command, "--high", arguments->canny.high, 0, 1e6,
             "Of canny: an edge begins where its gradient is above this");
  add_number(*command, "--sigma", arguments->canny.sigma, 0, 100,
             "Of canny: standard deviation in px of the Gaussian that smooths before; 0 = none");
  add_steps(*command, arguments->steps);
  command->add_option("--series", arguments->series, "A Fourier series for each contour, or one for all")
      ->check(CLI::IsMember({"each", "all"}))
      ->capture_default_str();
  add_whole_number(*command, "--terms", arguments->terms, 0, 1'000'000'000,
                   "Terms that are kept of each series; 0 = all");
  command->add_option("--select", arguments->select, "Keep the terms of lowest frequency, or the largest")
      ->check(CLI::IsMember({"low", "top"}))
      ->capture_default_str();
  add_whole_number(*command, "--frames", arguments->frames, 1, 100'000, "Frames of the film");
  add_whole_number(*command, "--fps", arguments->rate, 1, 60, "Frames a second");
  add_whole_number(*command, "--size", arguments->size, 0, 8192, "Longer side in px; 0 = as the picture");
  command->add_flag("--quiet", arguments->quiet, "Show no progress");
  add_backend(*command, arguments->backend);
  add_threads(*command, arguments->threads);
  command->footer(fmt::format("Without --step: {}.", fmt::join(kUsualSteps, ", ")));
  command->callback([arguments, command, &catalog, &action] {
    arguments->given = given_options(*command);
    action = [arguments, &catalog] { return draw(*arguments, catalog); };
  });
}

}  // namespace contorno
