// SlotRun: the runner of a graph in the middle of somebody else's pipeline. Its source is a FrameQueue, whose
// frames it brings into the runner's slots as RGBA; its sinks draw into the buffers, and attach the contours
// to them. Frames under way overlap as in every run, and the queue has them go on in order. Made and
// destroyed by the streaming thread while the queue is settled; the work is done by the runner's threads.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "pipeline/run/runner.h"
#include "plugins/gst/element/frame_access.h"
#include "plugins/gst/element/frame_graph.h"
#include "plugins/gst/element/frame_queue.h"

namespace contorno::gst {

class SlotRun {
 public:
  struct Settings {
    StreamFormat stream;
    bool regions = true;           ///< whether regions of interest are attached
    std::int64_t deadline_ns = 0;  ///< longest time from a frame's arrival to its result; 0: none
  };
  /// Who is told what became of frames, from any thread of the run.
  struct Owner {
    std::function<void(const PassingFrame&, const char* what, const std::string& reason)> report;
    /// An object has left; `line` is its record, as the sink jsonl writes it.
    std::function<void(const ObjectRecord&, const std::string& called, const std::string& line)> object;
    /// Called in the handler of an exception that ends the run.
    std::function<void()> broken;
  };

  /// Plans all slots and starts the threads. `access`, `queue` and `accounts` are borrowed. Throws what
  /// Runner throws, and Error(BadConfig) where the drawing does not fit the frames.
  SlotRun(FrameGraph graph, Settings settings, FrameAccess& access, FrameQueue& queue, Accounts& accounts,
          Owner owner);
  /// Ends the threads; frames that wait stay in the queue.
  ~SlotRun();
  SlotRun(const SlotRun&) = delete;
  SlotRun& operator=(const SlotRun&) = delete;

  /// The backend that the stages run on.
  Backend backend() const { return graph_.backend().backend; }
  /// Whether there may be records of objects when it ends.
  bool makes_objects() const;

 private:
  class Frames;
  class Results;

  std::vector<SinkBinding> bind();
  RunOptions options();
  void check_drawing() const;
  void draw(PassingFrame& frame, const ImageView& drawing);
  void add_result(PassingFrame& frame);
  void complete(PassingFrame& frame);
  void check_time(const PassingFrame& frame);
  void note_objects(const FinishedObjects& objects);

  FrameGraph graph_;
  Settings settings_;
  FrameAccess& access_;
  FrameQueue& queue_;
  Accounts& accounts_;
  Owner owner_;
  std::unique_ptr<Frames> frames_;
  std::unique_ptr<Results> contours_, drawings_;
  std::unique_ptr<Runner> runner_;
  std::uint64_t regrown_ = 0;  // frames counted as such so far; used by the thread of the contours
  std::string objects_;        // records that wait for the next frame; likewise
  std::thread thread_;         // runs runner_
};

}  // namespace contorno::gst
