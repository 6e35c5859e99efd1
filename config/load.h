// From YAML text to a GraphSpec, strictly: every mistake of the file is found in one go and reported with its
// line, a caret and the nearest valid name. What it returns is complete and consistent: types exist, values
// are in range, every input has a producer of its type, nodes come after their inputs.
//
//   source:  {type: video, location: cockatoo.mp4}
//   classes: [{name: rot, level: 0.5, colour: "#e63946"}]
//   stages:  [{type: classify}, {type: contours}]
//   sinks:   [{type: jsonl, path: contours.jsonl}]
//
// A stage's input without `from:` takes its declared default, else the nearest earlier output of its type,
// else the source. Text is never expanded: ${HOME} stays ${HOME}.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "pipeline/graph/bind.h"
#include "pipeline/graph/graph.h"
#include "pipeline/run/camera_spec.h"

namespace contorno::config {

/// Whether a graph must say where frames come from. Optional is for hosts that bring their own.
enum class SourceUse : std::uint8_t { Needed, Optional };

/// What the command line changes in a graph; it is checked exactly as the file is.
struct LoadOptions {
  /// "node.key=value", "source.key=value", "sources.NAME.key=value", "pipeline.key=value" or
  /// "classes.NAME.key=value".
  std::vector<std::string> overrides{};
  std::optional<std::string> input{};       ///< sets the parameter that the source type calls its input
  std::optional<BackendRequest> backend{};  ///< outranks the file
  /// Folder for relative paths of outputs. If it is set, ParamTrial also tries the values of stages, source
  /// and sinks without opening anything: whether paths can be written, path patterns name known words,
  /// encoders are installed.
  std::optional<std::string> output_root{};
  SourceUse source = SourceUse::Needed;
  /// Folder in which relative paths of what is read are taken, where the file says them and not the command
  /// line: that of the graph's file. Empty: the current folder.
  std::string input_root{};
};

/// Whether a source reads what lies in the file system, and no camera, stream or standard input.
bool reads_files(const SourceSpec& source);
/// The folder of a graph's file as LoadOptions::input_root; empty for standard input and pipes.
std::string input_root_of(const std::string& path);

/// Everything that is wrong with a graph. `what()` is the report, one paragraph an error.
class ConfigErrors : public Error {
 public:
  /// `code` is BadConfig, unless all that was found is that something is missing which the graph needs.
  ConfigErrors(ExitCode code, const std::string& report, std::size_t count)
      : Error(code, report), count_(count) {}
  std::size_t count() const noexcept { return count_; }

 private:
  std::size_t count_;
};

/// The cameras of a graph: one without a name for `source:`, and one for each entry of `sources:`, whose
/// graph is the file's with what the entry's `set` changes. Arguments and errors as those of load_graph_text;
/// a mistake that several cameras share is told once.
FleetSpec load_fleet_text(const std::string& text, const std::string& file_name, const Catalog& catalog,
                          const LoadOptions& options = {});

/// Loads a graph of one source, or of none; one with `sources:` is refused. Reads "-" from standard input.
/// `options.input_root` is that of the file, unless it is set. Throws Error(MissingInput) when there is no
/// such file, ConfigErrors when the graph is wrong.
GraphSpec load_graph(const std::string& path, const Catalog& catalog, const LoadOptions& options = {});
/// `file_name` is only for messages.
GraphSpec load_graph_text(const std::string& text, const std::string& file_name, const Catalog& catalog,
                          const LoadOptions& options = {});

// What a graph is bound to its source with is declared in pipeline/graph/bind.h.
using contorno::bind_source;
using contorno::BoundSource;
using contorno::make_source;
using contorno::open_source;

/// What is allowed but probably not meant: outputs that nobody reads, levels outside 0..1, no sink.
std::vector<std::string> graph_warnings(const GraphSpec& graph);

}  // namespace contorno::config
