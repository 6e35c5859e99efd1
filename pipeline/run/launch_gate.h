// Which of several cameras may work on a frame next, when not all can at once. A permit is for one frame. It
// goes to a camera that has a frame queued, by weight and not by who asked first: the camera with the
// smallest start tag comes next (P. Goyal, H. Vin, H. Cheng, "Start-time Fair Queueing", SIGCOMM 1996).
// Cameras that always have a frame queued get permits in proportion to their weights; one that had none for a
// while gets no more afterwards. No call allocates; all are safe from any thread, and none holds the lock
// while anything else runs.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <vector>

namespace contorno {

class LaunchGate {
 public:
  /// `permits` frames, of all cameras together, may be in work at once. Weights are above 0, one a camera;
  /// the place in `weights` is the number of the camera, `member` below.
  LaunchGate(int permits, const std::vector<double>& weights);

  /// Waits until the camera, which has a frame queued, has a permit for it. One thread of each camera calls
  /// it. False: the camera was closed.
  bool enter(std::size_t member);
  /// Whether the camera has a permit that `enter` has not taken yet, so that `enter` would not wait.
  bool is_granted(std::size_t member) const;
  /// Gives a permit back. `has_next`: another frame is queued, and the camera stands in line for it before
  /// the permit goes to anybody.
  void leave(std::size_t member, bool has_next);
  /// Stands in line for the next frame while the one before is in work. The thread that calls it calls
  /// `enter` next.
  void line_up(std::size_t member);
  /// Leaves the line for good, and gives back every permit. Wakes the thread that waits in `enter`.
  void close(std::size_t member);

 private:
  struct Member {
    double step = 1;    // by which a frame moves the tags: the inverse of the weight
    double start = 0;   // tag of the frame that stands in line
    double finish = 0;  // tag of the end of the frame before: the next one does not start earlier
    bool waits = false, granted = false, closed = false;
    int held = 0;  // permits that were taken by `enter` and not given back
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
