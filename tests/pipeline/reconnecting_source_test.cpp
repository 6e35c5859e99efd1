// Losing and finding a live source, on a clock that the test makes up.
#include "pipeline/run/reconnecting_source.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <deque>
#include <memory>
#include <vector>

#include "base/error.h"
#include "pipeline/run/camera_state.h"

using namespace contorno;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// Time that passes only while somebody sleeps or works.
struct MadeUpTime final : SourceTime {
  struct Shared {
    std::int64_t now = 100 * kSecond;
    std::vector<std::int64_t> sleeps;
    bool cancelled = false;
  };
  explicit MadeUpTime(Shared& shared) : shared_(shared) {}
  std::int64_t now() const override { return shared_.now; }
  bool sleep(std::int64_t ns) override {
    if (shared_.cancelled) return false;
    shared_.sleeps.push_back(ns);
    shared_.now += ns;
    return true;
  }
  void cancel() override { shared_.cancelled = true; }

 private:
  Shared& shared_;
};

/// What a connection gives: frames 40 ms apart, and how it ends.
struct Connection {
  int frames = 0;
  enum class End : std::uint8_t { Error, Quiet, Refused } end = End::Quiet;
  int width = 4;
  std::int64_t frame_count = -1;
  bool live = true;
};

class ScriptedSource final : public Source {
 public:
  ScriptedSource(const Connection& connection, MadeUpTime::Shared& time)
      : connection_(connection), time_(time) {
    format_.frame = ImageFormat{.width = connection.width, .height = 2, .channels = 1};
    format_.live = connection.live;
    format_.frame_count = connection.frame_count;
  }
  const StreamFormat& format() const override { return format_; }
  ReadResult read(FrameInput& input) override {
    if (cancelled_) return ReadResult::End;
    if (given_ == connection_.frames) {
      if (connection_.end == Connection::End::Error) throw Error(ExitCode::Io, "planted");
      return ReadResult::End;
    }
    time_.now += 40'000'000;
    input.info.pts_ns = given_++ * 40'000'000;
    return ReadResult::Frame;
  }
  std::vector<SourceFault> faults() const override { return {{.sentence = "planted fault", .missing = 1}}; }
  void cancel() override { cancelled_ = true; }

 private:
  Connection connection_;
  MadeUpTime::Shared& time_;
  StreamFormat format_;
  int given_ = 0;
  bool cancelled_ = false;
};

/// A source that finds these connections, one after the other.
struct Script {
  explicit Script(std::deque<Connection> connections, double max_rate = 0) : next(std::move(connections)) {
    const OpenSource open = [this]() -> std::unique_ptr<Source> {
      if (next.empty()) {
        time.cancelled = true;  // the script is over
        throw Error(ExitCode::MissingInput, "over");
      }
      const Connection connection = next.front();
      next.pop_front();
      if (connection.end == Connection::End::Refused) throw Error(ExitCode::MissingInput, "refused");
      return std::make_unique<ScriptedSource>(connection, time);
    };
    source = std::make_unique<ReconnectingSource>(
        open(), open, ReconnectingSource::Options{.max_rate = max_rate}, std::make_unique<MadeUpTime>(time));
  }
  struct Read {
    std::vector<std::int64_t> pts;
    std::vector<std::string> warnings;
    int changes = 0;
  };
  Read read_all() {
    Read all;
    FrameInput input;
    for (;;) {
      input.warning.clear();
      switch (source->read(input)) {
        case ReadResult::End:
          return all;
        case ReadResult::FormatChanged:
          ++all.changes;
          continue;
        default:
          all.pts.push_back(input.info.pts_ns);
          if (!input.warning.empty()) all.warnings.push_back(input.warning);
      }
    }
  }

  MadeUpTime::Shared time;
  std::deque<Connection> next;
  std::unique_ptr<ReconnectingSource> source;
};

}  // namespace

TEST_CASE(
    "waits before a camera is opened again double up to 30 s, within a fifth, and begin anew after 60 s") {
  BackOff back_off({}, 7);
  for (const double seconds : {1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0}) {
    const double wait = static_cast<double>(back_off.next()) * 1e-9;
    CHECK(wait >= 0.8 * seconds);
    CHECK(wait <= 1.2 * seconds);
  }
  back_off.lost_after(59 * kSecond);
  CHECK(back_off.next() >= 24 * kSecond);
  back_off.lost_after(60 * kSecond);
  CHECK(back_off.next() <= 1.2 * kSecond);
  bool differ = false;
  for (std::uint32_t seed = 1; seed < 5; ++seed) differ |= BackOff({}, seed).next() != BackOff({}, 9).next();
  CHECK(differ);
}

TEST_CASE("a live source that fails or ends is opened again until it is there, and frames go on") {
  using End = Connection::End;
  Script script({{.frames = 3, .end = End::Error},
                 {.end = End::Refused},
                 {.end = End::Refused},
                 {.frames = 2, .end = End::Quiet},
                 {.frames = 4}});
  const Script::Read read = script.read_all();
  CHECK(read.pts.size() == 9);
  for (std::size_t i = 1; i < read.pts.size(); ++i) CHECK(read.pts[i] > read.pts[i - 1]);
  CHECK(script.source->reconnections() == 2);
  REQUIRE(script.time.sleeps.size() >= 4);
  // The gap in the times is that of the clock: three waits, of 1, 2 and 4 s, and the interval.
  const std::int64_t gap = script.time.sleeps[0] + script.time.sleeps[1] + script.time.sleeps[2] + 40'000'000;
  CHECK(read.pts[3] - read.pts[2] == gap);
  REQUIRE(read.warnings.size() == 2);
  CHECK(read.warnings[0].find("planted; there again after") == 0);
  CHECK(read.warnings[1].find("it ended or fell silent; there again") == 0);
  CHECK(script.source->faults().size() >= 2);
  CHECK(script.source->is_away());  // the script was over while it looked for the next
}

TEST_CASE("after a minute of frames the first wait is short again") {
  Script script({{.frames = 1}, {.frames = 1}, {.frames = 1}, {.frames = 2000}, {.frames = 1}});
  script.read_all();
  REQUIRE(script.time.sleeps.size() >= 4);
  CHECK(script.time.sleeps[2] > 3 * kSecond);
  CHECK(script.time.sleeps[3] < 1.3 * kSecond);  // 2000 frames are 80 s
}

TEST_CASE("a connection with another format is told before its first frame") {
  Script script({{.frames = 2}, {.frames = 2, .width = 8}});
  const Script::Read read = script.read_all();
  CHECK(read.pts.size() == 4);
  CHECK(read.changes == 1);
  CHECK(script.source->format().frame->width == 8);
}

TEST_CASE("a recording, and a live source that says how many frames it has, end when they end") {
  for (const Connection& one :
       {Connection{.frames = 3, .live = false}, Connection{.frames = 3, .frame_count = 3}}) {
    Script script({one, {.frames = 5}});
    CHECK(script.read_all().pts.size() == 3);
    CHECK(script.source->reconnections() == 0);
    CHECK_FALSE(script.source->is_away());
  }
  Script broken({{.frames = 1, .end = Connection::End::Error, .live = false}});
  CHECK_THROWS_WITH_AS(broken.read_all(), "planted", Error);
}

TEST_CASE("a connection that is given up is opened again, and a cancelled one is not") {
  Script script({{.frames = 1000}, {.frames = 1}});
  FrameInput input;
  REQUIRE(script.source->read(input) == ReadResult::Frame);
  script.source->give_up_connection();
  REQUIRE(script.source->read(input) == ReadResult::Frame);
  CHECK(script.source->reconnections() == 1);
  script.source->cancel();
  CHECK(script.source->read(input) == ReadResult::End);
  CHECK(script.source->reconnections() == 1);
}

TEST_CASE("the reader of a flood sleeps, and one in time does not") {
  Script slow({{.frames = 500, .frame_count = 500}}, 30);
  slow.read_all();
  CHECK(slow.time.sleeps.empty());  // 25 frames/s
  Script flood({{.frames = 500, .frame_count = 500}}, 10);
  const std::int64_t start = flood.time.now;
  flood.read_all();
  const double seconds = static_cast<double>(flood.time.now - start) * 1e-9;
  CHECK(500 / seconds == doctest::Approx(10).epsilon(0.02));
}

TEST_CASE("a camera is stalled when it gives nothing, and blocked when we take nothing") {
  const std::int64_t now = 1000 * kSecond;
  const auto state = [&](const CameraSigns& signs, std::int64_t stall = 0) {
    return state_of(signs, stall, now);
  };
  using enum CameraState;
  CHECK(state({}) == Connecting);
  CHECK(state({.phase = CameraPhase::Ended}) == Ended);
  CHECK(state({.phase = CameraPhase::Failed}) == Failed);
  CameraSigns signs{
      .phase = CameraPhase::Running, .began_ns = now - 10 * kSecond, .arrived_ns = now - kSecond / 2};
  CHECK(state(signs) == Running);
  signs.arrived_ns = now - 2 * kSecond;
  CHECK(state(signs) == Stalled);
  CHECK(state(signs, 3 * kSecond) == Running);
  signs.interval_ns = kSecond;  // of a slow camera four intervals are not over
  CHECK(state(signs) == Running);
  signs.interval_ns = kSecond / 10;
  signs.held_ns = now - 2 * kSecond;
  CHECK(state(signs) == Blocked);
  signs.held_ns = now - 1000;  // frames that come after a pause
  CHECK(state(signs) == Running);
  signs.away = true;
  CHECK(state(signs) == Lost);
  // One that has just been found again has had no time to give a frame.
  CHECK(state({.phase = CameraPhase::Running, .began_ns = now - 1000, .arrived_ns = now - 60 * kSecond}) ==
        Running);
}
