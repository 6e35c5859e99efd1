// Several runners in one process, as the cameras of a sorting line: each runs on a thread of its own, and one
// that fails does not end the others. Their counts are added up, and the caller can poll all of them for a
// hung device. The fleet owns the threads, and keeps the report or the exception of each run; the runners are
// borrowed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include "pipeline/run/runner.h"

namespace contorno {

class Fleet {
 public:
  /// `runners` must outlive the fleet.
  explicit Fleet(const std::vector<Runner*>& runners);
  /// Asks those that run to stop, and waits for them.
  ~Fleet();
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  /// Starts all, once. If a thread cannot be started, stops those that run and throws what start_thread
  /// threw.
  void start();
  /// Asks all runners to stop, as Runner::request_stop does.
  void request_stop();
  /// Whether all have ended. Any thread may ask.
  bool done() const;
  /// What all have done so far, added up.
  FrameCounts progress() const;
  /// Runner::give_up_on_device of each: true when a frame of one has been on the device for longer than
  /// `limit`. Then the process must end without destructors, this one's included: the device may still write,
  /// and the runs that wait for it do not end. Frames in flight in the other runners are lost.
  bool give_up_on_device(std::chrono::nanoseconds limit);

  /// Waits until all have ended.
  void wait();
  /// The report of runner `number`, in the order in which they were given; throws what ended it. Only after
  /// wait(), and once for each: the report is moved out.
  RunReport take(std::size_t number);

 private:
  struct Member {
    Runner* runner = nullptr;
    RunReport report;
    std::exception_ptr failure;
    std::atomic<bool> done = true;  // nothing runs before start()
    std::thread thread;
  };
  static void run(Member& member);

  std::vector<std::unique_ptr<Member>> members_;  // by pointer: each thread refers to its member
};

}  // namespace contorno
