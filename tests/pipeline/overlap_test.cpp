// On a device, frames that are under way at the same time overlap: while one comes up, contours of others are
// traced and overlays drawn. Skipped where no device answers.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "cuda/device.h"
#include "pipeline/run/runner.h"
#include "stages/catalog.h"
#include "tests/device_skip.h"

using namespace contorno;

namespace {

constexpr int kSpotsWidth = 1920, kSpotsHeight = 1080, kSpotsClasses = 2;
constexpr std::uint64_t kSpotsFrames = 60, kSpotsWarmUp = 10;

/// Frames with maps of round spots; the same memory is written once a slot, since a test of overlap is no
/// test of this source.
class Spots final : public Source {
 public:
  Spots() {
    format_.frame = ImageFormat{.width = kSpotsWidth, .height = kSpotsHeight, .channels = 4};
    format_.maps = ImageFormat{.width = kSpotsWidth,
                               .height = kSpotsHeight,
                               .channels = kSpotsClasses,
                               .type = ElementType::F32,
                               .layout = Layout::Planar};
    format_.description = "spots";
  }
  const StreamFormat& format() const override { return format_; }
  ReadResult read(FrameInput& input) override {
    if (next_ == kSpotsFrames) return ReadResult::End;
    ++next_;
    if (std::find(painted_.begin(), painted_.end(), input.maps.data) != painted_.end())
      return ReadResult::Frame;
    painted_.push_back(input.maps.data);
    for (int plane = 0; plane < kSpotsClasses; ++plane)
      for (int y = 0; y < kSpotsHeight; ++y)
        for (int x = 0; x < kSpotsWidth; ++x)
          input.maps.row<float>(y, plane)[x] =
              0.5F + 0.5F * std::sin(static_cast<float>(x) / 20) * std::sin(static_cast<float>(y) / 20);
    for (int y = 0; y < kSpotsHeight; ++y) std::fill_n(input.frame.row<std::uint8_t>(y), 4 * kSpotsWidth, 90);
    return ReadResult::Frame;
  }
  void cancel() override {}

 private:
  StreamFormat format_;
  std::uint64_t next_ = 0;
  std::vector<const void*> painted_;
};

class SpotsSink final : public Sink {
 public:
  void open(const SinkContext&) override {}
  void write(const FrameInfo&, const Value&) override {}
  void finish() override {}
};

struct TimeSpan {
  std::uint64_t frame;
  std::int64_t begin, end;
};

/// When frames came up, and when each of their parts ran.
struct Timeline {
  std::vector<TimeSpan> uploads;
  std::vector<std::vector<TimeSpan>> parts;
};

Timeline timeline_of(int slots) {
  GraphSpec graph;
  graph.settings.slots = slots;
  graph.classes = {{.name = "one"}, {.name = "two"}};
  const auto add = [&](std::string_view name, std::vector<Origin> from) {
    for (const StageType* type : stage_catalog())
      if (type->name == name)
        graph.nodes.push_back(
            {.name = type->name, .type = type, .params = ParamSet(type->params), .inputs = std::move(from)});
  };
  add("contours", {{Origin::kSource, Origin::kMaps}});
  add("overlay", {{Origin::kSource, Origin::kFrame}, {0, 0}});
  Spots source;
  SpotsSink sink;
  Timeline timeline;
  std::int64_t uploads_ended = 0;
  Runner runner(graph, source, {{.name = "nowhere", .sink = &sink, .input = {1, 0}}},
                {.backend = Backend::Cuda, .on_times = [&](const FrameTimes& times) {
                   if (times.parts == nullptr || times.frame < kSpotsWarmUp) return;
                   const PartTimes& parts = *times.parts;
                   const std::int64_t start = std::max(parts.start_ns, uploads_ended);
                   timeline.uploads.push_back({times.frame, start, parts.uploaded_ns});
                   uploads_ended = parts.uploaded_ns;
                   timeline.parts.resize(parts.part_ns.size());
                   std::int64_t before = parts.uploaded_ns;
                   for (std::size_t part = 0; part < parts.part_ns.size(); ++part) {
                     timeline.parts[part].push_back({times.frame, before, parts.part_ns[part]});
                     before = parts.part_ns[part];
                   }
                 }});
  runner.run();
  return timeline;
}

/// Which share of `spans` passes while another frame comes up.
double share_beside_uploads(const std::vector<TimeSpan>& spans, const std::vector<TimeSpan>& uploads) {
  std::int64_t beside = 0, all = 0;
  for (const TimeSpan& span : spans) {
    all += span.end - span.begin;
    for (const TimeSpan& upload : uploads)
      if (upload.frame != span.frame)
        beside +=
            std::max<std::int64_t>(0, std::min(span.end, upload.end) - std::max(span.begin, upload.begin));
  }
  return all > 0 ? static_cast<double>(beside) / static_cast<double>(all) : 0;
}

}  // namespace

TEST_CASE("while a frame comes up, a device traces contours and draws overlays of others") {
  if (test::skipped_without_device("frames that overlap on a device")) return;
  const Timeline alone = timeline_of(1), together = timeline_of(4);
  REQUIRE(alone.parts.size() == together.parts.size());
  REQUIRE(together.uploads.size() == kSpotsFrames - kSpotsWarmUp);
  for (std::size_t part = 0; part < together.parts.size(); ++part) {
    const double apart = share_beside_uploads(alone.parts[part], alone.uploads),
                 overlap = share_beside_uploads(together.parts[part], together.uploads);
    std::printf(
        "part %zu of %zu beside the uploads of other frames: %.0f %% with four slots, %.0f %% with one\n",
        part + 1, together.parts.size(), 100 * overlap, 100 * apart);
    // A frame's own slot has to be free before the next one comes up.
    CHECK(apart < 0.05);
    CHECK(overlap > 0.5);
  }
}
