#include "tools/replay/paced_source.h"

#include <algorithm>

#include "plugins/shared/playback.h"

namespace contorno {
namespace {

class PacedSource final : public Source {
 public:
  PacedSource(std::unique_ptr<Source> source, double speed) : source_(std::move(source)), speed_(speed) {}

  const StreamFormat& format() const override { return source_->format(); }
  void expect_classes(int count) override { source_->expect_classes(count); }
  std::vector<SourceFault> faults() const override { return source_->faults(); }
  std::vector<std::string> files() const override { return source_->files(); }

  ReadResult read(FrameInput& input) override {
    const ReadResult result = source_->read(input);
    if (result != ReadResult::Frame && result != ReadResult::Bad) return result;
    // Longer than anybody waits: a cast of more would be undefined.
    constexpr double kLongest_ns = 9e18;
    const auto due =
        static_cast<std::int64_t>(std::min(static_cast<double>(input.info.pts_ns) / speed_, kLongest_ns));
    return pacer_.wait_for(due) ? result : ReadResult::End;
  }

  void cancel() override {
    pacer_.cancel();
    source_->cancel();
  }

 private:
  std::unique_ptr<Source> source_;
  double speed_;
  Pacer pacer_;
};

}  // namespace

std::unique_ptr<Source> make_paced(std::unique_ptr<Source> source, double speed) {
  return std::make_unique<PacedSource>(std::move(source), speed);
}

}  // namespace contorno
