// One stage on its own, on images and contours of the caller, which it reads and writes where they lie: in
// host memory on the CPU, in device memory on CUDA, on the caller's stream. (An AppliedStage,
// pipeline/graph/applied.h, has memory of its own for what it takes and makes.) Used by one thread at a time:
//
//   DirectStage stage(type, params, Backend::Cuda, 0);
//   do {
//     stage.plan(formats, stream);                // returns at once when nothing has changed
//     <the caller has memory for stage.outputs()>
//     stage.enqueue(inputs, outputs, stream);
//     synchronize_stream(stream);                 // not on the CPU, where the work is done by now
//   } while (stage.overflowed());
//
// The caller allocates what goes in and comes out; the stage allocates what else it needs, when it is
// planned. `stream` is a cudaStream_t: null is CUDA's default stream, and on the CPU it is not used.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "pipeline/graph/graph.h"

namespace contorno {

class Capacities;
class PlannedGraph;

class DirectStage {
 public:
  /// `type` is borrowed: it must live as long as this, as those of the catalogue do. `backend` is Cpu or
  /// Cuda; `threads` are of the CPU backend, 0 = as many as the machine has. Throws Error(Unavailable)
  /// when the stage has no implementation for the backend, Error(BadOption) as AppliedStage does.
  DirectStage(const StageType& type, const ParamSet& params, Backend backend, int threads,
              std::vector<ClassSpec> classes = {});
  ~DirectStage();
  DirectStage(const DirectStage&) = delete;
  DirectStage& operator=(const DirectStage&) = delete;

  /// Plans the stage and allocates its own memory, on the device that is current, and clears it on `stream`;
  /// does nothing when it is planned for these formats and has not overflowed. `inputs` has the format of
  /// each input, in the order of the stage's ports. Throws Error(BadConfig) when the formats do not fit,
  /// Error(OutOfMemory); the stage must then be planned before it is enqueued.
  void plan(std::span<const Format> inputs, void* stream);
  /// Formats of the outputs, as of the last plan. After an overflow the next plan makes them larger, so that
  /// memory for them has to be looked at after every plan.
  std::span<const Format> outputs() const { return outputs_; }
  /// The number of the frame that is enqueued next, for stages that know of the frames before it; 0 without a
  /// call. With `begin_anew` there were none before.
  void set_frame(std::uint64_t number);
  void begin_anew();
  bool has_state() const;
  /// Enqueues the work; on the CPU, does it. Values have the formats that were planned, must not overlap, and
  /// live until the work is done. Images may have any pitches, and arrays of contours that are read may lie
  /// anywhere; outputs that are contours are packed views (packed_view) of one block each. Only when the work
  /// is done may the stage be enqueued on another stream, planned again or destroyed. Allocates memory in its
  /// first call at most. Throws Error(BadData) when what was given cannot be processed, Error(Internal) when
  /// the device failed.
  void enqueue(std::span<const Value> inputs, std::span<const Value> outputs, void* stream);

  // After the work is done:
  /// True when there was too little room for the contours of an output, which are not valid then: plan again
  /// for the same formats, which makes room for as many as there were, and enqueue again. That may repeat.
  /// The room stays until formats change. Throws Error(BadData) when no room would do; on the CPU
  /// `enqueue` does.
  bool overflowed();
  /// The number of points and contours of output `port`, on the host. Only of outputs that are contours.
  const ContourCounts& counts(std::size_t port) const;
  /// What Stage::selection has: counts(0).contours numbers, in memory for as many as the output has room for,
  /// host memory on the CPU and device memory on CUDA; null if the stage has none. The address is known after
  /// plan. Valid until the stage is enqueued, planned again or destroyed.
  const std::uint32_t* selection() const;
  /// See Stage::track_counts.
  std::span<const TrackCounts> track_counts() const;

 private:
  Origin output(std::size_t port) const;

  const StageType& type_;
  GraphSpec graph_;  // the stage alone, its values outside
  std::vector<Format> inputs_, outputs_;
  bool ready_ = false;  // planned for inputs_
  std::unique_ptr<Capacities> capacities_;
  std::unique_ptr<PlannedGraph> planned_;
};

}  // namespace contorno
