// A graph as it is declared: settings, classes, source, stages (each after those that it takes its inputs
// from) and sinks. The YAML loader makes one; C++ users may fill it in by hand.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "pipeline/graph/sink.h"
#include "pipeline/graph/source.h"
#include "pipeline/graph/stage.h"
#include "pipeline/value/classes.h"

namespace contorno {

enum class OnFull : std::uint8_t { Auto, Wait, DropOldest, DropNewest };
std::string_view name_of(OnFull policy);

/// How the pipeline's threads wait for each other. Block: they sleep. Adaptive: they sleep, and poll in the
/// short time in which the next frame is due (see ArrivalForecast), which saves the time that waking up
/// takes.
enum class Waiting : std::uint8_t { Adaptive, Block };

/// A backend as a graph or a command line asks for it: `auto`, `cpu`, `cuda`, `cuda:1`, `cuda:all`.
struct BackendRequest {
  static constexpr int kUnnamed = -1;  ///< no device is named: the first
  static constexpr int kAll = -2;      ///< each camera on one of all devices: see Fleet
  BackendRequest(Backend wanted = Backend::Auto, int on = kUnnamed)  // NOLINT(google-explicit-constructor)
      : backend(wanted), device(on) {}
  Backend backend{};
  int device = kUnnamed;  ///< number of a CUDA device, of those that the process sees
  bool operator==(const BackendRequest&) const = default;
};
std::string to_text(const BackendRequest& request);

/// The `pipeline:` section.
struct PipelineSettings {
  BackendRequest backend{};
  int slots = 4;
  OnFull on_full = OnFull::Auto;  ///< Auto: files wait, live sources drop the oldest
  double deadline_ms = 0;         ///< a frame that waited longer is dropped before it is processed; 0 = none
  Waiting waiting = Waiting::Adaptive;
  double device_timeout_ms = 5000;  ///< of one frame's work on the device; 0 = none
  double sink_timeout_ms = 10'000;  ///< a sink that waits longer for its reader is broken; 0 = none
  int threads = 0;                  ///< of the CPU backend; see decided_threads
};
/// The declaration of PipelineSettings.
const ParamDeclaration& pipeline_params();

/// Where an input comes from: output `port` of node number `node`, or of the source (kSource; port kFrame or
/// kMaps). Until the source is open an input may also ask for either of the two, the first one preferred
/// (kFrameOrMaps, kMapsOrFrame).
struct Origin {
  static constexpr int kSource = -1;
  static constexpr int kFrame = 0, kMaps = 1, kFrameOrMaps = -1, kMapsOrFrame = -2;
  int node = kSource;
  int port = 0;
  bool operator==(const Origin&) const = default;
};

/// The name for messages about the inputs of a node, or of what becomes one: that of the part or step that
/// the file names there.
template <class Node>
const std::string& input_name_of(const Node& node) {
  if (!node.part_names.empty()) return node.part_names.front();
  return node.step.name.empty() ? node.name : node.step.name;
}

/// A stage of the graph. `where` is its place in the file, for messages, as "graph.yaml:12:9"; empty without
/// a file.
struct NodeSpec {
  std::string name{};
  const StageType* type = nullptr;
  ParamSet params{};
  std::vector<Origin> inputs{};
  std::string where{};
  std::vector<std::string> part_names = {};  ///< of a node that a file writes part by part; see StageType

  /// Names for a node that was a step of a list: the stage that has the list, what the graph calls that
  /// stage, and what reports call the step. The last step has the name of the list.
  struct ListedStep {
    const StageType* list = nullptr;
    std::string list_name, name;
  };
  ListedStep step = {};
  /// The name for messages about its inputs.
  const std::string& input_name() const { return input_name_of(*this); }
};

struct SourceSpec {
  const SourceType* type = nullptr;
  ParamSet params{};
  std::string where{};  ///< place in the file of what it reads, or of its type; as in NodeSpec
};

/// What every sink of a graph may be told, whatever its type.
struct SinkSettings {
  /// What becomes of a frame when the sink is behind. Wait: it waits, and so does the pipeline when all slots
  /// are taken. DropOldest: the oldest frame that waits for the sink is not written.
  OnFull on_full = OnFull::Wait;
};
/// The declaration of SinkSettings. No type of sink may have parameters of these names.
const ParamDeclaration& sink_params();

struct SinkSpec {
  std::string name{};
  const SinkType* type = nullptr;
  ParamSet params{};
  Origin input{};
  ParamSet settings = ParamSet(sink_params());  ///< SinkSettings
};

struct GraphSpec {
  PipelineSettings settings{};
  std::vector<ClassSpec> classes{};
  SourceSpec source{};
  std::vector<NodeSpec> nodes{};
  std::vector<SinkSpec> sinks{};
  /// The keys that the file or the command line sets, as "small.sigma", "classes.rot.level"; all others have
  /// defaults.
  std::set<std::string> written{};
};

/// The parameter of a stage that stands for a list of steps; null: it does its work itself.
const ParamSpec* list_of_steps(const StageType& type);
/// Whether a stage has an implementation; of one that stands for steps: whether all that it may have have
/// one.
bool runs_on(const StageType& type, Backend backend);
/// Why a stage with these parameters does not run on a backend; empty: it does.
std::string why_not_on(Backend backend, const StageType& type, const ParamSet& params);
/// Why a graph does not run on CUDA where there is a device; empty: it does.
std::string why_not_on_device(const GraphSpec& graph);
/// For each node whether it runs on the host where the graph runs on CUDA: stages that say so
/// (StageType::on_host), and those from which they have what they take.
std::vector<bool> host_nodes(const GraphSpec& graph);
/// A stage of this type. Throws Error(BadConfig) when it does not run on the backend.
std::unique_ptr<Stage> make_stage(const StageType& type, Backend backend, const ParamSet& params);
/// The graph of one stage, whose node takes what the source gives at the same port. A stage that stands for a
/// list of steps becomes a node a step. Throws Error(BadOption) when a step takes more than the contours of
/// the one before it.
GraphSpec graph_of(const StageType& type, const ParamSet& params);

/// What reports call the parts of all nodes (StageType::parts), node by node; a name for each time of
/// PartTimes::part_ns.
std::vector<std::string> part_names(const GraphSpec& graph);
/// The contours that a run counts by class: those of the last stage that makes some; the source: none.
Origin counted_contours(const GraphSpec& graph);

/// A backend, never Auto, and why Auto did not become Cuda; empty where it did, and where nobody asked for
/// it.
struct BackendChoice {
  BackendChoice(Backend chosen = Backend::Cpu, std::string why = {},  // NOLINT(google-explicit-constructor)
                int on = 0)
      : backend(chosen), reason(std::move(why)), device(on) {}
  Backend backend{};
  std::string reason{};
  int device = 0;  ///< number of the device, with Backend::Cuda
};
/// "cpu", "cuda", and "cuda:1 (NVIDIA H200)" where the machine has several devices.
std::string describe(const BackendChoice& choice);

/// The backend that `wanted` means for `graph` on this machine; of all devices the one with the most free
/// memory. When Cuda is wanted and cannot run it throws, with the reason and the remedy: Error(Unavailable)
/// where there is no such device, Error(BadConfig) where it is the graph that does not run there.
BackendChoice choose_backend(const BackendRequest& wanted, const GraphSpec& graph);
/// A source or sink that this build does not have, and why not.
struct LeftOut {
  std::string name{}, reason{};
};

/// Makes a mask of the text that stands for it in a graph or on a command line, the path of a file; throws
/// Error. The core knows no file formats: the Catalog carries the reader of the program's plugins.
using MaskReader = std::function<SharedMask(const std::string& text)>;

/// Everything that a graph may be made of. The lists live as long as the program.
struct Catalog {
  std::vector<const StageType*> stages{};
  std::vector<const SourceType*> sources{};
  std::vector<const SinkType*> sinks{};
  std::vector<LeftOut> left_out{};
  MaskReader read_mask{};  ///< empty: no mask can be given as text

  /// The declaration of this name, or null.
  const StageType* stage(std::string_view name) const;
  const SourceType* source(std::string_view name) const;
  const SinkType* sink(std::string_view name) const;
};

/// The one of `types` that has this name. Throws Error(Usage) that says what they are, a `kind` of "stage" or
/// "step", and which there are.
const StageType& stage_called(const std::vector<const StageType*>& types, std::string_view kind,
                              std::string_view name);

}  // namespace contorno
