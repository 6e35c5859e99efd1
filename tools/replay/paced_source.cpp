#include "tools/replay/paced_source.h"

#include <algorithm>

#include "plugins/shared/playback.h"
#include "tools/replay/wrapped_source.h"

namespace contorno {
namespace {

class PacedSource final : public WrappedSource {
 public:
  PacedSource(std::unique_ptr<Source> source, double speed)
      : WrappedSource(std::move(source)), speed_(speed) {}

  ReadResult read(FrameInput& input) override {
    const ReadResult result = WrappedSource::read(input);
    if (result != ReadResult::Frame && result != ReadResult::Bad) return result;
    // Longer than anybody waits: a cast of more would be undefined.
    constexpr double kLongest_ns = 9e18;
    const auto due =
        static_cast<std::int64_t>(std::min(static_cast<double>(input.info.pts_ns) / speed_, kLongest_ns));
    return pacer_.wait_for(due) ? result : ReadResult::End;
  }

  void cancel() override {
    pacer_.cancel();
    WrappedSource::cancel();
  }

 private:
  double speed_;
  Pacer pacer_;
};

}  // namespace

std::unique_ptr<Source> make_paced(std::unique_ptr<Source> source, double speed) {
  return std::make_unique<PacedSource>(std::move(source), speed);
}

}  // namespace contorno
