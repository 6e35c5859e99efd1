// What the process that Python runs in asks for: Ctrl-C while C++ computes, threads, and the limits that a
// fork sets (threads of OpenMP and of CUDA exist only in the process that started them). Any thread.
#pragma once

#include <chrono>

#include "pipeline/shared/loops.h"
#include "plugins/python/shared/pybind.h"

namespace contorno::python {

/// While it lives, loops of this thread ask Python for signals every 50 ms. The GIL must not be held; the
/// error of the signal handler (KeyboardInterrupt) is then set in Python.
class SignalWatch final : public LoopWatch {
 public:
  SignalWatch() : previous_(loop_watch) { loop_watch = this; }
  ~SignalWatch() override { loop_watch = previous_; }
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  bool go_on() override;

 private:
  static constexpr std::chrono::milliseconds kInterval{50};
  LoopWatch* previous_;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + kInterval;
};

/// Threads for `samples` samples: what the caller says (None: by the amount of work, at most what the machine
/// and OMP_NUM_THREADS allow, one in a forked process whose parent used OpenMP). Throws ValueError below 1,
/// RuntimeError where more than one would hang.
int threads_for(py::handle threads, std::uint64_t samples);

/// Call before CUDA is used: RuntimeError in a forked process whose parent used it.
void begin_cuda();
/// And when a device has answered.
void cuda_began();
/// Both: Error(Unavailable) with the reason and the remedy where there is no device.
void require_cuda();
/// Call before threads of contorno's own are used.
void begin_threads();
/// This process was forked from the one that loaded the module.
bool is_forked();

void bind_process(py::module_& module);

}  // namespace contorno::python
