// Hands finished frames to the sinks. Each sink has a thread and a queue of its own, so that none waits for
// another. A frame stays in its slot, is copied nowhere, and is released when the last sink is done with it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/graph/planned.h"
#include "pipeline/run/sink_queue.h"
#include "pipeline/run/slot_shares.h"
#include "pipeline/run/stats.h"
#include "pipeline/run/thread_signs.h"
#include "pipeline/run/trace.h"

namespace contorno {

/// A sink and the value of the graph that it gets. The sink is borrowed.
struct SinkBinding {
  std::string name{};
  Sink* sink = nullptr;
  Origin input{};
  SinkSettings settings = {};
};

/// The binding of a sink that was made as a graph declares it.
inline SinkBinding bind_sink(const SinkSpec& spec, Sink& sink) {
  return {
      .name = spec.name, .sink = &sink, .input = spec.input, .settings = spec.settings.as<SinkSettings>()};
}

class Delivery {
 public:
  /// Whose slots they are. Called from the threads of the sinks and from the one that hands over.
  struct Owner {
    std::function<void(int slot)> released;  ///< all sinks are done with it
    std::function<void()> all_broken;        ///< no sink is left that takes frames
  };
  struct Settings {
    SlotShares shares;
    Waiting waiting = Waiting::Adaptive;
    Trace* trace = nullptr;  ///< borrowed
  };
  /// A frame that is complete. Everything is borrowed until it is released.
  struct Frame {
    const PlannedGraph* graph = nullptr;
    const FrameInfo* info = nullptr;
    std::int64_t arrived_ns = 0, finished_ns = 0;
    bool late = false;
    int level = 0;  ///< of quality
  };

  Delivery(std::vector<SinkBinding> sinks, const Settings& settings, Owner owner);
  /// Ends the threads; sinks that were not closed are not finished.
  ~Delivery();
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;

  /// The value that each sink takes, in the order of the sinks.
  std::vector<Origin> inputs() const;

  /// Opens the sinks one after the other, each in its own thread, which is started first. While no frame is
  /// handed over. Called again when formats change: a sink that broke is left out. Throws what a sink throws.
  void open(const std::function<SinkContext(const SinkBinding&)>& context_of);
  /// Puts a frame into the queue of every sink; one thread does so, in order.
  void hand_over(int slot, const Frame& frame);
  /// Puts records before frame number `frame`, which comes next, for every sink; kAtTheEnd: behind all
  /// frames.
  void hand_over(FinishedObjects objects, std::uint64_t frame);
  /// Says that frames never come, for every sink; by who hands over, in order with the frames.
  void hand_over(MissingFrames missing);
  /// Tells every sink, before the first frame with this number or a higher one. From any thread; of several
  /// that a sink has no time for the last is told.
  void tell(const CameraNews& news, std::uint64_t frame);
  static constexpr std::uint64_t kAtTheEnd = ~std::uint64_t{0};
  /// What is queued is written, then the sinks that were opened are finished, at the same time; or not, where
  /// nothing was handed over. Waits for the threads.
  enum class Ending : std::uint8_t { Finish, Leave };
  void close(Ending ending);
  /// What became of each sink that was opened. Called after `close`.
  std::vector<SinkOutcome> outcomes() const;
  /// Adds what is seen of the threads of the sinks. From any thread.
  void add_signs(std::vector<ThreadSigns>& threads) const;

 private:
  /// Records that wait for a sink until it turns to a frame.
  struct WaitingObjects {
    std::shared_ptr<const FinishedObjects> objects;
    std::uint64_t frame = 0;
  };
  /// News that wait for a sink. No call allocates.
  class WaitingNews {
   public:
    void add(const CameraNews& news, std::uint64_t frame);
    /// The first that comes before frame number `frame`.
    std::optional<CameraNews> take(std::uint64_t frame);

   private:
    struct One {
      CameraNews news;
      std::uint64_t frame = 0;
    };
    std::array<One, 16> all_{};
    std::size_t count_ = 0;
  };
  /// A sink with its thread; after an error it gets no more frames.
  struct Line {
    Line(SinkBinding bound, const Settings& settings);
    SinkBinding binding;
    SinkQueue queue;
    std::mutex objects_mutex;
    std::deque<WaitingObjects> objects;  // by frames
    std::deque<std::shared_ptr<const MissingFrames>> missing;
    WaitingNews news;
    bool is_broken = false;  // and takes none any more
    std::int32_t track = 0;
    SinkOutcome outcome;        // the thread's until it ends, but for
    std::uint64_t dropped = 0;  // which is that of the one who hands over
    bool opened = false;
    Ending ending = Ending::Leave;  // set before the queue is closed
    WorkSign sign;
    std::thread thread;
  };
  /// A slot in the hands of the sinks.
  struct Handed {
    Frame frame;
    std::int64_t handed_ns = 0;
    std::atomic<int> users = 0;
  };

  void run(Line& line);
  void finish(Line& line);
  void write(Line& line, int slot);
  void write_nudged(Line& line, std::uint64_t limit);
  void fail(Line& line);
  static void write_before(Line& line, std::uint64_t frame);
  static void write_missing(Line& line, std::uint64_t frame);
  static void write_objects(Line& line, std::uint64_t frame);
  static void write_news(Line& line, std::uint64_t frame);
  void release(int slot);

  Trace* trace_;
  Owner owner_;
  std::vector<std::unique_ptr<Line>> lines_;
  std::vector<Handed> handed_;        // by slot
  std::atomic<std::size_t> working_;  // sinks that have not broken
};

}  // namespace contorno
