// The parts of some frames are timed and those of others are not: which ones, and that results do not depend
// on it, on the CPU and on the device where there is one.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "cuda/device.h"
#include "pipeline/run/runner.h"
#include "stages/catalog.h"
#include "tests/device_skip.h"
#include "tests/pipeline/fakes.h"

using namespace contorno;
using namespace std::chrono_literals;

namespace {

constexpr int kNoisyWidth = 256, kNoisyHeight = 128, kNoisyClasses = 2;
constexpr std::uint64_t kNoisyFrames = 31;

/// The share of a frame's rows that are noise, whose contours need more room than was planned: twice a frame
/// overflows, one whose number is a multiple of 3 and one whose number is not.
double noise_of(std::uint64_t frame) {
  return frame < 9 ? 0.05 : frame < 16 ? 0.3 : 0.6;
}

/// Class maps, the same for every run. Some frames are bad.
class NoisyMaps final : public Source {
 public:
  NoisyMaps() {
    format_.maps = ImageFormat{.width = kNoisyWidth,
                               .height = kNoisyHeight,
                               .channels = kNoisyClasses,
                               .type = ElementType::F32,
                               .layout = Layout::Planar};
    format_.description = "noisy maps";
  }
  const StreamFormat& format() const override { return format_; }
  ReadResult read(FrameInput& input) override {
    if (next_ == kNoisyFrames) return ReadResult::End;
    const std::uint64_t frame = next_++;
    std::mt19937 random(static_cast<unsigned>(frame));
    std::uniform_real_distribution<float> noise(0, 1);
    for (int plane = 0; plane < kNoisyClasses; ++plane)
      for (int y = 0; y < kNoisyHeight; ++y)
        for (int x = 0; x < kNoisyWidth; ++x)
          input.maps.row<float>(y, plane)[x] = y < noise_of(frame) * kNoisyHeight ? noise(random) : 0;
    if (frame % 13 != 12) return ReadResult::Frame;
    input.error = "planted";
    return ReadResult::Bad;
  }
  void cancel() override {}

 private:
  StreamFormat format_;
  std::uint64_t next_ = 0;
};

/// Keeps all bytes of the contours of every frame, with their ids where they have some.
class ContourBytes final : public Sink {
 public:
  std::map<std::uint64_t, std::vector<std::byte>> frames;

  void open(const SinkContext&) override {}
  void write(const FrameInfo& info, const Value& value) override {
    const auto& contours = std::get<ContoursView>(value);
    const std::uint64_t count = contours.counts->contours;
    std::vector<std::byte>& bytes = frames[info.number];
    const auto append = [&](const auto* data, std::size_t number) {
      const auto* const begin = reinterpret_cast<const std::byte*>(data);
      bytes.insert(bytes.end(), begin, begin + number * sizeof(*data));
    };
    append(contours.counts, 1);
    append(contours.class_begin, kNoisyClasses + 1);
    append(contours.offsets, count + 1);
    append(contours.closed, count);
    append(contours.points, contours.counts->points);
    if (contours.format.attributes.has(Attribute::Id)) append(contours.column(Attribute::Id), count);
  }
  void finish() override {}
};

struct ProbedFrame {
  FrameTimes times;
  PartTimes parts;
};

struct ProbedRun {
  RunReport report;
  std::map<std::uint64_t, std::vector<std::byte>> bytes;
  std::set<std::uint64_t> delivered;
  std::map<std::uint64_t, ProbedFrame> probed;
};

struct ProbeSetting {
  Backend backend;
  int slots;
  bool with_state;
};

/// Contours, and where `with_state` also what they show, by a stage with a state.
ProbedRun run_probed(const ProbeSetting& setting, std::uint64_t probe_every) {
  GraphSpec graph;
  graph.settings.slots = setting.slots;
  graph.settings.threads = 1;
  graph.classes = {{.name = "one"}, {.name = "two"}};
  const auto add = [&](std::string_view name, Origin from) {
    for (const StageType* type : stage_catalog())
      if (type->name == name)
        graph.nodes.push_back(
            {.name = type->name, .type = type, .params = ParamSet(type->params), .inputs = {from}});
  };
  add("contours", {Origin::kSource, Origin::kMaps});
  if (setting.with_state) add("track", {0, 0});
  NoisyMaps source;
  ContourBytes sink;
  ProbedRun result;
  Runner runner(
      graph, source, {{.name = "bytes", .sink = &sink, .input = {setting.with_state ? 1 : 0, 0}}},
      {.backend = setting.backend, .probe_every = probe_every, .on_times = [&](const FrameTimes& times) {
         result.delivered.insert(times.frame);
         if (times.parts != nullptr) result.probed.emplace(times.frame, ProbedFrame{times, *times.parts});
       }});
  result.report = runner.run();
  result.bytes = std::move(sink.frames);
  return result;
}

std::set<std::uint64_t> multiples_of(std::uint64_t every, const std::set<std::uint64_t>& frames) {
  std::set<std::uint64_t> some;
  for (const std::uint64_t frame : frames)
    if (every != kNoFrame && frame % every == 0) some.insert(frame);
  return some;
}

/// Parts follow each other between the frame's launch and its result. The clock of a device is known within
/// some microseconds, more where the machine is busy.
void check_times(const ProbedFrame& one) {
  constexpr std::int64_t kSlack_ns = 200'000;
  const PartTimes& parts = one.parts;
  CHECK(parts.start_ns >= one.times.arrived_ns + one.times.queued_ns - kSlack_ns);
  CHECK(parts.uploaded_ns >= parts.start_ns);
  CHECK(parts.part_ns.size() >= 2);  // marching squares, and the assembly of contours
  std::int64_t before = parts.uploaded_ns;
  for (const std::int64_t end : parts.part_ns) {
    CHECK(end >= before);
    before = end;
  }
  CHECK(parts.downloaded_ns >= before);
  CHECK(parts.downloaded_ns <= one.times.arrived_ns + one.times.latency_ns + kSlack_ns);
}

void check_probes(Backend backend) {
  for (const bool with_state : {false, true})
    for (const int slots : {1, 4}) {
      const ProbeSetting setting{backend, slots, with_state};
      const ProbedRun wanted = run_probed(setting, kNoFrame);
      CHECK(wanted.delivered.size() == 29);
      CHECK(wanted.probed.empty());
      CHECK(wanted.report.frames.regrown >= 2);
      for (const std::uint64_t every : {std::uint64_t{3}, kEveryFrame}) {
        INFO("slots ", slots, ", state ", with_state, ", every ", every);
        const ProbedRun result = run_probed(setting, every);
        std::set<std::uint64_t> probed;
        for (const auto& entry : result.probed) {
          INFO("frame ", entry.first);
          probed.insert(entry.first);
          check_times(entry.second);
        }
        CHECK(result.delivered == wanted.delivered);
        CHECK(probed == multiples_of(every, wanted.delivered));
        CHECK(result.bytes == wanted.bytes);
        CHECK(result.report.frames.regrown >= 2);
        CHECK(result.report.parts.front().histogram.count() == result.delivered.size());
        for (std::size_t part = 1; part < result.report.parts.size(); ++part)
          CHECK(result.report.parts[part].histogram.count() == probed.size());
      }
    }
}

}  // namespace

TEST_CASE("the parts of every so many frames are timed, and results are the same") {
  check_probes(Backend::Cpu);
}

TEST_CASE("the parts of every so many frames are timed on a device, and results are the same") {
  if (test::skipped_without_device("frames on a device of which some are probed")) return;
  check_probes(Backend::Cuda);
}

TEST_CASE("the number of a frame says whether it is probed, also where others were dropped") {
  GraphSpec graph = fake::copy_graph();
  graph.settings.slots = 3;
  fake::CountingSource source(300, true);
  source.pause = 200us;
  fake::CollectingSink sink;
  sink.pause = 1ms;
  std::set<std::uint64_t> delivered, probed;
  Runner runner(graph, source, {{.name = "collect", .sink = &sink, .input = {1, 0}}},
                {.probe_every = 5, .on_times = [&](const FrameTimes& times) {
                   delivered.insert(times.frame);
                   if (times.parts != nullptr) probed.insert(times.frame);
                 }});
  const RunReport report = runner.run();
  CHECK(report.frames.dropped_ring_full > 100);
  CHECK(probed == multiples_of(5, delivered));
  CHECK(!probed.empty());
}
