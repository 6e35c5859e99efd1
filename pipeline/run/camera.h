// One camera of a fleet: its source, its bound copy of the graph, and its runner. It has a thread of its own,
// which connects, binds, plans, and then is the runner's finisher. Owned by a Fleet.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/run/camera_spec.h"
#include "pipeline/run/camera_state.h"
#include "pipeline/run/memory_admission.h"
#include "pipeline/run/reconnecting_source.h"
#include "pipeline/run/runner.h"

namespace contorno {

class Fleet;

/// What a runner of a camera needs beside its graph and source.
struct CameraSetUp {
  std::vector<SinkBinding> sinks;
  RunOptions options;
};

/// What the host of a fleet does for its cameras. Calls come from the threads of the cameras, at the same
/// time for different ones; what they return must outlive the fleet.
struct CameraHooks {
  /// Opens the source of a camera; empty: make_source.
  std::function<std::unique_ptr<Source>(std::size_t camera, const GraphSpec& graph)> open{};
  /// Once the source is open and the graph is bound, with what bind_source has to tell the user.
  std::function<CameraSetUp(std::size_t camera, const GraphSpec& graph, Source& source,
                            const std::string& notice)>
      set_up{};
  /// An attempt to open a camera has failed, and it will be tried again.
  std::function<void(std::size_t camera, const std::string& reason)> on_absent{};
  /// Whether a camera with a name is opened again when it is away; false: one that ends has ended.
  bool reopens = true;
};

class Camera {
 public:
  /// A runner that its owner has planned; borrowed.
  Camera(Fleet& fleet, std::size_t number, Runner& runner);
  Camera(Fleet& fleet, std::size_t number, CameraSpec spec);
  Camera(const Camera&) = delete;
  Camera& operator=(const Camera&) = delete;

  const CameraSpec& spec() const { return spec_; }
  /// From here on any thread may ask.
  CameraState state() const;
  CameraPhase phase() const { return phase_; }
  bool is_done() const { return done_; }
  /// Counts so far.
  FrameCounts progress() const;
  /// The level of quality at which its frames are worked on; 0: full.
  int level() const;
  /// The age of its oldest frame that has no result yet, in s.
  double lag_seconds() const;
  /// How often its source was opened again.
  std::uint64_t reconnections() const;
  /// Whether the device broke under it.
  bool device_broke() const { return device_broke_; }
  /// Of a camera with a name, the number of the device that it works on, once that is known.
  std::optional<int> device() const {
    const int number = device_;
    return number == kNoDevice ? std::nullopt : std::make_optional(number);
  }
  /// Null before its graph is planned.
  Runner* runner() const { return running_; }
  /// Whether frames come at their own pace; false while nobody knows.
  bool is_live() const { return live_; }
  /// Frames that will come; -1: unknown.
  std::int64_t expected() const { return expected_; }

 private:
  friend class Fleet;
  void connect();
  std::unique_ptr<Source> open();
  void take_any_device();
  bool settle();
  void plan();
  void note_given_up(const std::string& reason);
  void work();
  void run();
  void request_stop();
  CameraSigns signs(std::int64_t now) const;
  void look(std::int64_t now);
  MemoryAdmission::Need need() const;

  Fleet* fleet_;
  std::size_t number_;
  CameraSpec spec_;
  std::shared_ptr<const GraphSpec> as_written_;  // not bound: what is opened again, maybe when this is gone
  std::unique_ptr<Source> source_;
  ReconnectingSource* reconnecting_ = nullptr;  // source_, where it is one
  CameraSetUp set_up_;
  std::optional<Runner> own_runner_;
  std::atomic<Runner*> running_ = nullptr;
  std::unique_ptr<SourceTime> time_ = real_source_time();
  RunReport report_;
  std::exception_ptr failure_;
  bool is_planned_ = false;
  bool goes_anywhere_ = false;  // the fleet says on which device
  std::atomic<std::int64_t> began_ns_ = 0, expected_ = -1;
  std::atomic<CameraPhase> phase_ = CameraPhase::Connecting;
  CameraState told_ = CameraState::Running;  // to its sinks; who watches alone
  static constexpr int kNoDevice = -1;
  std::atomic<int> device_ = kNoDevice;  // of a camera with a name, once it is planned there
  std::atomic<bool> device_broke_ = false, given_up_ = false;
  std::atomic<bool> live_ = false, stopped_ = false, done_ = true;  // nothing runs before start()
  std::thread thread_;
};

}  // namespace contorno
