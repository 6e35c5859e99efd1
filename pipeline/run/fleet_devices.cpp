// What a fleet does with several devices: which of them it has, who may have which, and what becomes of the
// cameras of one that breaks or hangs.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "cuda/device.h"
#include "pipeline/run/fleet.h"

namespace contorno {

/// Where a camera works, of all devices for the first; the CPU, too, where it cannot be set up, which is told
/// by who does that.
BackendChoice Fleet::backend_of(const GraphSpec& graph) {
  BackendRequest wanted = graph.settings.backend;
  if (wanted.device == BackendRequest::kAll) wanted.device = BackendRequest::kUnnamed;
  try {
    return choose_backend(wanted, graph);
  } catch (const Error&) {
    return Backend::Cpu;
  }
}

void Fleet::find_devices() {
  const auto add = [&](int device) {
    if (std::find(devices_.begin(), devices_.end(), device) == devices_.end()) devices_.push_back(device);
  };
  for (const auto& camera : cameras_) {
    const GraphSpec& graph = camera->spec_.graph;
    const BackendChoice first = backend_of(graph);
    if (first.backend != Backend::Cuda) continue;
    if (graph.settings.backend.device != BackendRequest::kAll)
      add(first.device);
    else
      for (const DeviceInfo& one : device_report().devices) add(one.index);
  }
  std::sort(devices_.begin(), devices_.end());
}

LaunchGate* Fleet::gate_of(const BackendChoice& backend) const {
  const auto found = gates_.find(backend.backend == Backend::Cuda ? backend.device : kCpu);
  return found == gates_.end() ? nullptr : found->second.get();
}

bool Fleet::give_up_on_device(std::chrono::nanoseconds limit) {
  bool gave_up = false;
  for (const auto& camera : cameras_) {
    Runner* const runner = camera->running_;
    if (runner == nullptr || camera->done_ || !runner->give_up_on_device(limit)) continue;
    gave_up = true;
    if (!is_named_) continue;
    const int device = camera->device_;
    lose({.device = device,
          .reason = fmt::format("device {} was at work on one frame for too long, and was given up",
                                device_label(device)),
          .hangs = true});
    camera->note_given_up(lost(device)->reason);
  }
  if (!is_named_) return gave_up;
  // Who did not wait for the device then may do so now.
  for (const LostDevice& one : lost_devices())
    if (one.hangs) end_cameras_of(one);
  return has_given_up() && std::all_of(cameras_.begin(), cameras_.end(), [&](const auto& camera) {
           const LostDevice* const own = lost(camera->device_);
           return camera->done_ || (own != nullptr && own->hangs);
         });
}

bool Fleet::has_given_up() const {
  return std::any_of(cameras_.begin(), cameras_.end(), [](const auto& one) { return one->given_up_.load(); });
}

std::vector<Fleet::LostDevice> Fleet::lost_devices() const {
  const std::lock_guard lock(mutex_);
  return {lost_.begin(), lost_.end()};
}

/// Null: it is as good as ever. What is found stays where it is until the fleet goes.
const Fleet::LostDevice* Fleet::lost(int device) const {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(lost_.begin(), lost_.end(), [&](const LostDevice& one) { return one.device == device; });
  return found == lost_.end() ? nullptr : &*found;
}

void Fleet::lose(const LostDevice& lost) {
  const std::lock_guard lock(mutex_);
  for (const LostDevice& one : lost_)
    if (one.device == lost.device) return;
  lost_.push_back(lost);
  if (admission_) admission_->lose(lost.device);
}

/// A device that broke under one camera is broken for all of its cameras: their frames are not to be trusted
/// either.
void Fleet::end_cameras_of(const LostDevice& lost) {
  for (const auto& camera : cameras_) {
    Runner* const runner = camera->running_;
    if (runner == nullptr || camera->done_ || camera->device_ != lost.device) continue;
    if (lost.hangs && runner->give_up_on_device(std::chrono::nanoseconds(0)))
      camera->note_given_up(lost.reason);
    else
      runner->break_off(Error(ExitCode::Internal, lost.reason));
  }
}

void Fleet::note_broken_device(const Camera& broken, const std::string& reason) {
  const LostDevice lost{.device = broken.device_,
                        .reason = fmt::format("device {} broke under camera '{}': {}",
                                              device_label(broken.device_), broken.spec_.name, reason)};
  if (this->lost(lost.device) != nullptr) return;
  lose(lost);
  end_cameras_of(lost);
}

void Fleet::refuse_lost(int device) const {
  if (const LostDevice* const one = lost(device)) throw Error(ExitCode::Internal, one->reason);
}

std::vector<int> Fleet::devices_left() const {
  std::vector<int> left;
  for (const int device : devices_)
    if (lost(device) == nullptr) left.push_back(device);
  return left;
}

/// For a camera that may have any; where all broke the first, whose reason it then gets.
int Fleet::any_device() const {
  const std::vector<int> left = devices_left();
  return !left.empty() ? left.front() : devices_.empty() ? BackendRequest::kUnnamed : devices_.front();
}

/// Of a fleet without names, whose cameras may have any device. Always true.
bool Fleet::take_room(MemoryAdmission::Need& need) {
  const std::lock_guard lock(mutex_);
  if (!admission_) admission_.emplace(memory_left(devices_));
  std::vector<MemoryAdmission::Need> one{need};
  if (const auto why = admission_->admit(one)) throw Error(ExitCode::OutOfMemory, *why);
  need = one.front();
  return true;
}

}  // namespace contorno
