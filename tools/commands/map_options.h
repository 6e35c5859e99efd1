// Options of the commands that look at one image, array or map: how it is read, how contours are found in it,
// and where. The same names, values and help in every command.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stages/contours/find_contours.h"
#include "tools/apply_files.h"

namespace CLI {
class App;
}

namespace contorno {

/// --layout and --channels.
struct ReadOptions {
  std::string layout = "hwc", channels = "auto";
  /// Loads an image or array as load_image does, with these options.
  LoadedImage load(const std::string& path) const;
};
/// `options` must outlive the command; so must the variables that the functions below are given.
void add_read_options(CLI::App& command, ReadOptions& options);

/// --fully-connected, --positive-orientation and --mask.
struct ContourOptions {
  std::string fully_connected = "low", positive_orientation = "low", mask;
  Connectivity connectivity() const {
    return fully_connected == "high" ? Connectivity::High : Connectivity::Low;
  }
  Orientation orientation() const {
    return positive_orientation == "high" ? Orientation::High : Orientation::Low;
  }
};
void add_contour_options(CLI::App& command, ContourOptions& options);

/// --backend.
void add_backend(CLI::App& command, std::string& backend);
/// The backend that it names, one of those that --backend allows.
Backend backend_called(const std::string& name);
/// Whether to compute on the device: with "cuda", and with "auto" where there is one.
bool wants_device(const std::string& backend);

/// --time; `sentence` says what is timed.
void add_time(CLI::App& command, bool& time, const std::string& sentence);
/// What --time asks for, on standard error: "contorno: WHAT: TIME ms on BACKEND", of several frames with
/// their number.
void say_time(std::string_view what, std::int64_t ns, Backend backend, std::uint64_t frames = 1);

}  // namespace contorno
