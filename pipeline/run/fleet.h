// Several cameras in one process, as those of a sorting line: each runs on threads of its own, and one that
// is away, fails or ends does not hold up the others. A fleet opens the cameras in parallel, begins with
// those that are there, adds up what they do, shares out the processors among them, refuses what does not fit
// into memory, says which camera works on which device, and is polled by its owner: `look` finds out who is
// stalled and has such cameras opened again. A device that breaks or hangs takes its own cameras with it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/run/camera.h"
#include "pipeline/run/launch_gate.h"

namespace contorno {

class Fleet {
 public:
  /// Runners that are planned already, each on a thread of its own; they must outlive the fleet.
  explicit Fleet(const std::vector<Runner*>& runners);
  /// The cameras of a graph. Those with names are opened again for ever, share the processors by their
  /// weights, and are admitted by the memory that they take.
  Fleet(FleetSpec spec, CameraHooks hooks);
  /// Asks those that run to stop, and waits for them.
  ~Fleet();
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  /// Opens, binds and plans all, one after the other, in this thread; throws what stands in the way. Without
  /// it each does so in its own thread, once all are started.
  void prepare();
  /// Starts all, once. If a thread cannot be started, stops those that run and throws what start_thread
  /// threw.
  void start();
  /// Asks all to stop, as Runner::request_stop does; openings end too.
  void request_stop();
  /// Whether all have ended. Any thread may ask.
  bool done() const;
  std::size_t size() const { return cameras_.size(); }
  const Camera& camera(std::size_t number) const { return *cameras_.at(number); }
  /// What all have done so far, added up.
  FrameCounts progress() const;
  /// What is seen of the threads of the cameras that run. Views are valid as long as the fleet.
  std::vector<CameraThreads> threads() const;
  /// Whether every camera has been looked for: those that are not there may be long in coming.
  bool has_answered() const;
  /// Has cameras opened again that are stalled. Whoever watches calls it some 20 times a second.
  void look();
  /// Runner::give_up_on_device of each. Where a frame of one has been on its device for longer than `limit`,
  /// the others of that device are ended too. True once such a device is all that is left to wait for: then
  /// the process must end without destructors, this one's included, since the device may still write, and the
  /// runs that wait for it do not end.
  bool give_up_on_device(std::chrono::nanoseconds limit);
  /// Whether that is so, though cameras of other devices may still run.
  bool has_given_up() const;
  /// What devices broke or were given up, in that order; of cameras with names.
  struct LostDevice {
    int device = 0;
    std::string reason;
    bool hangs = false;
  };
  std::vector<LostDevice> lost_devices() const;

  /// Waits until all have ended.
  void wait();
  /// Waits until all have ended, or for so long. The result is done().
  bool wait_for(std::chrono::milliseconds most);
  /// The report of a camera; throws what ended it. Only after wait(), and once for each: the report is moved
  /// out. One that was never there has an empty report.
  RunReport take(std::size_t number);
  /// The camera that was required and never came, while the fleet was asked to stop; null: none.
  const Camera* missing() const;

 private:
  friend class Camera;
  static BackendChoice backend_of(const GraphSpec& graph);
  void find_devices();
  void plan_shares();
  /// What cameras do when they are bound, away or done, and before frames flow.
  void note_answer(Camera& camera);
  void note_end(Camera& camera);
  void note_broken_device(const Camera& broken, const std::string& reason);
  bool wait_for_others(Camera& camera, MemoryAdmission::Need& need);
  bool take_room(MemoryAdmission::Need& need);
  LaunchGate* gate_of(const BackendChoice& backend) const;
  int any_device() const;
  void refuse_lost(int device) const;
  const LostDevice* lost(int device) const;
  void lose(const LostDevice& lost);
  void end_cameras_of(const LostDevice& lost);
  std::vector<int> devices_left() const;
  bool may_begin(std::int64_t now) const;
  void begin(const MemoryLeft& left);

  CameraHooks hooks_;
  LiveSettings live_;
  bool is_named_ = false;
  std::vector<std::unique_ptr<Camera>> cameras_;  // by pointer: each thread refers to its own
  std::vector<int> devices_;                      // that cameras may work on, by number
  static constexpr int kCpu = -1;
  std::map<int, std::unique_ptr<LaunchGate>>
      gates_;  // of each of them, and of the CPU; every camera is in all

  // Frames flow once all cameras have answered, or those that are required and a second after the first.
  enum class Answer : std::uint8_t { None, Absent, Bound, Gone };
  mutable std::mutex mutex_;  // guards what follows, and is held for no call into a source or sink
  std::condition_variable began_changed_, ended_changed_;
  std::vector<Answer> answers_;
  std::map<std::size_t, MemoryAdmission::Need> needs_;  // by camera; behind begin() with their devices
  std::optional<MemoryAdmission> admission_;
  std::int64_t first_bound_ns_ = 0;
  bool began_ = false, stopped_ = false;
  std::optional<std::string> refused_;  // all: what lacks
  std::deque<LostDevice> lost_;         // an address stays
};

}  // namespace contorno
