#include "pipeline/run/fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "pipeline/shared/clock.h"
#include "pipeline/shared/resource_limits.h"
#include "pipeline/shared/threads.h"

namespace contorno {
namespace {

/// How long cameras that are there wait for those that are being opened, so that most begin together and
/// their memory is added up.
constexpr std::int64_t kGather = 1'000'000'000;
constexpr std::chrono::milliseconds kLook{20};
/// Frames that a device has of all cameras: while one is worked on, the next is uploaded and the one before
/// downloaded, and the launches of two more are on their way.
constexpr int kDeviceFrames = 8;

}  // namespace

Fleet::Fleet(const std::vector<Runner*>& runners) {
  for (Runner* runner : runners)
    cameras_.push_back(std::make_unique<Camera>(*this, cameras_.size(), *runner));
  answers_.assign(cameras_.size(), Answer::None);
}

Fleet::Fleet(FleetSpec spec, CameraHooks hooks)
    : hooks_(std::move(hooks)), live_(spec.live), is_named_(spec.is_named()) {
  for (std::size_t number = 0; number < spec.cameras.size(); ++number)
    cameras_.push_back(std::make_unique<Camera>(*this, number, std::move(spec.cameras[number])));
  answers_.assign(cameras_.size(), Answer::None);
  find_devices();
  if (is_named_) plan_shares();
}

Fleet::~Fleet() {
  for (const auto& camera : cameras_)
    if (!camera->done_) camera->request_stop();
  wait();
}

/// The threads of loops and the permits to work on a frame, of all processors and of each device.
void Fleet::plan_shares() {
  if (cameras_.size() < 2) return;
  const int cores = decided_threads(0);
  int most_threads = 1;
  bool any_on_cpu = false;
  std::vector<double> weights;
  for (const auto& camera : cameras_) {
    int& threads = camera->spec_.graph.settings.threads;
    if (threads == 0) threads = std::max(1, cores / static_cast<int>(cameras_.size()));
    most_threads = std::max(most_threads, threads);
    any_on_cpu = any_on_cpu || backend_of(camera->spec_.graph).backend == Backend::Cpu;
    weights.push_back(camera->spec_.settings.weight);
    // Threads that poll may do so for an eighth of the process's time, and each would for an eighth of its
    // own.
    camera->spec_.graph.settings.waiting = Waiting::Block;
  }
  if (any_on_cpu) gates_[kCpu] = std::make_unique<LaunchGate>(std::max(1, cores / most_threads), weights);
  for (const int device : devices_) gates_[device] = std::make_unique<LaunchGate>(kDeviceFrames, weights);
}

void Fleet::prepare() {
  for (const auto& camera : cameras_) {
    camera->connect();
    camera->settle();
    camera->plan();
  }
}

void Fleet::start() {
  for (const auto& camera : cameras_) camera->done_ = false;
  try {
    for (const auto& camera : cameras_)
      camera->thread_ =
          start_thread(thread_name("finisher", camera->spec_.name), [one = camera.get()] { one->run(); });
  } catch (...) {
    request_stop();
    wait();
    for (const auto& camera : cameras_) camera->done_ = true;
    throw;
  }
}

void Fleet::request_stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  began_changed_.notify_all();
  for (const auto& camera : cameras_) camera->request_stop();
}

bool Fleet::done() const {
  return std::all_of(cameras_.begin(), cameras_.end(), [](const auto& one) { return one->done_.load(); });
}

FrameCounts Fleet::progress() const {
  FrameCounts sum;
  for (const auto& camera : cameras_) sum += camera->progress();
  return sum;
}

std::vector<CameraThreads> Fleet::threads() const {
  std::vector<CameraThreads> all;
  for (const auto& camera : cameras_) {
    CameraThreads& one = all.emplace_back();
    one.camera = camera->spec_.name;
    if (const Runner* const runner = camera->running_;
        runner != nullptr && camera->phase_ == CameraPhase::Running)
      one.threads = runner->thread_signs();
  }
  return all;
}

bool Fleet::has_answered() const {
  if (!is_named_)
    return std::all_of(cameras_.begin(), cameras_.end(),
                       [](const auto& one) { return one->phase_ != CameraPhase::Connecting; });
  const std::lock_guard lock(mutex_);
  return std::none_of(answers_.begin(), answers_.end(), [](Answer one) { return one == Answer::None; });
}

void Fleet::look() {
  const std::int64_t now = now_ns();
  for (const auto& camera : cameras_) camera->look(now);
}

void Fleet::wait() {
  for (const auto& camera : cameras_)
    if (camera->thread_.joinable()) camera->thread_.join();
}

bool Fleet::wait_for(std::chrono::milliseconds most) {
  std::unique_lock lock(mutex_);
  return ended_changed_.wait_for(lock, most, [&] { return done(); });
}

void Fleet::note_end(Camera& camera) {
  const std::lock_guard lock(mutex_);
  camera.done_ = true;
  ended_changed_.notify_all();
}

RunReport Fleet::take(std::size_t number) {
  Camera& camera = *cameras_.at(number);
  if (camera.failure_) std::rethrow_exception(camera.failure_);
  return std::move(camera.report_);
}

const Camera* Fleet::missing() const {
  for (const auto& camera : cameras_)
    if (camera->spec_.settings.required && camera->phase_ == CameraPhase::Connecting) return camera.get();
  return nullptr;
}

/// An absent camera, or one that has ended, is waited for no more, unless it is required.
void Fleet::note_answer(Camera& camera) {
  bool ends = false;
  {
    const std::lock_guard lock(mutex_);
    const CameraPhase phase = camera.phase_;
    const bool gone = phase == CameraPhase::Ended || phase == CameraPhase::Failed;
    answers_[camera.number_] = gone ? Answer::Gone : Answer::Absent;
    // It will never come, and the others would wait for ever.
    ends = !began_ && camera.spec_.settings.required && phase == CameraPhase::Failed;
  }
  began_changed_.notify_all();
  if (ends) request_stop();
}

bool Fleet::may_begin(std::int64_t now) const {
  bool all = true;
  for (std::size_t i = 0; i < answers_.size(); ++i) {
    const bool is_bound = answers_[i] == Answer::Bound;
    if (cameras_[i]->spec_.settings.required && !is_bound) return false;
    all = all && answers_[i] != Answer::None;
  }
  return all || now - first_bound_ns_ > kGather;
}

/// Admits those that have come, all or none, in the order of the graph.
void Fleet::begin(const MemoryLeft& left) {
  began_ = true;
  std::vector<MemoryAdmission::Need> needs;
  for (const auto& [camera, need] : needs_) needs.push_back(need);
  admission_.emplace(left);
  for (const LostDevice& one : lost_) admission_->lose(one.device);
  refused_ = admission_->admit(needs);
  auto placed = needs.begin();
  for (auto& [camera, need] : needs_) need = *placed++;
}

/// Says on which device it is to work. False: the fleet was stopped. Throws Error(OutOfMemory) where there is
/// no room.
bool Fleet::wait_for_others(Camera& camera, MemoryAdmission::Need& need) {
  std::unique_lock lock(mutex_);
  MemoryLeft left;
  if (!began_) {
    lock.unlock();
    left = memory_left(devices_left());
    lock.lock();
  }
  answers_[camera.number_] = Answer::Bound;
  const auto refuse = [](const std::string& why) { throw Error(ExitCode::OutOfMemory, why); };
  if (began_) {
    if (refused_) refuse(*refused_);
    std::vector<MemoryAdmission::Need> one{need};
    if (const auto why = admission_->admit(one)) refuse(*why);
    need = one.front();
    return true;
  }
  if (first_bound_ns_ == 0) first_bound_ns_ = now_ns();
  needs_[camera.number_] = need;
  began_changed_.notify_all();
  while (!began_ && !stopped_) {
    if (may_begin(now_ns())) {
      begin(left);
      began_changed_.notify_all();
    } else {
      began_changed_.wait_for(lock, kLook);
    }
  }
  if (!began_) return false;
  if (refused_) refuse(*refused_);
  need = needs_[camera.number_];
  return true;
}

}  // namespace contorno
