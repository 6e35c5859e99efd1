// Runs a graph on the frames of a source: a reader thread fills slots, a launcher thread starts the stages, a
// finisher thread takes the results in order and hands them to the sinks, each of which has a thread of its
// own. Frames under way overlap; no memory is allocated for a frame.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/memory.h"
#include "pipeline/graph/planned.h"
#include "pipeline/graph/quality.h"
#include "pipeline/run/camera_state.h"
#include "pipeline/run/degrade.h"
#include "pipeline/run/delivery.h"
#include "pipeline/run/launch_gate.h"
#include "pipeline/run/ring.h"
#include "pipeline/run/slot_shares.h"
#include "pipeline/run/stats.h"
#include "pipeline/run/team_choice.h"
#include "pipeline/run/thread_signs.h"
#include "pipeline/run/trace.h"
#include "pipeline/value/object_ledger.h"

namespace contorno {

/// The times of one frame, for RunOptions::on_times.
struct FrameTimes {
  std::uint64_t frame = 0;
  std::int64_t arrived_ns = 0;       ///< when the source handed it over, as now_ns() value
  std::int64_t queued_ns = 0;        ///< between its arrival and its launch
  std::int64_t latency_ns = 0;       ///< between its arrival and its result
  const PartTimes* parts = nullptr;  ///< null: this frame is none of those whose parts are timed
};

/// Why a frame was dropped; those under way when a run is aborted are told to nobody.
enum class DropReason : std::uint8_t { RingFull, Deadline, Thinned };

struct RunOptions {
  BackendChoice backend{};       ///< see choose_backend
  std::uint64_t max_frames = 0;  ///< frames to offer; 0 = all
  std::string output_root = ".";
  std::string camera = {};            ///< name of the camera, for messages and sinks; empty: the only source
  OutputRegister* outputs = nullptr;  ///< the files of the run, borrowed; null: every sink is on its own
  std::uint64_t probe_every = kEveryFrame;  ///< frames whose parts are timed, and traced: see kNoFrame
  bool frames_on_device = false;            ///< see PlanEnvironment
  bool maps_on_device = false;              ///< see PlanEnvironment
  const TextRasteriser* text = nullptr;
  Trace* trace = nullptr;
  /// Called from the finisher thread for every frame that failed; must be quick.
  std::function<void(const FrameFailure&)> on_failure{};
  /// Called from the finisher thread for every result of a frame that the source warns of, before the sinks
  /// get it; must be quick.
  std::function<void(std::uint64_t frame, const std::string& warning)> on_warning{};
  /// Called from the finisher thread for every result before the sinks get it; must be quick.
  std::function<void(const FrameTimes&)> on_times{};
  /// Called for each result as well, when the contours of the frame are counted. It may read what sinks take
  /// and `also_read`.
  std::function<void(const PlannedGraph& result, const std::vector<ClassCounts>& counts)> on_result{};
  /// Values that `on_result` reads and no sink takes: they keep their memory until the frame is complete, and
  /// on CUDA are downloaded.
  std::vector<Origin> also_read{};
  /// Called for every frame that is dropped, from the reader thread (RingFull) or the finisher thread
  /// (Deadline, Thinned); must be quick.
  std::function<void(std::uint64_t frame, DropReason)> on_drop{};
  /// Asked before a frame is launched; null: frames are launched as they come. Borrowed.
  LaunchGate* gate = nullptr;
  std::size_t gate_member = 0;  ///< number of this runner at the gate
  /// Whether the source holds frames back that are there: who reads waits then, and is not at work.
  bool paced_by_source = false;
  /// The levels of quality below that of the graph, between which the runner goes while frames of a live
  /// source cannot be worked on in time (Degrader). All are planned from the start. Null: there are none.
  std::shared_ptr<const QualityLevels> quality{};
  /// Decides the level of a frame in place of the Degrader: a schedule that somebody plants. Called from the
  /// launcher and the finisher.
  std::function<int(std::uint64_t frame)> level_of{};
  /// Whether `backend` is the CPU, with its reason, because the device that was asked for is not there.
  bool fell_back = false;
};

/// What is seen of the thread that reads. Times are now_ns() values.
struct ReaderSigns {
  std::uint64_t frames = 0;           ///< that have come
  std::int64_t first_arrival_ns = 0;  ///< 0: none has come
  std::int64_t last_arrival_ns = 0;
  std::int64_t offering_since_ns = 0;  ///< since when a frame waits for a slot; 0: none does
};

class Runner {
 public:
  /// `graph`, `source` and the sinks are borrowed and must outlive the runner. Plans everything.
  Runner(const GraphSpec& graph, Source& source, std::vector<SinkBinding> sinks, const RunOptions& options);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  /// Runs to the end of the source. Sinks are opened and finished in here. Throws what made the run
  /// impossible, after the sinks were finished; frames that fail and sinks that break are in the report
  /// instead.
  RunReport run();
  /// The report of a run that ended, also of one that threw. Frames that were under way on a broken device
  /// count as failed.
  const RunReport& report() const { return report_; }

  /// Stops reading and finishes the frames under way. Safe from any thread.
  void request_stop();
  /// Stops at once; frames under way count as dropped, but for those that the sinks have been handed: these
  /// are written, by all of them. Safe from any thread.
  void abort();
  /// Stops at once because of what broke elsewhere, the device of this run for example: run() throws `why`,
  /// and frames under way count as failed where its code is Internal. Safe from any thread.
  void break_off(const Error& why);

  /// Ends the run from another thread if the device has worked on one frame for longer than `limit`. Such
  /// work cannot be cancelled, so run() will not return. Frames under way then count as failed, sinks are
  /// finished and report() is complete; the result is true, and the process must end without destructors
  /// (std::_Exit). False: the device works, or there is none.
  bool give_up_on_device(std::chrono::nanoseconds limit);

  /// Counts so far. Safe from any thread, as latency_now_us is: the latency of the last result.
  FrameCounts progress() const;
  double latency_now_us() const { return last_latency_us_.load(std::memory_order_relaxed); }
  /// The level of quality at which frames are worked on now; 0: full. Safe from any thread.
  int level() const { return level_.load(std::memory_order_relaxed); }
  /// Tells the sinks what becomes of the camera whose frames these are. By who watches over it.
  void note_state(CameraState state);
  /// The age of the oldest frame that has come and has no result yet; 0: there is none. Safe from any thread.
  std::int64_t lag_ns(std::int64_t now) const;
  /// What the reader has done so far. Safe from any thread.
  ReaderSigns reader_signs() const;
  /// What each thread of the runner has done so far, the same threads in the same order at every call. Safe
  /// from any thread.
  std::vector<ThreadSigns> thread_signs() const;
  /// What a runner with these arguments would take, without taking it: how many slots, and what each takes.
  struct Memory {
    int slots = 0;
    SlotMemory slot;
  };
  /// What the levels below full quality take of a slot, beside `planned`, whose formats are planned.
  static SlotMemory foretell_lower(const QualityLevels& quality, PlanEnvironment environment,
                                   const PlannedGraph& planned, const StreamFormat& stream);
  static Memory foretell_memory(const GraphSpec& graph, const StreamFormat& stream,
                                const std::vector<SinkBinding>& sinks, const RunOptions& options);
  /// The planned formats of a node's outputs, for `contorno check`.
  const Format& format(const Origin& origin) const;
  int slot_count() const { return static_cast<int>(slots_.size()); }
  /// The memory that one slot takes.
  SlotMemory slot_memory() const;

 private:
  enum class Outcome : std::uint8_t { Result, Failed, Deadline, Thinned };
  struct Slot {
    std::vector<std::unique_ptr<PlannedGraph>> graphs;  // of full quality, and those of lower levels
    PlannedGraph* graph = nullptr;                      // the one of these that its frame runs through
    int level = 0;                                      // of its frame
    Outcome outcome = Outcome::Result;
    std::uint64_t number = 0;
    std::string error;
    bool launched = false;
    bool has_permit = false;  ///< of the gate
    std::int64_t arrived_ns = 0, launched_ns = 0, finished_ns = 0;
    std::atomic<std::int64_t> owed_since_ns = 0;  // arrived_ns while its frame has no result; else 0
  };
  /// A format of the source that the graph cannot take. Frames of this format are read into memory of their
  /// own and fail; the slots stay planned for the format before.
  struct Refusal {
    StreamFormat format;
    std::string reason;
    Block memory;
    FrameInput input;
  };

  std::vector<Origin> exports() const;
  void plan_ledgers();
  void plan_slots();
  void plan_slot(Slot& slot);
  std::size_t graphs() const { return 1 + (options_.quality ? options_.quality->graphs.size() : 0); }
  const GraphSpec& graph_at(std::size_t place) const {
    return place == 0 ? graph_ : options_.quality->graphs[place - 1];
  }
  void note_arrival(Slot& slot);
  void choose_level(Slot& slot);
  std::optional<CameraNews> judge_load(const Slot& slot);
  void note_load(const Slot& slot, std::int64_t now);
  void open_sinks();
  void fail(const std::exception_ptr& failure, ExitCode code);
  void close_accounts(Delivery::Ending ending);
  void read_loop();
  void read_frames();
  bool too_many_bad(ReadResult result, const std::string& error);
  bool reformat();
  void refuse_format(const StreamFormat& format, std::string reason);
  std::optional<int> next_to_launch();
  void give_back_permit(Slot& slot, bool has_next);
  void launch_loop();
  void launch(Slot& slot);
  template <class Work>
  void attempt(Slot& slot, const Work& work);
  void complete(Slot& slot);
  void complete_in_order(Slot& slot);
  bool leave_order(Slot& slot);
  void launch_behind(const Slot& slot);
  void drop(Slot& slot);
  void pass_over(Slot& slot);
  void wait_for_device(Slot& slot);
  void finish_loop();
  void finish(Slot& slot);
  void hand_on(Slot& slot);
  void deliver(Slot& slot);
  void note_failed_frame(const Slot& slot);
  bool is_late(std::int64_t latency_ns) const;
  void account(const Slot& slot, MissingFrames::Reason reason);
  void account_up_to(std::uint64_t number, MissingFrames::Reason reason, const std::string& error = {});
  void hand_missing_over();
  void account_for_rest();
  void record_times(Slot& slot);
  void record_parts(const Slot& slot, const PartTimes& times);
  void count_contours(const Slot& slot);
  void count_tracks(const Slot& slot);
  void add_to_ledgers(const Slot& slot);
  void close_ledgers();
  template <class Loop>
  void guarded(const Loop& loop);

  const GraphSpec& graph_;
  Source& source_;
  RunOptions options_;
  OnFull policy_;
  int threads_;
  std::deque<Capacities> capacities_;  // of each graph
  StreamFormat stream_;                // the format that slots are planned for
  std::unique_ptr<Refusal> refusal_;   // why the source's format, or an earlier one, was refused
  bool refusing_ = false;
  bool has_states_ = false;  // some stage knows of the frames before: they are launched in order_mutex_
  SlotShares shares_;
  std::vector<Slot> slots_;
  SlotRing ring_;
  std::mutex relaunch_mutex_;     // frames are launched again; taken behind order_mutex_ or alone
  std::mutex order_mutex_;        // guards left_ to behind_, and the graphs of slots in under_way_
  CarriedState::Link left_;       // what the frame launched last leaves
  std::vector<Slot*> under_way_;  // launched on the device and not yet complete, in order
  std::size_t behind_ = 0;        // index in under_way_ of the frame behind the one taken out last
  TeamChoice team_;               // used by the launcher alone
  Origin counted_contours_;       // the last contours of the graph, counted per class

  /// What a node that makes records of objects has seen.
  struct Ledger {
    std::size_t node = 0;
    ObjectLedger ledger;
  };
  std::vector<Ledger> ledgers_;  // the finisher's
  static constexpr std::uint64_t kNoFrame = ~std::uint64_t{0};
  std::atomic<std::uint64_t> hidden_frame_ = kNoFrame;  // the last one that was launched and then dropped

  std::optional<Degrader> degrader_;           // the finisher's
  std::uint64_t drops_judged_ = 0;             // of ring_full_; likewise
  std::atomic<std::int64_t> interval_ns_ = 0;  // between frames that come, smoothed; the reader's
  std::atomic<int> level_ = 0;
  int bad_in_a_row_ = 0;     // used by the reader alone
  bool leaves_out_ = false;  // the next frame of a level that thins; the launcher's
  std::atomic<CameraState> state_ = CameraState::Running;

  std::uint64_t next_number_ = 0;         // the lowest that is not accounted for; the finisher's
  std::optional<MissingFrames> missing_;  // the last that are, and no sink knows of yet; likewise

  static constexpr int kMostBadInARow = 1000;

  RunReport report_;  // the finisher's, until run() returns
  std::atomic<std::uint64_t> offered_ = 0, delivered_ = 0, failed_ = 0, ring_full_ = 0, deadline_ = 0,
                             thinned_ = 0, late_ = 0, regrown_ = 0;
  std::atomic<double> last_latency_us_ = 0;
  std::int64_t uploads_ended_ns_ = 0;  ///< end of the uploads of the timed frames so far; the finisher's own
  std::atomic<bool> stop_requested_ = false, aborted_ = false;
  static constexpr std::int64_t kNotWaiting = 0, kGivenUp = -1;
  std::atomic<std::int64_t> device_since_ns_ = kNotWaiting;  // when the finisher began to wait for the device
  std::int64_t start_ns_ = 0;
  WorkSign reader_sign_, launcher_sign_, finisher_sign_;
  std::atomic<std::int64_t> offering_since_ns_ = 0;                       // the reader's
  std::atomic<std::int64_t> first_arrival_ns_ = 0, last_arrival_ns_ = 0;  // the reader's
  std::mutex failure_mutex_;                                              // guards failure_ to failure_code_
  std::exception_ptr failure_;
  std::vector<SourceFault> source_faults_;  // the reader's, once it ends
  std::uint64_t source_reconnections_ = 0;
  ExitCode failure_code_ = ExitCode::Ok;
  Delivery delivery_;  // last: its threads use the others
};

}  // namespace contorno
