// One slot's copy of a graph, planned for a stream's formats: its stage objects and the memory of every
// value, all allocated in `plan`. `launch` runs the stages of one frame in order. Used by one thread at a
// time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cuda/memory.h"
#include "pipeline/graph.h"

namespace contorno {

/// Capacities that frames turned out to need, by node; shared by all slots so that each overflow happens
/// once.
class Capacities {
 public:
  explicit Capacities(std::size_t nodes) : needed_(nodes) {}
  std::uint64_t of(std::size_t node) const { return needed_[node].load(std::memory_order_relaxed); }
  /// Counts as a new generation when it is more than was known.
  void raise(std::size_t node, std::uint64_t needed);
  std::uint64_t generation() const { return generation_.load(std::memory_order_relaxed); }

 private:
  std::vector<std::atomic<std::uint64_t>> needed_;
  std::atomic<std::uint64_t> generation_ = 0;
};

/// What all slots of a run have in common. Everything is borrowed.
struct PlanEnvironment {
  const GraphSpec* graph = nullptr;
  Backend backend = Backend::Cpu;  ///< decided, never Auto
  int threads = 1;
  const TextRasteriser* text = nullptr;
  Capacities* capacities = nullptr;
};

class PlannedGraph {
 public:
  explicit PlannedGraph(const PlanEnvironment& environment);

  /// Plans every stage and allocates. Throws Error(BadConfig) when formats do not fit, Error(OutOfMemory).
  void plan(const StreamFormat& stream);
  /// Where the source writes: null views for what the stream does not have.
  FrameInput& input() { return input_; }

  /// Plans again first when another slot found that a capacity is too small. `node_done(i)` is called behind
  /// node i.
  template <class NodeDone>
  void launch(const NodeDone& node_done) {
    if (generation_ != environment_.capacities->generation()) replan();
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      nodes_[node].stage->run(nodes_[node].context);
      node_done(node);
    }
  }
  /// After the work of a frame is complete: true when a capacity was too small. It has then been raised, and
  /// the frame must be launched again.
  bool overflowed();

  const Value& value(const Origin& origin) const;
  const Format& format(const Origin& origin) const;
  std::size_t bytes() const { return input_block_.size() + work_block_.size(); }

 private:
  struct Node {
    std::unique_ptr<Stage> stage;
    std::vector<Format> formats;  // of its outputs
    std::vector<std::size_t> scratch_bytes;
    std::vector<Value> inputs, outputs;
    std::vector<std::byte*> scratches;
    RunContext context;
  };
  class Context;

  void plan_nodes();
  void replan();
  void place_values();

  PlanEnvironment environment_;
  StreamFormat stream_;
  std::vector<Node> nodes_;
  std::vector<Format> source_formats_;  // frame, maps; an empty image where the stream has none
  std::vector<Value> source_values_;
  FrameInput input_;
  Block input_block_;  // kept over a replan: the frame that overflowed is still in it
  Block work_block_;
  std::uint64_t generation_ = 0;
};

}  // namespace contorno
