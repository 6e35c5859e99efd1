#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "cuda/device.h"
#include "cuda/error.h"
#include "pipeline/shared/threads.h"
#include "plugins/files/arrays/array_file.h"
#include "stages/contours/cuda/find_contours.h"
#include "tools/commands/commands.h"
#include "tools/commands/number_options.h"
#include "tools/say.h"
#include "tools/text_file.h"

namespace contorno {
namespace {

struct Arguments {
  std::string input, mask, json = "-";
  std::optional<double> level;
  std::string fully_connected = "low", positive_orientation = "low", backend = "auto";
  int threads = 0;
};

/// The array as an image of one channel; H x W, also with sides of length 1 in front.
ImageView image_of(NpyArray& array, const std::string& name) {
  const auto shape = array.header.shape();
  const std::size_t sides = shape.size();
  const bool flat = std::all_of(shape.begin(),
                                shape.end() - std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(sides)),
                                [](std::uint64_t side) { return side == 1; });
  if (sides < 2 || !flat || shape[sides - 2] > kMaxSide || shape[sides - 1] > kMaxSide)
    throw Error(ExitCode::BadData, fmt::format("{}: the array is {}, wanted two dimensions of 2 to {}", name,
                                               describe(array.header), kMaxSide));
  const auto width = static_cast<int>(shape[sides - 1]), height = static_cast<int>(shape[sides - 2]);
  const ElementType type = array.header.type;
  return {array.data.data(),
          {width, height, 1, type, Layout::Interleaved, {}},
          static_cast<std::ptrdiff_t>(static_cast<std::size_t>(width) * element_size(type)),
          0};
}

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
  if (backend == "cuda" || (backend == "auto" && device_report().available))
    return DeviceContourFinder().find(image, options);
  return find_contours(image, options);
}

int run(const Arguments& arguments) {
  OutputRegister files = command_files();
  files.add_input(split_array_path(arguments.input).file, "the array");
  files.add_input(split_array_path(arguments.mask).file, "the mask");
  OutputFile file;
  if (arguments.json != "-") file = open_named_file(files, arguments.json, "--json");
  std::string odd;
  NpyArray image = read_array(arguments.input, odd);
  warn(odd);
  NpyArray mask;
  FindContoursOptions options;
  options.level = arguments.level;
  if (arguments.fully_connected == "high") options.fully_connected = Connectivity::High;
  if (arguments.positive_orientation == "high") options.positive_orientation = Orientation::High;
  options.threads = decided_threads(arguments.threads);
  if (!arguments.mask.empty()) {
    mask = read_array(arguments.mask, odd);
    warn(odd);
    if (!mask.header.boolean)
      throw Error(ExitCode::BadData,
                  fmt::format("{}: the mask is {}, wanted bool", arguments.mask, describe(mask.header)));
    options.mask = image_of(mask, arguments.mask);
  }
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
      ->required();
  command->add_option("--level", arguments->level, "Level; without it (minimum + maximum) / 2");
  command->add_option("--fully-connected", arguments->fully_connected, "Which samples of a saddle are joined")
      ->check(CLI::IsMember({"low", "high"}))
      ->capture_default_str();
  command
      ->add_option("--positive-orientation", arguments->positive_orientation,
                   "What contours turn around counter-clockwise")
      ->check(CLI::IsMember({"low", "high"}))
      ->capture_default_str();
  command->add_option("--mask", arguments->mask,
                      "Array of bool (.npy or .npz): false = do not use the sample");
  command->add_option("--backend", arguments->backend, "Where it is computed; the result is the same")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
      ->capture_default_str();
  add_threads(*command, arguments->threads);
  command->add_option("--json", arguments->json, "File to write, - for standard output")
      ->capture_default_str();
  command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace contorno
