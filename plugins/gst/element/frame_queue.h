// FrameQueue: the frames inside the element `contorno`, from the buffer that came in to the buffer that goes
// on, in the order in which they came. The streaming thread enters them, and waits while there are as many as
// slots; the reader of a run takes them one by one and fills slots with them; the thread of the source pad
// takes the first one when its work is done. A discarded frame keeps its room until it is the first and its
// work is done; then it counts as dropped. No call allocates memory. Safe from any thread. The streaming
// thread, the reader and the source pad are one thread each; results may come from several.
#pragma once

#include <gst/gst.h>

#include <array>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "pipeline/value/image.h"
#include "plugins/gst/element/accounts.h"
#include "plugins/gst/element/maps_input.h"
#include "plugins/gst/element/meta.h"

namespace contorno::gst {

/// A buffer on its way, and what is known of it. Belongs to the thread that has taken it.
struct PassingFrame {
  enum class State : std::uint8_t { Waiting, UnderWay, Done };
  GstBuffer* buffer = nullptr;  ///< owned
  std::optional<Maps> maps;     ///< owned, until they are read
  std::uint64_t number = 0;     ///< since the element was started
  std::int64_t arrived_ns = 0;
  bool after_gap = false;        ///< the frame before it was dropped
  std::uint64_t run_number = 0;  ///< the number that the run gave it
  ImageView seen;                ///< the frame as the graph got it, while it has its slot
  SharedBlock contours;          ///< null until they are known
  std::string failure;           ///< why it goes on without contours; empty: the work succeeded

  // Used by the queue alone:
  State state = State::Done;
  bool discarded = false;  ///< goes nowhere when its work is done
  int results = 0;         ///< results that are still to come
};

class FrameQueue {
 public:
  static constexpr std::size_t kMost = 64;  // slots of a graph

  explicit FrameQueue(Accounts& accounts) : accounts_(accounts) {}
  ~FrameQueue();
  FrameQueue(const FrameQueue&) = delete;
  FrameQueue& operator=(const FrameQueue&) = delete;

  /// How many frames there may be: 1 to kMost.
  void set_room(std::size_t frames);
  /// Discards what is inside. While it flushes nothing is taken in or handed out; a frame that was handed out
  /// still goes on. The end sets flow() to GST_FLOW_OK. A new queue flushes.
  void set_flushing(bool flushing);
  /// Why nothing more is taken in; GST_FLOW_OK: it is.
  GstFlowReturn flow() const;
  /// Takes in nothing more, and discards all frames but the one that take_first() has handed out. The first
  /// reason stays; `why` is not GST_FLOW_OK.
  void refuse(GstFlowReturn why);

  // The streaming thread:
  /// Waits for room, and takes the frame with its references, whatever becomes of it. One whose state is Done
  /// goes on without work. One that needs work while no run reads is dropped, and flow() is GST_FLOW_ERROR
  /// from then on. Gives flow().
  GstFlowReturn enter(PassingFrame&& frame);
  /// Waits until the work on every frame inside is done.
  void settle();
  /// Waits until no frame is inside, or a flush begins.
  void drain();

  // The reader of a run:
  /// Waits for a frame that is to be worked on; null after stop_reading() or abandon().
  PassingFrame* take_waiting();
  void start_reading();
  void stop_reading();
  /// The frame is in a slot, under this number; so many results will come of it.
  void begin(PassingFrame& frame, std::uint64_t run_number, int results);

  // Whoever has a result:
  /// The frame under way with this number. Throws InternalError where there is none.
  PassingFrame& of_run(std::uint64_t run_number);
  /// Notes that one more result of the frame is there. True: it was the last.
  bool has_result(PassingFrame& frame);
  /// Notes why the work failed; the first reason stays.
  void fail(PassingFrame& frame, std::string reason);
  /// The work is done; the frame is no longer the caller's.
  void finish(PassingFrame& frame);
  /// Takes the frame out; it goes nowhere.
  void drop(PassingFrame& frame);
  /// The run has ended: nothing is read, and what waits or is under way goes nowhere.
  void abandon();

  // The thread of the source pad:
  /// Waits until the first frame is done and hands it out; it keeps its room until left(). Null while it
  /// flushes, or when the queue is empty and flow() is an error.
  PassingFrame* take_first();
  /// The frame has gone on, or `flow` says why it could not; then flow() keeps that and all others are
  /// discarded.
  void left(GstFlowReturn flow);

 private:
  PassingFrame& at(std::size_t place) { return frames_[(begin_ + place) % kMost]; }
  void discard_all();
  void remove_discarded();
  void pop();

  Accounts& accounts_;
  mutable std::mutex mutex_;
  std::condition_variable room_, waiting_, first_;  // wake the streaming thread, the reader, the source pad
  std::array<PassingFrame, kMost> frames_;
  std::size_t begin_ = 0, count_ = 0, room_for_ = 1;
  GstFlowReturn flow_ = GST_FLOW_OK;
  bool flushing_ = true, reading_ = false, leaving_ = false, gap_ = false;
};

}  // namespace contorno::gst
