#include "pipeline/graph/device_thread.h"

#include <exception>
#include <thread>

#include "cuda/pointer.h"
#include "pipeline/shared/resource_limits.h"

namespace contorno {

void bind_thread(const BackendChoice& choice) {
  if (choice.backend == Backend::Cuda && current_device() != choice.device) set_current_device(choice.device);
}

void with_device(const BackendChoice& choice, const std::function<void()>& work) {
  if (choice.backend != Backend::Cuda || current_device() == choice.device) return work();
  std::exception_ptr failure;
  std::thread bound = start_thread("on device", [&] {
    try {
      bind_thread(choice);
      work();
    } catch (...) {
      failure = std::current_exception();
    }
  });
  bound.join();
  if (failure) std::rethrow_exception(failure);
}

std::size_t free_bytes_of(int device) {
  std::size_t bytes = 0;
  with_device({Backend::Cuda, "", device}, [&] { bytes = free_device_bytes(); });
  return bytes;
}

int roomiest_device(const std::vector<DeviceInfo>& devices) {
  int best = devices.front().index;
  if (devices.size() == 1) return best;
  std::size_t most = free_bytes_of(best);
  for (const DeviceInfo& one : devices)
    if (const std::size_t own = free_bytes_of(one.index); own > most) most = own, best = one.index;
  return best;
}

}  // namespace contorno
