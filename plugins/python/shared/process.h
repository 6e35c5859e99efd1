// What contorno has to respect in Python's process: Ctrl-C while C++ computes, the number of threads, and
// forks (threads of OpenMP and of CUDA exist only in the process that started them).
#pragma once

#include <chrono>

#include "pipeline/shared/loops.h"
#include "plugins/python/shared/pybind.h"

namespace contorno::python {

/// While an object of this class lives, loops of its thread look every 50 ms whether Python has a signal, and
/// end if its handler raises an error (KeyboardInterrupt), which is then set in Python. The GIL must not be
/// held.
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

/// How many threads work on `samples` samples: the number `threads`, or with None as many as the work is
/// worth, at most what the machine and OMP_NUM_THREADS allow, and one in a forked process whose parent used
/// OpenMP. Throws ValueError for a number out of range, RuntimeError where more than one thread would hang.
int threads_for(py::handle threads, std::uint64_t samples);

/// Call before CUDA is used. Throws RuntimeError in a forked process whose parent used CUDA.
void begin_cuda();
/// Call when a device has answered: processes forked from now on cannot use CUDA.
void cuda_began();
/// Does both. Throws Error(Unavailable) with the reason and the remedy where there is no device.
void require_cuda();
/// Call before threads of contorno's own are used.
void begin_threads();
/// Whether this process was forked from the one that loaded the module.
bool is_forked();

void bind_process(py::module_& module);

}  // namespace contorno::python
