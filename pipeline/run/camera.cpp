#include "pipeline/run/camera.h"

#include <algorithm>
#include <random>
#include <utility>

#include "base/error.h"
#include "pipeline/graph/bind.h"
#include "pipeline/graph/device_thread.h"
#include "pipeline/run/fleet.h"
#include "pipeline/shared/clock.h"

namespace contorno {
namespace {

BackOff::Limits limits_of(const LiveSettings& live) {
  const auto nanoseconds = [](double ms) { return static_cast<std::int64_t>(ms * 1e6); };
  return {.first = nanoseconds(live.reconnect_ms[0]), .longest = nanoseconds(live.reconnect_ms[1])};
}

/// Whether what stands in the way may pass by itself: a camera that is off, in use, or sends nothing yet.
bool may_pass(const Error& error) {
  switch (error.code()) {
    case ExitCode::MissingInput:
    case ExitCode::BadData:
    case ExitCode::Unavailable:
    case ExitCode::Io:
      return true;
    default:
      return false;
  }
}

}  // namespace

Camera::Camera(Fleet& fleet, std::size_t number, Runner& runner)
    : fleet_(&fleet), number_(number), running_(&runner), is_planned_(true) {}

Camera::Camera(Fleet& fleet, std::size_t number, CameraSpec spec)
    : fleet_(&fleet),
      number_(number),
      spec_(std::move(spec)),
      as_written_(std::make_shared<const GraphSpec>(spec_.graph)) {}

CameraSigns Camera::signs(std::int64_t now) const {
  CameraSigns signs{.phase = phase_, .began_ns = began_ns_};
  const Runner* const runner = running_;
  if (runner == nullptr || signs.phase != CameraPhase::Running) return signs;
  const ReaderSigns reader = runner->reader_signs();
  signs.frames = reader.frames;
  signs.arrived_ns = reader.last_arrival_ns;
  signs.held_ns = reader.offering_since_ns;
  if (reader.frames > 1)
    signs.interval_ns =
        (reader.last_arrival_ns - reader.first_arrival_ns) / static_cast<std::int64_t>(reader.frames - 1);
  if (reconnecting_ != nullptr) {
    signs.away = reconnecting_->is_away();
    signs.began_ns = std::max(signs.began_ns, reconnecting_->there_since());
  }
  // Counts of a runner may be ahead of the times that go with them.
  signs.arrived_ns = std::min(signs.arrived_ns, now);
  return signs;
}

CameraState Camera::state() const {
  const std::int64_t now = now_ns();
  return state_of(signs(now), static_cast<std::int64_t>(fleet_->live_.stall_ms * 1e6), now);
}

void Camera::look(std::int64_t) {
  if (phase_ != CameraPhase::Running) return;
  const CameraState now = state();
  if (reconnecting_ != nullptr && now == CameraState::Stalled) reconnecting_->give_up_connection();
  if (std::exchange(told_, now) == now) return;
  if (Runner* const runner = running_) runner->note_state(now);
}

int Camera::level() const {
  const Runner* const runner = running_;
  return runner == nullptr ? 0 : runner->level();
}

double Camera::lag_seconds() const {
  const Runner* const runner = running_;
  return runner == nullptr || phase_ != CameraPhase::Running
             ? 0
             : static_cast<double>(runner->lag_ns(now_ns())) * 1e-9;
}

FrameCounts Camera::progress() const {
  const Runner* const runner = running_;
  return runner == nullptr ? FrameCounts{} : runner->progress();
}

std::uint64_t Camera::reconnections() const {
  return phase_ != CameraPhase::Connecting && reconnecting_ != nullptr ? reconnecting_->reconnections() : 0;
}

void Camera::request_stop() {
  stopped_ = true;
  time_->cancel();
  if (Runner* const runner = running_) runner->request_stop();
}

std::unique_ptr<Source> Camera::open() {
  // What is left to its thread by open_unless_stopped has its own copy of all that it uses.
  const OpenSource open = [make = fleet_->hooks_.open, number = number_, graph = as_written_] {
    return make ? make(number, *graph) : make_source(*graph);
  };
  if (!fleet_->is_named_ || !fleet_->hooks_.reopens) return open();
  const BackOff::Limits limits = limits_of(fleet_->live_);
  const std::uint32_t seed = std::random_device{}();
  BackOff back_off(limits, seed);
  std::unique_ptr<Source> first;
  for (;;) {
    try {
      first = open_unless_stopped(open, stopped_);
      break;
    } catch (const Error& error) {
      if (spec_.reads_files || !may_pass(error)) throw;
      if (fleet_->hooks_.on_absent) fleet_->hooks_.on_absent(number_, error.what());
      fleet_->note_answer(*this);
    }
    if (!time_->sleep(back_off.next())) return nullptr;
  }
  if (first == nullptr) return nullptr;
  auto source = std::make_unique<ReconnectingSource>(
      std::move(first), open,
      ReconnectingSource::Options{.back_off = limits, .max_rate = spec_.settings.max_rate, .seed = seed});
  reconnecting_ = source.get();
  return source;
}

/// For the time being; only where it is planned counts.
void Camera::take_any_device() {
  BackendRequest& wanted = spec_.graph.settings.backend;
  goes_anywhere_ = goes_anywhere_ || wanted.device == BackendRequest::kAll;
  if (goes_anywhere_) wanted.device = fleet_->any_device();
}

/// Opens the source and binds the graph to it; source_ stays null when the fleet was stopped meanwhile.
void Camera::connect() {
  source_ = open();
  if (source_ == nullptr) return;
  live_ = source_->format().live;
  expected_ = source_->format().frame_count;
  const std::string notice = bind_source(spec_.graph, source_->format());
  take_any_device();
  set_up_ = fleet_->hooks_.set_up(number_, spec_.graph, *source_, notice);
  if (goes_anywhere_) set_up_.options.backend.device = spec_.graph.settings.backend.device;
  set_up_.options.gate_member = number_;
  set_up_.options.paced_by_source = spec_.settings.max_rate > 0;
}

MemoryAdmission::Need Camera::need() const {
  const StreamFormat& stream = source_->format();
  const BackendChoice& backend = set_up_.options.backend;
  const auto [slots, slot] = Runner::foretell_memory(spec_.graph, stream, set_up_.sinks, set_up_.options);
  MemoryAdmission::Need need{.camera = spec_.name, .slots = slots, .slot = slot};
  if (backend.backend != Backend::Cuda) return need;
  need.device = goes_anywhere_ ? BackendRequest::kAll : backend.device;
  // A recording declares no rate that it keeps to.
  constexpr double kRateOfOthers = 30;
  const double rate = stream.live && stream.rate_numerator > 0
                          ? static_cast<double>(stream.rate_numerator) / stream.rate_denominator
                          : kRateOfOthers;
  need.load = spec_.settings.weight * rate * static_cast<double>(slot.device);
  return need;
}

/// Waits until it may begin, and learns where. False: the fleet was stopped. Throws Error(OutOfMemory) where
/// there is no room, Error(Internal) where its device broke.
bool Camera::settle() {
  BackendChoice& backend = set_up_.options.backend;
  const bool is_on_device = backend.backend == Backend::Cuda;
  if (is_on_device) fleet_->refuse_lost(backend.device);
  if (fleet_->is_named_ || goes_anywhere_) {
    MemoryAdmission::Need need = this->need();
    if (fleet_->is_named_ ? !fleet_->wait_for_others(*this, need) : !fleet_->take_room(need)) return false;
    backend.device = need.device.value_or(backend.device);
    if (is_on_device) fleet_->refuse_lost(backend.device);
  }
  set_up_.options.gate = fleet_->gate_of(backend);
  if (fleet_->is_named_ && is_on_device) device_ = backend.device;
  return true;
}

void Camera::plan() {
  own_runner_.emplace(spec_.graph, *source_, set_up_.sinks, set_up_.options);
  running_ = &*own_runner_;
  is_planned_ = true;
}

/// What its thread does; throws what ends the camera.
void Camera::work() {
  if (!is_planned_) {
    connect();
    if (source_ == nullptr || !settle()) return;
  }
  bind_thread(set_up_.options.backend);
  if (!is_planned_) plan();
  if (stopped_ && fleet_->is_named_) return;
  began_ns_ = now_ns();
  phase_ = CameraPhase::Running;
  report_ = (*running_).run();
}

/// The device does not come back, and neither does its thread: called by who watches the fleet.
void Camera::note_given_up(const std::string& reason) {
  failure_ = std::make_exception_ptr(Error(ExitCode::Internal, reason));
  device_broke_ = given_up_ = true;
  phase_ = CameraPhase::Failed;
  fleet_->note_end(*this);
}

void Camera::run() {
  CameraPhase last = CameraPhase::Ended;
  try {
    work();
    if (phase_ == CameraPhase::Connecting) last = CameraPhase::Connecting;  // it was never there
  } catch (const Error& error) {
    failure_ = std::current_exception();
    last = CameraPhase::Failed;
    if (error.code() == ExitCode::Internal && device_ != kNoDevice) {
      device_broke_ = true;
      fleet_->note_broken_device(*this, error.what());
    }
  } catch (...) {
    failure_ = std::current_exception();
    last = CameraPhase::Failed;
  }
  phase_ = last;
  fleet_->note_answer(*this);
  fleet_->note_end(*this);
}

}  // namespace contorno
