#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "pipeline/shared/threads.h"
#include "plugins/files/arrays/array_file.h"
#include "stages/contours/cuda/find_contours.h"
#include "tools/array_image.h"
#include "tools/commands/commands.h"
#include "tools/commands/map_options.h"
#include "tools/commands/number_options.h"
#include "tools/say.h"
#include "tools/text_file.h"

namespace contorno {
namespace {

struct Arguments {
  std::string input, json = "-", backend = "auto";
  std::optional<double> level;
  ContourOptions contours;
  int threads = 0;
};

std::string number(double value) {
  return std::isnan(value) ? std::string("null") : fmt::format("{:.17g}", value);
}

std::string to_json(const FoundContours& found) {
  std::string text = "[";
  for (std::size_t i = 0; i < found.count(); ++i) {
    text += i == 0 ? "\n[" : ",\n[";
    bool first = true;
    for (const PointD& point : found.contour(i)) {
      text += fmt::format("{}[{}, {}]", first ? "" : ", ", number(point.row), number(point.col));
      first = false;
    }
    text += "]";
  }
  return text + "\n]\n";
}

FoundContours find(const ImageView& image, const FindContoursOptions& options, const std::string& backend) {
  if (wants_device(backend)) return DeviceContourFinder().find(image, options);
  return find_contours(image, options);
}

int run(const Arguments& arguments) {
  OutputRegister files = command_files();
  files.add_input(split_array_path(arguments.input).file, "the array");
  files.add_input(split_array_path(arguments.contours.mask).file, "the mask");
  OutputFile file;
  if (arguments.json != "-") file = open_named_file(files, arguments.json, "--json");
  std::string odd;
  NpyArray image = read_array(arguments.input, odd);
  warn(odd);
  NpyArray mask;
  FindContoursOptions options;
  options.level = arguments.level;
  options.fully_connected = arguments.contours.connectivity();
  options.positive_orientation = arguments.contours.orientation();
  options.threads = decided_threads(arguments.threads);
  if (const std::string& path = arguments.contours.mask; !path.empty())
    mask = read_mask(path), options.mask = image_of(mask, path);
  const std::string text = to_json(find(image_of(image, arguments.input), options, arguments.backend));
  if (file.is_open()) {
    file.write(text);
    file.complete();
    say_replaced(files);
  } else {
    print(text);
  }
  return static_cast<int>(ExitCode::Ok);
}

}  // namespace

void add_find_contours_command(CLI::App& app, std::function<int()>& action) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "find-contours", "Find the contours of one array, equal to scikit-image's find_contours");
  command->add_option("ARRAY", arguments->input, "Array of two dimensions: .npy, FILE.npz:NAME or .tif")
      ->type_name("FILE.npy|npz|tif")
      ->required();
  add_number(*command, "--level", arguments->level, "Level; without it (minimum + maximum) / 2");
  add_contour_options(*command, arguments->contours);
  add_backend(*command, arguments->backend);
  add_threads(*command, arguments->threads);
  command->add_option("--json", arguments->json, "File to write, - for standard output")
      ->type_name("FILE.json")
      ->capture_default_str();
  command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace contorno
