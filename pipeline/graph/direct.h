// One stage on its own, on images and contours of the caller, which it reads and writes where they lie: in
// host memory on the CPU, in device memory on CUDA, images with any pitches, on the caller's stream. Nothing
// is copied; formats are planned once, and again only when they change. (An AppliedStage,
// pipeline/graph/applied.h, has memory of its own for what it takes and makes.) Used by one thread at a time.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "pipeline/graph/stage.h"

namespace contorno {

class DirectStage {
 public:
  /// `backend` is Cpu or Cuda; `threads` are of the CPU backend, 0 = as many as the machine has. Throws what
  /// check_applicable throws, Error(Unavailable) when the stage has no implementation for the backend.
  DirectStage(const StageType& type, const ParamSet& params, Backend backend, int threads,
              std::vector<ClassSpec> classes = {});
  ~DirectStage();
  DirectStage(const DirectStage&) = delete;
  DirectStage& operator=(const DirectStage&) = delete;

  /// Plans the stage and allocates its own memory, on the device that is current, and clears it on `stream`.
  /// `inputs` has the format of each input, in the order of the stage's ports. Throws Error(BadConfig) when
  /// the formats do not fit, Error(OutOfMemory).
  void plan(std::span<const Format> inputs, void* stream);
  /// Formats of the outputs, after plan.
  std::span<const Format> outputs() const { return outputs_; }
  /// Enqueues the work; on the CPU, does it. Values must not overlap, and must live until the work is done.
  /// Only after that may the stage be enqueued on another stream, planned again or destroyed. Allocates
  /// memory in its first call at most. Throws Error(BadData).
  void enqueue(std::span<const Value> inputs, std::span<const Value> outputs, void* stream);

  // After the work is done:
  /// True when there was too little room for the contours of an output, which are not valid then. Plan again
  /// for the same formats, which plans for more of them, and enqueue.
  bool overflowed();
  /// The number of points and contours of output `port`, on the host.
  const ContourCounts& counts(std::size_t port) const {
    return *std::get<ContoursView>(host_outputs_[port]).counts;
  }
  /// What Stage::selection has; null if it has none. Valid until the stage is enqueued or planned again.
  const std::uint32_t* selection() const;

 private:
  class Context;
  struct Request {
    std::size_t bytes;
    MemoryKind kind;
  };

  RunContext context(void* stream) const;
  void plan_counts();

  const StageType& type_;
  std::unique_ptr<Stage> stage_;
  Backend backend_;
  int threads_;
  std::vector<ClassSpec> classes_;
  std::vector<Format> inputs_, outputs_;
  bool ready_ = false;          // planned for inputs_
  std::uint64_t capacity_ = 0;  // that overflows have asked for
  std::vector<Request> requests_;
  std::vector<Block> blocks_;
  std::vector<std::byte*> scratches_;
  std::vector<Block> count_blocks_;  // on CUDA, of each output that is contours
  std::vector<Value> from_, to_;     // of the last enqueue
  std::vector<Value> host_outputs_;  // see RunContext::host_outputs
};

}  // namespace contorno
