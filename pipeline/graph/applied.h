// One stage on its own, on images and contours of the caller, without source, sinks and threads of a
// pipeline: `contorno apply` and the Python package run these. Planning and memory are those of a graph, on
// either backend; formats are planned once, and again only when they change. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "pipeline/graph/graph.h"

namespace contorno {

class Capacities;
class PlannedGraph;

/// Has memory for what it takes, unlike a DirectStage (pipeline/graph/direct.h).
class AppliedStage {
 public:
  /// `backend` may be Auto; `threads` are of the CPU backend, 0 = as many as the machine has. Throws
  /// Error(Unavailable) when the backend cannot run, Error(BadOption) for a list of steps without steps, or
  /// with one that takes more than contours.
  AppliedStage(const StageType& type, ParamSet params, Backend backend, int threads,
               std::vector<ClassSpec> classes = {}, const TextRasteriser* text = nullptr);
  ~AppliedStage();
  AppliedStage(const AppliedStage&) = delete;
  AppliedStage& operator=(const AppliedStage&) = delete;

  /// Plans the stage and allocates; `inputs` has the format of each input, in the order of the stage's ports.
  /// Throws Error(BadConfig) when they do not fit, Error(OutOfMemory).
  void plan(std::span<const Format> inputs);
  /// Where the caller writes input `port`: host memory (pinned where there is CUDA) that lives until the next
  /// plan.
  const Value& input(std::size_t port) const;
  const ImageView& image_input(std::size_t port) const { return std::get<ImageView>(input(port)); }
  /// The number of the frame that is in the inputs, for stages that know of the frames before; 0 without a
  /// call.
  void set_frame(std::uint64_t number);
  /// Processes what is in the inputs, to the end. Throws Error(BadData, Internal), and Error(OutOfMemory)
  /// where a result needs more room than there is: `plan` comes before the next run then.
  void run();
  /// Result of the last run, on the host; valid until the next run or plan.
  const Value& output(std::size_t port) const;
  Backend backend() const { return backend_; }

 private:
  Origin output_origin(std::size_t port) const;

  const StageType& type_;
  GraphSpec graph_;  // the outputs of its source are what is given
  Backend backend_;
  std::vector<Format> formats_;
  bool ready_ = false;  // planned for formats_
  std::unique_ptr<Capacities> capacities_;
  std::unique_ptr<PlannedGraph> planned_;
};

/// Whether a stage makes contours, and nothing else, of contours and perhaps of images.
bool is_on_contours(const StageType& type);
/// Throws Error(BadOption) for something other than images, on either side of a stage or in what it makes.
void check_on_images(const StageType& type);
void check_makes_images(const StageType& type);
/// Throws Error(BadOption) when the stage does not have `count` inputs.
void check_input_count(const StageType& type, std::size_t count);

/// Copies the samples of `from` to `to`, which has the same sides, channels and element type and may have
/// another layout and other pitches.
void copy_image(const ImageView& from, const ImageView& to);

}  // namespace contorno
