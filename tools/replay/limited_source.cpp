#include "tools/replay/limited_source.h"

#include <optional>

#include "tools/replay/wrapped_source.h"

namespace contorno {
namespace {

class LimitedSource final : public WrappedSource {
 public:
  LimitedSource(std::unique_ptr<Source> source, std::int64_t duration_ns)
      : WrappedSource(std::move(source)), duration_ns_(duration_ns) {}

  ReadResult read(FrameInput& input) override {
    const ReadResult result = WrappedSource::read(input);
    if (result != ReadResult::Frame && result != ReadResult::Bad) return result;
    if (!first_ns_) first_ns_ = input.info.pts_ns;
    return input.info.pts_ns - *first_ns_ < duration_ns_ ? result : ReadResult::End;
  }

 private:
  std::int64_t duration_ns_;
  std::optional<std::int64_t> first_ns_;
};

}  // namespace

std::unique_ptr<Source> make_limited(std::unique_ptr<Source> source, std::int64_t duration_ns) {
  return std::make_unique<LimitedSource>(std::move(source), duration_ns);
}

}  // namespace contorno
