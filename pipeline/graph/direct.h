// One stage on its own, on images of the caller, which it reads and writes where they lie: in host memory on
// the CPU, in device memory on CUDA, with any pitches, on the caller's stream. Nothing is copied; formats are
// planned once, and again only when they change. (An AppliedStage, pipeline/graph/applied.h, has memory of
// its own for the images.) Used by one thread at a time.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "pipeline/graph/stage.h"

namespace contorno {

class DirectStage {
 public:
  /// `backend` is Cpu or Cuda; `threads` are of the CPU backend, 0 = as many as the machine has. Throws
  /// Error(BadOption) when the stage takes something other than images, Error(Unavailable) when it has no
  /// implementation for the backend.
  DirectStage(const StageType& type, const ParamSet& params, Backend backend, int threads,
              std::vector<ClassSpec> classes = {});
  ~DirectStage();
  DirectStage(const DirectStage&) = delete;
  DirectStage& operator=(const DirectStage&) = delete;

  /// Plans the stage and allocates its own memory, on the device that is current, and clears it on `stream`.
  /// `inputs` has the format of each input, in the order of the stage's ports. Throws Error(BadConfig) when
  /// the formats do not fit, Error(BadOption) when an output is no image, Error(OutOfMemory).
  void plan(std::span<const ImageFormat> inputs, void* stream);
  /// Formats of the outputs, after plan.
  std::span<const ImageFormat> outputs() const { return outputs_; }
  /// Enqueues the work; on the CPU, does it. The images must not overlap, and must live until the work is
  /// done. Only after that may the stage be enqueued on another stream, planned again or destroyed. Allocates
  /// memory in its first call at most. Throws Error(BadData).
  void enqueue(std::span<const ImageView> inputs, std::span<const ImageView> outputs, void* stream);

 private:
  class Context;
  struct Request {
    std::size_t bytes;
    MemoryKind kind;
  };

  const StageType& type_;
  std::unique_ptr<Stage> stage_;
  Backend backend_;
  int threads_;
  std::vector<ClassSpec> classes_;
  std::vector<ImageFormat> inputs_, outputs_;
  bool ready_ = false;  // planned for inputs_
  std::vector<Request> requests_;
  std::vector<Block> blocks_;
  std::vector<std::byte*> scratches_;
  std::vector<Value> from_, to_;  // of the last enqueue
};

}  // namespace contorno
