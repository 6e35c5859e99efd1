#include "tools/commands/map_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>

#include "cuda/device.h"
#include "pipeline/graph/graph.h"
#include "tools/say.h"

namespace contorno {

LoadedImage ReadOptions::load(const std::string& path) const {
  static const std::map<std::string, PictureChannels> kChannels{{"auto", PictureChannels::Auto},
                                                                {"grey", PictureChannels::Grey},
                                                                {"rgb", PictureChannels::Rgb},
                                                                {"rgba", PictureChannels::Rgba}};
  return load_image(path, layout == "chw" ? Layout::Planar : Layout::Interleaved, kChannels.at(channels));
}

void add_read_options(CLI::App& command, ReadOptions& options) {
  command.add_option("--layout", options.layout, "Of a three-dimensional array: hwc or chw")
      ->check(CLI::IsMember({"hwc", "chw"}))
      ->capture_default_str();
  command.add_option("--channels", options.channels, "Of a picture: auto, grey, rgb or rgba")
      ->check(CLI::IsMember({"auto", "grey", "rgb", "rgba"}))
      ->capture_default_str();
}

void add_contour_options(CLI::App& command, ContourOptions& options) {
  command.add_option("--fully-connected", options.fully_connected, "Which samples of a saddle are joined")
      ->check(CLI::IsMember({"low", "high"}))
      ->capture_default_str();
  command
      .add_option("--positive-orientation", options.positive_orientation,
                  "What contours turn around counter-clockwise")
      ->check(CLI::IsMember({"low", "high"}))
      ->capture_default_str();
  command.add_option("--mask", options.mask, "Array of bool (.npy or .npz): false = do not use the sample")
      ->type_name("FILE.npy|npz");
}

void add_backend(CLI::App& command, std::string& backend) {
  command.add_option("--backend", backend, "Where it is computed; the result is the same")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
      ->capture_default_str();
}

Backend backend_called(const std::string& name) {
  ParamSet settings(pipeline_params());
  settings.set("backend", name);
  return settings.as<PipelineSettings>().backend.backend;
}
bool wants_device(const std::string& backend) {
  return backend == "cuda" || (backend == "auto" && device_report().available);
}

void add_time(CLI::App& command, bool& time, const std::string& sentence) {
  command.add_flag("--time", time, "Say on standard error " + sentence);
}

void say_time(std::string_view what, std::int64_t ns, Backend backend, std::uint64_t frames) {
  say(fmt::format("{}: {:.3f} ms on {}{}", what, static_cast<double>(ns) * 1e-6, name_of(backend),
                  frames > 1 ? fmt::format(" for {} frames", frames) : ""));
}

}  // namespace contorno
