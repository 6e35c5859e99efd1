#include "plugins/python/shared/process.h"

#include <fmt/format.h>
#include <omp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "cuda/device.h"
#include "pipeline/shared/threads.h"

namespace contorno::python {
namespace {

/// Work that is worth a thread of its own.
constexpr std::uint64_t kSamplesPerThread = 1U << 17;

std::atomic<bool> openmp_used = false, cuda_used = false;
// Set in a child by after_fork: what the parent had used.
std::atomic<bool> openmp_lost = false, cuda_lost = false, forked = false;

void after_fork() {
  forked = true;
  if (openmp_used) openmp_lost = true;
  if (cuda_used) cuda_lost = true;
}

}  // namespace

bool SignalWatch::go_on() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return true;
  next_ = now + kInterval;
  const py::gil_scoped_acquire gil;
  return PyErr_CheckSignals() == 0;
}

int threads_for(py::handle threads, std::uint64_t samples) {
  int count = 0;
  if (threads.is_none()) {
    const std::uint64_t useful = std::max<std::uint64_t>(samples / kSamplesPerThread, 1);
    count =
        useful == 1 || openmp_lost
            ? 1
            : static_cast<int>(std::min<std::uint64_t>(useful, static_cast<unsigned>(omp_get_max_threads())));
  } else {
    const Py_ssize_t wanted = PyNumber_AsSsize_t(threads.ptr(), PyExc_OverflowError);
    if (wanted == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
    if (wanted < 1 || wanted > kMostThreads)
      throw py::value_error(fmt::format("threads is {}, allowed 1 to {}, or None", wanted, kMostThreads));
    count = static_cast<int>(wanted);
    if (count > 1 && openmp_lost)
      throw std::runtime_error(
          "this process was forked from one that had used contorno with several threads, which do not exist "
          "here: "
          "threads=" +
          std::to_string(count) +
          " would wait for them for ever. Pass threads=1, or start processes "
          "with multiprocessing.set_start_method('spawn')");
  }
  if (count > 1) openmp_used = true;
  return count;
}

void begin_cuda() {
  if (cuda_lost)
    throw std::runtime_error(
        "this process was forked from one that had used CUDA through contorno; a CUDA context does not "
        "survive a "
        "fork. Start processes with multiprocessing.set_start_method('spawn'), or use backend='cpu'");
}

void cuda_began() {
  cuda_used = true;
}

void require_cuda() {
  begin_cuda();
  const DeviceReport* report = nullptr;
  {
    const py::gil_scoped_release released;
    report = &device_report();
  }
  if (!report->available)
    throw Error(ExitCode::Unavailable, fmt::format("backend cuda was asked for, but {}{}", report->reason,
                                                   report->fix.empty() ? "" : "; " + report->fix));
  cuda_began();
}

void begin_threads() {
  openmp_used = true;
}

bool is_forked() {
  return forked;
}

/// Whether all pages of [address, address + bytes) are mapped, whatever their protection.
bool is_mapped(std::uintptr_t address, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = address / page * page;
  if (address == 0 || address + bytes < address) return false;
  std::vector<unsigned char> resident((address + bytes - first + page - 1) / page);
  return mincore(reinterpret_cast<void*>(first), address + bytes - first, resident.data()) == 0;
}

void bind_process(py::module_& module) {
  module.def("_is_mapped", &is_mapped);
  module.def("_after_fork", &after_fork);
  py::module_::import("os").attr("register_at_fork")(py::arg("after_in_child") = module.attr("_after_fork"));
}

}  // namespace contorno::python
