// A graph planned for the formats of a stream, for one slot: its stage objects, its CUDA stream and the
// memory of every value, all allocated in `plan`. `launch` starts the work of one frame, and `wait` returns
// when it is complete. What a stage makes takes memory from its turn to that of the last stage that reads it
// (memory_plan.h). On the CPU the work is complete when `launch` returns. On CUDA the whole frame
// (upload, stages, download) is captured once and launched as one graph; where stages have a state
// (PlanContext::state), as three: only the one that has these stages waits for the frame before. Stages that
// run on the host (StageType::on_host) do so in `launch`, before that; what they make are then more outputs
// of the source, which are uploaded like its own. Used by one thread at a time.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/memory.h"
#include "cuda/stream.h"
#include "pipeline/graph/banded_upload.h"
#include "pipeline/graph/carried_state.h"
#include "pipeline/graph/device_clock.h"
#include "pipeline/graph/graph.h"
#include "pipeline/graph/memory_plan.h"

namespace contorno {

/// The capacities that frames have needed so far, by node; shared by all slots, so that a slot learns from
/// the overflows of others. Safe from any thread.
class Capacities {
 public:
  explicit Capacities(std::size_t nodes) : needed_(nodes) {}
  std::uint64_t of(std::size_t node) const { return needed_[node].load(std::memory_order_relaxed); }
  /// Raises the capacity of a node; `generation` then grows, if it was lower before.
  void raise(std::size_t node, std::uint64_t needed);
  /// Forgets what frames have needed. Only called while no graph is planned with these capacities.
  void forget() {
    for (auto& needed : needed_) needed.store(0, std::memory_order_relaxed);
  }
  std::uint64_t generation() const { return generation_.load(std::memory_order_relaxed); }

 private:
  std::vector<std::atomic<std::uint64_t>> needed_;
  std::atomic<std::uint64_t> generation_ = 0;
};

/// The parts of a frame are timed one by one where its number is a multiple of this.
inline constexpr std::uint64_t kNoFrame = 0, kEveryFrame = 1;
/// So many that frames are hardly slower for it. On CUDA, where a frame with times has an event after every
/// stage, one in 11: a prime, so that all slots have their share and few inputs are in step with it. On the
/// CPU, where a time is a read of the clock, all.
constexpr std::uint64_t cheap_probe_every(Backend backend) {
  return backend == Backend::Cuda ? 11 : kEveryFrame;
}

/// What all slots of a run have in common. Everything is borrowed.
struct PlanEnvironment {
  const GraphSpec* graph = nullptr;
  Backend backend = Backend::Cpu;           ///< decided, never Auto
  std::uint64_t probe_every = kEveryFrame;  ///< frames that are timed: see kNoFrame
  int threads = 1;
  const TextRasteriser* text = nullptr;
  Capacities* capacities = nullptr;
  std::vector<Origin> exports{};  ///< values that are needed on the host when a frame is complete
  Origin counted{};               ///< contours whose counts alone are; the source: none
  MemorySharing sharing = MemorySharing::Shared;
  std::size_t last_band = kLastBandBytes;  ///< bytes of the last band of an upload; tests make it small
  /// On CUDA: the source writes frames into memory of the device, where they are complete when `launch` is
  /// called, and images that are exported stay there. Contours that are exported are downloaded.
  bool frames_on_device = false;
  /// On CUDA: the source writes class maps into memory of the device, where they are complete when `launch`
  /// is called. Where they are exported they are downloaded.
  bool maps_on_device = false;
  /// What comes in and what the last node makes lies in memory of the caller, on the device on CUDA: who uses
  /// `enqueue` instead of `launch`. Nothing is exported then.
  bool outside = false;
};

/// When the parts of a frame ended, as now_ns() values; of parts that took turns, as if each had been done at
/// once. On CUDA these are times of the device, converted to that clock, and work during the upload counts as
/// upload.
struct PartTimes {
  std::int64_t start_ns = 0, uploaded_ns = 0;
  std::vector<std::int64_t> part_ns;  ///< end of each part of each node; part_names has their names
  std::int64_t downloaded_ns = 0;
};

/// Bytes that a slot takes, by kind of memory. Pinned is page-locked where there is CUDA, else ordinary.
/// `saved`: how many more it would take if no two values shared memory.
struct SlotMemory {
  std::size_t host = 0, pinned = 0, device = 0, saved = 0;
  std::size_t total() const { return host + pinned + device; }
  SlotMemory& operator+=(const SlotMemory& other) {
    host += other.host, pinned += other.pinned, device += other.device, saved += other.saved;
    return *this;
  }
};

/// What stands in for a source: the formats of its outputs, frame and maps of a stream. An image without
/// channels stands for what it does not have.
struct PlannedSource {
  std::vector<Format> formats;
  std::string description;  ///< what messages call the source
};
PlannedSource source_of(const StreamFormat& stream);

class PlannedGraph {
 public:
  explicit PlannedGraph(const PlanEnvironment& environment);
  ~PlannedGraph();

  /// Plans every stage and allocates. Throws Error(BadConfig) when formats do not fit, Error(OutOfMemory).
  void plan(const PlannedSource& source);
  void plan(const StreamFormat& stream) { plan(source_of(stream)); }
  /// The same for another graph of the slot, which takes what the source writes for `first`, and is launched
  /// in its place: never while a frame of either is under way. Planned again whenever `first` is. It has the
  /// same states; throws also what makes it another graph than it stands for.
  void plan_beside(PlannedGraph& first, const StreamFormat& stream);
  /// Plans every stage, but allocates nothing for frames: afterwards only `format` and `memory` may be asked.
  void plan_formats(const StreamFormat& stream);
  /// Likewise what plan_beside would plan.
  void plan_formats_beside(const PlannedGraph& first, const StreamFormat& stream);
  /// Prepares a graph with values outside: plans and allocates what lies between and beside them, and clears
  /// it on `stream`.
  void plan_between(const PlannedSource& source, void* stream);
  /// Where the source writes: null views for what the stream does not have.
  FrameInput& input() { return *input_; }
  /// The value that output `port` of the source writes.
  const Value& source_value(std::size_t port) const { return source_values_.at(port); }

  /// Starts the work of the frame in `input`. Plans again first when a capacity was found to be too small.
  /// Throws what stages on the host throw.
  void launch();
  /// The work of a frame whose values lie outside, on `stream`: on the CPU does it, on CUDA enqueues it,
  /// stage after stage. Counts of contours that the last node makes are in `value` afterwards.
  void enqueue(std::span<const Value> inputs, std::span<const Value> outputs, void* stream);
  /// Waits until the frame is complete. Throws Error(Internal) when the device failed.
  void wait();
  /// After `wait`: true when a capacity was too small. It has then been raised, and the frame must be
  /// launched again.
  bool overflowed();
  /// The times of the last frame, after `wait`; null where it is none of those that are timed.
  const PartTimes* times();

  /// What stages know of the frames before. Who launches frames one after the other in one graph need not
  /// look at it; frames of several graphs follow each other by CarriedState::begin_with.
  CarriedState& states() { return states_; }
  /// See Stage::track_counts; after `wait`.
  std::span<const TrackCounts> track_counts(std::size_t node) const {
    return nodes_[node].stage->track_counts(nodes_[node].context);
  }

  /// What it was made of.
  const GraphSpec& graph() const { return *environment_.graph; }
  /// See Stage::objects.
  const ObjectsRule* objects(std::size_t node) const { return nodes_[node].stage->objects(); }

  /// A value that can be read after `wait`: one of the exports, the counts of the contours that are counted,
  /// or an input from the source. It lies in host memory, but for what PlanEnvironment::frames_on_device
  /// keeps on the device, and maps that come there and are not exported. Throws InternalError for another
  /// one, whose memory has been used again.
  const Value& value(const Origin& origin) const;
  /// See Stage::selection, of a graph of one node; null: it has none.
  const std::uint32_t* selection() const;
  const Format& format(const Origin& origin) const;
  const SlotMemory& memory() const { return memory_; }

 private:
  struct Request {
    std::size_t bytes;
    MemoryKind kind;
    bool temporary;
  };
  struct Node {
    std::unique_ptr<Stage> stage;
    std::vector<Format> formats;  // of its outputs
    bool on_host = false;         // on CUDA, and runs on the host
    std::vector<Origin> origins;  // of its inputs; what was made on the host comes from the source
    std::size_t first_port = 0;   // of those of the source that stand for its outputs, if it is on the host
    std::vector<Request> requests;
    std::size_t state_offset = 0, state_bytes = 0;
    std::vector<Value> inputs, outputs, host_outputs;
    std::vector<BandedUpload*> uploads;  // of the inputs
    std::vector<std::byte*> scratches;
    std::size_t first_part = 0;  // among those of all nodes
    RunContext context;
    std::uint64_t needed = 0;  // on the CPU: the capacity that the frame in work needs
    int read_until = 0;        // the last node that reads what this one makes
  };
  /// An output that is copied to the host: an image, or contours.
  struct Download {
    std::size_t node, port;
  };
  class Context;
  class Placer;
  /// A part of the work of a frame: the stages from the first to the last one that has a state, those before
  /// them, and those behind them. A graph without a stage that has a state is one part.
  enum class Part : std::uint8_t { Before, Stateful, Behind, Whole };

  bool on_device() const { return environment_.backend == Backend::Cuda; }
  bool frames_stay() const { return on_device() && environment_.frames_on_device; }
  /// Whether output `port` of the source lies on the device from the start.
  bool comes_on_device(std::size_t port) const {
    return on_device() && ((environment_.frames_on_device && port == Origin::kFrame) ||
                           (environment_.maps_on_device && port == Origin::kMaps));
  }
  MemoryKind working_kind() const { return on_device() ? MemoryKind::Device : MemoryKind::Host; }
  bool exported(const Origin& origin) const;
  const Node* host_node(const Origin& origin) const;
  void set_source(const PlannedSource& source);
  void plan_memory();
  void check_beside(const PlannedGraph& first) const;
  void run_on_host();
  void launch_captured();
  void add_host_times();
  bool is_outside(const Origin& origin) const;
  bool is_kept(const Origin& origin) const;
  void plan_nodes();
  void find_lifetimes();
  Lifetime lifetime_of(std::size_t node, std::size_t port) const;
  void plan_uploads();
  void replan();
  void warm_up();
  void place_values(void* stream);
  void place_all(Placer& placer);
  void place_node(std::size_t index, Placer& placer);
  void place_output(std::size_t index, std::size_t port, Placer& placer);
  void connect_nodes();
  void run_node(std::size_t index);
  void fill_blocks(int node, int Lifetime::*end);
  void download(const Download& one);
  const Value& working_value(const Origin& origin) const;
  /// Behind the first stage with a state the upload is over.
  bool takes_bands(std::size_t node) const {
    return node < first_with_state_ && !nodes_[node].on_host && nodes_[node].stage->takes_bands();
  }
  void count_states();
  bool is_probed(std::uint64_t frame) const {
    return environment_.probe_every != kNoFrame && frame % environment_.probe_every == 0;
  }
  /// Whether there are frames with times, or without.
  bool has_frames(bool probed) const { return environment_.probe_every != (probed ? kNoFrame : kEveryFrame); }
  void launch_on_device();
  void capture();
  std::vector<CapturedGraph> capture_parts();
  CapturedGraph capture(Part part);
  void enqueue(Part part);
  void run_nodes(std::size_t begin, std::size_t end);
  void enqueue_uploads();
  void enqueue_downloads();
  void finish_uploads();
  void wait_for_inputs(std::size_t node);
  void record(std::size_t event);
  void end_part(std::size_t part);
  void read_events();

  PlanEnvironment environment_;
  PlannedSource source_;          // and, behind its own formats, those of what stages on the host make
  std::size_t source_ports_ = 0;  // of its own
  std::vector<Node> nodes_;
  std::vector<Value>
      source_values_;  // where the source writes: on the host, but for what comes on the device
  std::vector<Value> device_sources_;
  std::optional<Value> host_maps_;  // a copy of maps that come on the device, if they are exported
  std::vector<std::optional<BandedUpload>> uploads_;  // of the images of the source that a node takes
  std::vector<int> source_read_until_;                // the last node that reads an output of the source
  std::vector<Download> downloads_;                   // behind the last node
  std::vector<Download> counts_downloads_;            // by node: what follows that node, before the next one
  FrameInput own_input_;
  FrameInput* input_ = &own_input_;
  // Kept over a replan: the frame that overflowed is still in them. Pinned, and for what comes on the device.
  Block input_block_, device_input_block_;
  Block host_block_, pinned_block_, device_block_;
  std::vector<MemoryPlan::Block> shared_blocks_;  // to fill with a pattern: see MemorySharing::Filled
  SlotMemory memory_;
  static constexpr std::uint64_t kNotPlanned = ~std::uint64_t{0};
  std::uint64_t generation_ = kNotPlanned;  // of the capacities that the plan is made for
  bool probed_ = false;  // the frame that was launched last; while a graph is captured: its frames
  PartTimes times_;
  std::size_t running_ = 0;                 // node
  std::int64_t part_began_ns_ = 0;          // on the host
  std::vector<std::int64_t> host_part_ns_;  // durations, by part; zeros of those on the device
  const std::function<void(std::size_t)> part_ended_ = [this](std::size_t part) { end_part(part); };
  CarriedState states_;
  std::size_t state_bytes_ = 0;
  std::size_t first_with_state_ = 0, end_with_state_ = 0;  // nodes; both are their number if there is none

  // CUDA only. Events: start, uploaded, each part of each node, downloaded.
  Stream stream_;
  std::vector<Event> events_;
  std::optional<DeviceClock> clock_;
  std::array<std::vector<CapturedGraph>, 2> captured_;  // a graph a part; the second: of frames with times
};

}  // namespace contorno
