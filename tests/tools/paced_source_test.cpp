// Frames at the times that they were recorded at: no time is too far away to be waited for.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "tools/replay/paced_source.h"

using namespace contorno;

namespace {

/// Two frames, the second at `second_ns`.
class TwoFrames final : public Source {
 public:
  explicit TwoFrames(std::int64_t second_ns) : second_ns_(second_ns) {
    format_.frame = ImageFormat{.width = 1, .height = 1, .channels = 1};
  }
  const StreamFormat& format() const override { return format_; }
  ReadResult read(FrameInput& input) override {
    input.info.pts_ns = given_ == 0 ? 0 : second_ns_;
    return given_++ < 2 ? ReadResult::Frame : ReadResult::End;
  }
  void cancel() override {}

 private:
  StreamFormat format_;
  std::int64_t second_ns_;
  int given_ = 0;
};

}  // namespace

TEST_CASE("a frame whose time is farther away than a clock counts is waited for until somebody cancels") {
  for (const double speed : {1.0, 0.001}) {
    const auto source = make_paced(std::make_unique<TwoFrames>(9'000'000'000'000'000'000), speed);
    FrameInput input;
    REQUIRE(source->read(input) == ReadResult::Frame);
    std::atomic<bool> ended = false;
    ReadResult result = ReadResult::Frame;
    std::thread reader([&] {
      result = source->read(input);
      ended = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    CHECK_FALSE(ended);
    source->cancel();
    reader.join();
    CHECK(result == ReadResult::End);
  }
}
