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
#include "pipeline/graph/graph.h"

namespace contorno::config {

/// Whether a graph must say where frames come from. Optional is for hosts that bring their own.
enum class SourceUse : std::uint8_t { Needed, Optional };

/// What the command line changes in a graph; it is checked exactly as the file is.
struct LoadOptions {
  /// "node.key=value", "source.key=value", "pipeline.key=value" or "classes.NAME.key=value".
  std::vector<std::string> overrides{};
  std::optional<std::string> input{};  ///< sets the parameter that the source type calls its input
  std::optional<Backend> backend{};    ///< outranks the file
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

/// Reads "-" from standard input. `options.input_root` is that of the file, unless it is set. Throws
/// Error(MissingInput) when there is no such file, ConfigErrors when the graph is wrong.
GraphSpec load_graph(const std::string& path, const Catalog& catalog, const LoadOptions& options = {});
/// `file_name` is only for messages.
GraphSpec load_graph_text(const std::string& text, const std::string& file_name, const Catalog& catalog,
                          const LoadOptions& options = {});

/// Once the source is open: takes the classes from its maps where the graph says `classes: auto`, settles
/// every input that takes "whatever the source delivers" (Origin:: kFrameOrMaps, kMapsOrFrame) and checks
/// that source.frame and source.maps exist where they are used. In a stream of maps without frames, nodes and
/// sinks that need a frame (an overlay) are taken out, as long as a sink is left, or without any sink a node.
/// Returns a sentence that names them, or nothing. Throws Error(BadConfig) with all that is missing.
std::string bind_source(GraphSpec& graph, const StreamFormat& stream);

/// Opens the graph's source and tells it how many classes are expected.
std::unique_ptr<Source> make_source(const GraphSpec& graph);
/// A source that a graph is bound to.
struct BoundSource {
  std::unique_ptr<Source> source;
  std::string notice;  ///< what bind_source has to tell the user
};
/// make_source, then bind_source.
BoundSource open_source(GraphSpec& graph);

/// What is allowed but probably not meant: outputs that nobody reads, levels outside 0..1, no sink.
std::vector<std::string> graph_warnings(const GraphSpec& graph);

}  // namespace contorno::config
