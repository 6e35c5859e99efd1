// FrameGraph: the graph of a configuration, made ready to run in the middle of somebody else's pipeline. Its
// source is what the pipeline brings and its results go on with the frame, so the configuration's own source
// and sinks stay unused. Knows nothing of GStreamer. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/graph/graph.h"
#include "pipeline/value/text.h"

namespace contorno::gst {

/// `config` is the path of a YAML file, or YAML text when it has a line break or ": " in it; `extensions` are
/// paths of libraries with stages of others, with ':' between them. Throws what config::load_graph_text and
/// with_extensions throw.
GraphSpec load_configuration(const std::string& config, const std::string& extensions);

struct FrameGraphOptions {
  std::optional<Backend> backend;    ///< outranks the configuration's
  bool draws = true;                 ///< whether there is a drawing of the frame
  std::vector<std::string> classes;  ///< whose contours are drawn and handed on; empty: all
};

class FrameGraph {
 public:
  /// Throws Error(BadOption) for an unknown class, Error(BadConfig) where no contours come out,
  /// Error(Unavailable).
  FrameGraph(GraphSpec graph, FrameGraphOptions options);

  /// Makes it fit frames and maps of these formats. Throws Error(BadConfig).
  void bind(const StreamFormat& stream);

  const GraphSpec& graph() const { return graph_; }
  GraphSpec& graph() { return graph_; }
  const BackendChoice& backend() const { return backend_; }
  const TextRasteriser* text() const { return text_.get(); }
  /// The value that has the contours.
  const Origin& contours() const { return contours_; }
  /// The frame with the contours drawn on it; none where nothing is drawn.
  const std::optional<Origin>& drawing() const { return drawing_; }
  /// Whether contours of class `index` are handed on.
  bool is_wanted(std::size_t index) const {
    return index < wanted_.size() ? wanted_[index] : options_.classes.empty();
  }

 private:
  void choose_classes();
  void find_results();
  void leave_out_drawing();
  void remove_node(int index);

  GraphSpec graph_;
  FrameGraphOptions options_;
  BackendChoice backend_;
  std::vector<bool> wanted_;
  Origin contours_;
  std::optional<Origin> drawing_;
  std::unique_ptr<TextRasteriser> text_;
};

}  // namespace contorno::gst
