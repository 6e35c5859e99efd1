// contorno explain: what marching squares makes of one cell of a map, as a drawing with every fact that leads
// to its contours.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "base/error.h"
#include "config/numbers.h"
#include "pipeline/shared/threads.h"
#include "plugins/files/arrays/array_file.h"
#include "stages/contours/cuda/find_contours.h"
#include "tools/array_image.h"
#include "tools/commands/commands.h"
#include "tools/commands/map_options.h"
#include "tools/commands/number_options.h"
#include "tools/explain/explanation.h"
#include "tools/say.h"
#include "tools/text_file.h"

namespace contorno {
namespace {

using namespace explain;
constexpr double kMostLevel = std::numeric_limits<double>::max();

struct ExplainArguments {
  std::string input, at, json, backend = "auto";
  ReadOptions read;
  ContourOptions contours;
  double level = 0.5;
  int channel = 0, threads = 0;
};

int cell_index(const std::string& text, const std::string& at) {
  const auto number = config::parse_number(text);
  if (!number)
    throw Error(ExitCode::Usage,
                fmt::format("--at is '{}', wanted ROW,COL: of a cell, or of a point that lies in it", at));
  return static_cast<int>(std::clamp(std::floor(*number), -1.0, static_cast<double>(kMaxSide)));
}

struct Place {
  int row = 0, col = 0;
};
Place place_from(const std::string& at, const ImageFormat& map) {
  const std::size_t comma = at.find(',');
  const std::string row = at.substr(0, comma), col = comma == std::string::npos ? "" : at.substr(comma + 1);
  const Place place{cell_index(row, at), cell_index(col, at)};
  if (place.row < 0 || place.row > map.height - 2 || place.col < 0 || place.col > map.width - 2)
    throw Error(ExitCode::BadOption,
                fmt::format("--at is {}, allowed rows 0 to {} and columns 0 to {}: a cell lies between four "
                            "samples, and the map has {} rows and {} columns of them",
                            at, map.height - 2, map.width - 2, map.height, map.width));
  return place;
}

/// One channel of `map` with memory of its own.
LoadedImage channel_of(const ImageView& map, int channel) {
  LoadedImage image;
  ImageFormat format = map.format;
  format.channels = 1, format.layout = Layout::Interleaved;
  image.memory.resize(packed_bytes(format));
  image.view = packed_view(image.memory.data(), format);
  with_sample_type(format.type, [&]<class T>(const T*) {
    const Plane plane = plane_of(map, channel, {});
    for (int row = 0; row < format.height; ++row)
      for (int col = 0; col < format.width; ++col)
        image.view.row<T>(row)[col] =
            *reinterpret_cast<const T*>(plane.data + row * plane.row_pitch + col * plane.step);
  });
  return image;
}

LoadedImage load_map(const ExplainArguments& arguments, ImageFormat& format) {
  const LoadedImage map = arguments.read.load(arguments.input);
  format = map.view.format;
  if (arguments.channel >= format.channels)
    throw Error(ExitCode::BadOption,
                fmt::format("--class is {}, allowed 0 to {}: {} is {}", arguments.channel,
                            format.channels - 1, arguments.input, describe(format)));
  return channel_of(map.view, arguments.channel);
}

void find(const ImageView& map, const FindContoursOptions& options, const std::string& backend,
          Explanation& result) {
  result.found = find_contours(map, options);
  if (!wants_device(backend)) return;
  FoundContours device = DeviceContourFinder().find(map, options);
  result.by_device = true;
  result.difference = first_difference(result.found, device);
  result.found = std::move(device);
}

Explanation explain_cell(const ExplainArguments& arguments) {
  Explanation result{.name = arguments.input, .channel = arguments.channel};
  const LoadedImage map = load_map(arguments, result.map);
  NpyArray mask;
  FindContoursOptions options{.level = arguments.level, .threads = decided_threads(arguments.threads)};
  options.scale = probability_scale(map.view.format.type);
  options.fully_connected = arguments.contours.connectivity();
  options.positive_orientation = arguments.contours.orientation();
  if (const std::string& path = arguments.contours.mask; !path.empty())
    mask = read_mask(path), options.mask = image_of(mask, path);
  check_find_contours(map.view, options.mask);
  const Place place = place_from(arguments.at, map.view.format);
  result.connectivity = options.fully_connected, result.orientation = options.positive_orientation;
  result.cell =
      cell_at(plane_of(map.view, 0, options.scale), options.mask, arguments.level, place.row, place.col);
  if (result.cell.usable()) {
    const bool low = result.connectivity == Connectivity::Low;
    result.segments = segments_of(result.cell, result.connectivity);
    result.others = segments_of(result.cell, low ? Connectivity::High : Connectivity::Low);
  }
  find(map.view, options, arguments.backend, result);
  return result;
}

int run(const ExplainArguments& arguments) {
  OutputRegister files = command_files();
  files.add_input(split_array_path(arguments.input).file, "the map");
  files.add_input(split_array_path(arguments.contours.mask).file, "the mask");
  OutputFile file;
  if (!arguments.json.empty() && arguments.json != "-")
    file = open_named_file(files, arguments.json, "--json");
  const Explanation all = explain_cell(arguments);
  if (file.is_open()) {
    file.write(json_of(all));
    file.complete();
    say_replaced(files);
  }
  print(arguments.json == "-" ? json_of(all) : text_of(all));
  return static_cast<int>(all.difference.empty() ? ExitCode::Ok : ExitCode::Internal);
}

}  // namespace

void add_explain_command(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<ExplainArguments>();
  CLI::App* command =
      app.add_subcommand("explain", "Explain one cell of a map: its samples, segments and contours");
  command->add_option("MAP", arguments->input, "Class map: .npy, FILE.npz:NAME or a picture")
      ->type_name("FILE")
      ->required();
  command
      ->add_option(
          "--at", arguments->at,
          "ROW,COL of the cell, which is that of its upper left sample, or of a point that lies in it")
      ->type_name("ROW,COL")
      ->required();
  add_number(*command, "--level", arguments->level, -kMostLevel, kMostLevel,
             "Level; samples of uint8 and uint16 are probabilities from 0 to 1");
  add_whole_number(*command, "--class", arguments->channel, 0, kMaxSide - 1, "Which of several classes");
  add_read_options(*command, arguments->read);
  add_contour_options(*command, arguments->contours);
  add_backend(*command, arguments->backend);
  add_threads(*command, arguments->threads);
  command
      ->add_option("--json", arguments->json,
                   "File to write the same facts to; - for standard output, in place of the text")
      ->type_name("FILE.json");
  command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace contorno
