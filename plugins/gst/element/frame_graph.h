// FrameGraph: the graph of a configuration, made to run in the middle of somebody else's pipeline. Its source
// is what the pipeline brings and its results go on with the frame, so the configuration's own source and
// sinks stay unused. One frame is worked on at a time, to the end. Knows nothing of GStreamer. Used by one
// thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/graph/graph.h"
#include "pipeline/graph/planned.h"

namespace contorno::gst {

/// `config` is the path of a YAML file, or YAML text when it has a line break or ": " in it. Throws what
/// config::load_graph_text throws.
GraphSpec load_configuration(const std::string& config);

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
  ~FrameGraph();

  /// Plans for frames and maps of these formats and takes memory. Throws Error(BadConfig, OutOfMemory).
  void plan(const StreamFormat& stream);
  /// Where the next frame is written.
  FrameInput& input() { return planned_->input(); }
  /// Works on it. Throws Error(BadData) when it cannot be processed. Returns how often a capacity had to be
  /// raised.
  int run();

  /// Of the last run, valid until the next or the next plan.
  const ContoursView& contours() const;
  /// The frame with the contours drawn on it; null where nothing is drawn.
  const ImageView* drawing() const;

  const GraphSpec& graph() const { return graph_; }
  Backend backend() const { return backend_; }
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
  Backend backend_ = Backend::Cpu;
  std::vector<bool> wanted_;
  Origin contours_;
  std::optional<Origin> drawing_;
  std::unique_ptr<TextRasteriser> text_;
  std::unique_ptr<Capacities> capacities_;
  std::unique_ptr<PlannedGraph> planned_;
  std::uint64_t frames_ = 0;  // since it was made
};

}  // namespace contorno::gst
