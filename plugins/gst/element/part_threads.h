// PartThreads: work in parts, by some threads beside the one that asks for it. They sleep in between; those
// of OpenMP would look for work for milliseconds after each frame, on processors that the pipeline has other
// use for. Used by one thread at a time.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace contorno::gst {

class PartThreads {
 public:
  /// Throws Error(OutOfMemory) when a thread cannot be started.
  explicit PartThreads(int helpers);
  ~PartThreads();
  PartThreads(const PartThreads&) = delete;
  PartThreads& operator=(const PartThreads&) = delete;

  /// Calls work(part) for 0 <= part < parts, each by the next idle thread, the caller among them. When all
  /// have ended, throws the first of what they threw; a part that throws stops no other. `work` calls no run.
  /// Takes no memory.
  template <class Work>
  void run(int parts, const Work& work) {
    run_parts(parts, std::cref(work));  // a function that copies `work` would have to allocate
  }

 private:
  void run_parts(int parts, const std::function<void(int)>& work);
  void help();
  void stop();
  void take_parts(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;  // guards all below but threads_
  std::condition_variable begun_, ended_;
  const std::function<void(int)>* work_ = nullptr;
  int next_ = 0, parts_ = 0, under_way_ = 0;
  bool stopping_ = false;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

}  // namespace contorno::gst
