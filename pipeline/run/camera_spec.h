// A camera of a graph: a source with a name, and the graph that its frames run through. A graph with
// `source:` has one, without a name; one with `sources:` has one for each entry.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/graph/quality.h"
#include "pipeline/run/ops_settings.h"

namespace contorno {

/// What a camera is told beside the parameters of its source.
struct CameraSettings {
  bool required = false;  ///< no frame of any camera flows before this one is there
  double weight = 1;      ///< its share of frames when not all can be worked on
  double max_rate = 0;    ///< most frames a second that are read; 0: twice the rate that it declares
};
/// The declaration of CameraSettings. No type of source may have parameters of these names.
const ParamDeclaration& camera_params();

/// What a run does that wants a device where there is none.
enum class Fallback : std::uint8_t { None, Cpu };

/// The `live:` section: when cameras are taken for lost, and how they are opened again; what a run does with
/// less instead of dropping frames, and instead of not running.
struct LiveSettings {
  double stall_ms = 0;  ///< 0: the greater of 1 s and four intervals between frames
  std::vector<double> reconnect_ms{1000, 30'000};  ///< first and longest wait before an attempt
  std::string degrade{};                           ///< words of steps, "overlay, mip"; empty: none
  Fallback fallback = Fallback::None;
};
/// The steps that LiveSettings::degrade names, in its order. Throws Error(BadConfig) for another word, and
/// for one that comes twice.
std::vector<DegradeStep> degrade_steps(std::string_view words);
/// The declaration of LiveSettings.
const ParamDeclaration& live_params();

/// The most cameras that a graph may name.
inline constexpr std::size_t kMostCameras = 64;
/// Whether a text may be a camera's name: [a-z0-9][a-z0-9_-]{0,31}. Names go into paths, topics and labels as
/// they are.
bool is_camera_name(std::string_view text);

struct CameraSpec {
  std::string name{};  ///< empty: the only source of the graph
  /// A copy of its own: `set` has changed it, and `{camera}` in the paths of its sinks is the name.
  GraphSpec graph{};
  CameraSettings settings{};
  /// What it reads lies in the file system, and is not waited for where it is absent.
  bool reads_files = false;
  /// Why it runs on the CPU, where a device was asked for (LiveSettings::fallback); empty: it does not.
  std::string fallback{};
};

/// All cameras of a graph, in the order of the file.
struct FleetSpec {
  std::vector<CameraSpec> cameras{};
  LiveSettings live{};
  OpsSettings ops{};
  /// Whether the graph has `sources:`, be it with one entry.
  bool is_named() const { return !cameras.empty() && !cameras.front().name.empty(); }
};

}  // namespace contorno
