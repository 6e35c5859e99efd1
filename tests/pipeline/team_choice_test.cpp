#include "pipeline/run/team_choice.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>

using contorno::TeamChoice;

namespace {

/// A stream whose frames take `alone_ns` of one thread, and half of that of two, in intervals.
class WorkedFrames {
 public:
  /// With a first frame, at which a window begins.
  explicit WorkedFrames(TeamChoice& team) : team_(team) { team_.launched(0, now_); }
  /// The frames of `windows`; returns how many of them one thread did.
  int run(int windows, std::int64_t alone_ns, std::int64_t interval_ns) {
    int alone = 0;
    for (int i = 0; i < windows * TeamChoice::kWindow; ++i) {
      const bool one = team_.threads() == 1;
      alone += one ? 1 : 0;
      const std::int64_t work = one ? alone_ns : alone_ns / 2;
      now_ += work > interval_ns ? work : interval_ns;
      team_.launched(work_ += work, now_);
    }
    return alone;
  }

 private:
  TeamChoice& team_;
  std::int64_t now_ = 1'000'000, work_ = 0;
};

}  // namespace

TEST_CASE("one thread works where it keeps up with the frames, from the second window on") {
  TeamChoice team(2, true);
  CHECK(team.threads() == 2);
  CHECK(WorkedFrames(team).run(10, 600, 1000) == 9 * TeamChoice::kWindow);
}

TEST_CASE("all threads work where one does not keep up") {
  for (const std::int64_t work : {900, 3000}) {
    TeamChoice team(2, true);
    CHECK(WorkedFrames(team).run(100, work, 1000) == 0);
  }
}

TEST_CASE("all threads work again when frames take longer, and one is tried again after a while") {
  TeamChoice team(2, true);
  WorkedFrames frames(team);
  frames.run(4, 500, 1000);
  CHECK(frames.run(4, 1500, 1000) == TeamChoice::kWindow);
  CHECK(frames.run(TeamChoice::kPause - 3, 500, 1000) == 0);
  CHECK(frames.run(2, 500, 1000) == TeamChoice::kWindow);
}

TEST_CASE("the number of threads stays what it is where it may not change, and where there is one") {
  const TeamChoice fixed(2, false), single(1, true);
  CHECK(!fixed.adapts());
  CHECK(fixed.threads() == 2);
  CHECK(!single.adapts());
  CHECK(single.threads() == 1);
}
