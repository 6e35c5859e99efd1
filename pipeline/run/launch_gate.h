// Who of several cameras may work on a frame next, when not all can at once. Permits go by weight to the
// cameras that have a frame queued, and never by who asked first: the camera with the smallest start tag
// comes next (P. Goyal, H. Vin, H. Cheng, "Start-time Fair Queueing", SIGCOMM 1996), so that cameras which
// always have one get shares as their weights are, and one that comes back after a pause gets no arrears. A
// permit is never kept for a camera without a frame. No call allocates; all are safe from any thread, and
// none holds the lock while anything else runs.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <vector>

namespace contorno {

class LaunchGate {
 public:
  /// `permits` frames may be in work at once. Weights are above 0, one for each camera.
  LaunchGate(int permits, const std::vector<double>& weights);

  /// Waits for a permit of camera `member`, which has a frame queued. One thread of each camera calls it.
  /// False: the camera was closed.
  bool enter(std::size_t member);
  /// Whether `enter` would not wait.
  bool is_granted(std::size_t member) const;
  /// Gives a permit back. Where the camera `has_next`, it stands in line in the same step.
  void leave(std::size_t member, bool has_next);
  /// Stands in line for another permit, while the first one is in use. Its thread has to call `enter` next.
  void line_up(std::size_t member);
  /// Leaves the line for good, and gives back every permit. Wakes the thread that waits in `enter`.
  void close(std::size_t member);

 private:
  struct Member {
    double step = 1;   // of the tags, a frame: the inverse of the weight
    double start = 0;  // the tag of the frame that it waits with
    double finish = 0;
    bool waits = false, granted = false, closed = false;
    int held = 0;
    std::condition_variable changed;
  };
  void stand(Member& member);
  void grant();

  mutable std::mutex mutex_;
  int free_;
  double now_ = 0;  // virtual time: the start tag of the frame that was let in last
  std::deque<Member> members_;
};

}  // namespace contorno
