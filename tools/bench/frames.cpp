// What the frame runtime reaches: rate, parts of a frame, latency at a rate. Every frame's input already lies
// in the slot's pinned block, as if a camera had written it there.
#include "tools/bench/bench.h"
#include "tools/say.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <set>
#include <string_view>

#include "base/error.h"
#include "cuda/device.h"
#include "cuda/stream.h"
#include "pipeline/run/runner.h"
#include "pipeline/shared/clock.h"
#include "stages/catalog.h"
#include "tools/latency/measure.h"
#include "tools/latency/show.h"

namespace contorno {
namespace {

struct FrameCase {
  const char* name;
  int width, height, classes;
  double pitch;  ///< distance between blobs, px
  int discs;     ///< a class; 0: blobs
  bool overlay;
};

constexpr int kSlots = 4;
constexpr FrameCase kLine{"511x95x8 f32", 511, 95, 8, 20, 0, false};
constexpr FrameCase kLarge{"1920x1080x4 f32", 1920, 1080, 4, 370, 0, false};
/// 20 circles, and four long lines beside each other, so that few tiles have all segments.
constexpr FrameCase kCircles{"1080p RGBA, 20 circles", 1920, 1080, 4, 0, 5, true};
constexpr FrameCase kTraced{"1920x1080x4 f32, overlay", 1920, 1080, 4, 370, 0, true};
constexpr FrameCase kLines{"1080p RGBA, 4 long lines", 1920, 1080, 4, 5600, 0, true};

/// Soft blobs, about `pitch` px apart, the same for every class but for a shift.
void fill_blobs(const ImageView& maps, double pitch) {
  for (int plane = 0; plane < maps.format.channels; ++plane)
    for (int y = 0; y < maps.format.height; ++y)
      for (int x = 0; x < maps.format.width; ++x)
        maps.row<float>(y, plane)[x] =
            static_cast<float>(0.45 + 0.4 * std::sin(6.2832 * (x + 7.3 * plane) / pitch) *
                                          std::sin(6.2832 * (y - 3.1 * plane) / pitch));
}

/// Draws discs of this radius, evenly over the frame, for every class. Each has a contour that crosses 8 *
/// radius rows and columns, so that `discs` of them have so many points.
constexpr double kDiscRadius = 62.5;
void fill_discs(const ImageView& maps, int discs) {
  const int planes = maps.format.channels;
  for (int plane = 0; plane < planes; ++plane)
    for (int y = 0; y < maps.format.height; ++y)
      for (int x = 0; x < maps.format.width; ++x) {
        const double pitch = static_cast<double>(maps.format.width) / discs;
        const double right = std::fmod(x, pitch) - pitch * 0.51;
        const double below = y - maps.format.height * (plane + 0.53) / planes;
        maps.row<float>(y, plane)[x] =
            static_cast<float>(0.5 + 0.001 * (kDiscRadius - std::hypot(right, below)));
      }
}

StreamFormat stream_of(const FrameCase& one) {
  StreamFormat stream;
  stream.maps = ImageFormat{.width = one.width,
                            .height = one.height,
                            .channels = one.classes,
                            .type = ElementType::F32,
                            .layout = Layout::Planar};
  if (one.overlay) stream.frame = ImageFormat{.width = one.width, .height = one.height, .channels = 4};
  return stream;
}

/// Gives the same frame again and again, written into each slot's memory once, as fast as asked.
class MemorySource final : public Source {
 public:
  explicit MemorySource(const FrameCase& one) : format_(stream_of(one)) {
    picture_ = Block(packed_bytes(*format_.maps), MemoryKind::Host);
    const ImageView maps = packed_view(picture_.data(), *format_.maps);
    if (one.discs > 0)
      fill_discs(maps, one.discs);
    else
      fill_blobs(maps, one.pitch);
    format_.description = "memory";
  }
  const StreamFormat& format() const override { return format_; }
  ReadResult read(FrameInput& input) override {
    if (cancelled_) return ReadResult::End;
    if (filled_.insert(input.maps.data).second) {
      std::memcpy(input.maps.data, picture_.data(), picture_.size());
      if (input.frame.data != nullptr) std::memset(input.frame.data, 90, packed_bytes(input.frame.format));
    }
    return ReadResult::Frame;
  }
  void cancel() override { cancelled_ = true; }

 private:
  StreamFormat format_;
  Block picture_;
  std::set<const void*> filled_;
  std::atomic<bool> cancelled_ = false;
};

Backend best_backend() {
  return device_report().available ? Backend::Cuda : Backend::Cpu;
}

GraphSpec graph_of(const FrameCase& one, Waiting waiting = Waiting::Adaptive) {
  GraphSpec graph;
  graph.settings.slots = kSlots;
  graph.settings.waiting = waiting;
  for (int k = 0; k < one.classes; ++k) {
    ClassSpec spec;
    spec.name = fmt::format("class {}", k);
    spec.colour = {static_cast<std::uint8_t>(60 * k), 200, 40, 255};
    graph.classes.push_back(spec);
  }
  const auto add = [&](const char* name, const std::vector<Origin>& inputs) {
    for (const StageType* type : stage_catalog())
      if (type->name == name)
        graph.nodes.push_back(
            {.name = name, .type = type, .params = ParamSet(type->params), .inputs = inputs});
  };
  add("contours", {{Origin::kSource, 1}});
  if (one.overlay) add("overlay", {{Origin::kSource, 0}, {0, 0}});
  return graph;
}

/// Takes every line of the cache that the overlay lies in, as a sink that copies pictures would.
class ReadingSink final : public Sink {
 public:
  void open(const SinkContext&) override {}
  void write(const FrameInfo&, const Value& value) override {
    const auto& image = std::get<ImageView>(value);
    for (int row = 0; row < image.format.height; ++row) {
      const auto* const bytes = image.row<std::uint8_t>(row);
      for (std::size_t i = 0; i < image.format.row_bytes(); i += 64) sum_ += bytes[i];
    }
  }
  void finish() override {}

 private:
  std::uint64_t sum_ = 0;
};

RunReport run(const FrameCase& one, Backend backend, std::uint64_t frames, Trace* trace = nullptr) {
  const GraphSpec graph = graph_of(one);
  MemorySource source(one);
  ReadingSink reader;
  std::vector<SinkBinding> sinks;
  if (one.overlay) sinks.push_back({.name = "reads", .sink = &reader, .input = {1, 0}});
  Runner runner(graph, source, sinks,
                {.backend = backend,
                 .max_frames = frames,
                 .probe_every = trace != nullptr ? kEveryFrame : kNoFrame,
                 .trace = trace});
  return runner.run();
}

/// Frames a second that the copies alone reach, on as many streams as there are slots.
double upload_rate(const FrameCase& one, int slots) {
  const std::size_t bytes = packed_bytes(*stream_of(one).maps);
  std::vector<Stream> streams;
  std::vector<Block> pinned;
  std::vector<Block> device;
  for (int slot = 0; slot < slots; ++slot) {
    streams.push_back(Stream::create());
    pinned.emplace_back(bytes, MemoryKind::Pinned);
    device.emplace_back(bytes, MemoryKind::Device);
  }
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    const int copies = 400;
    const std::int64_t start = now_ns();
    for (int i = 0; i < copies; ++i) {
      const auto slot = static_cast<std::size_t>(i % slots);
      copy_async(device[slot].data(), pinned[slot].data(), bytes, streams[slot].get());
    }
    for (const Stream& stream : streams) stream.synchronize();
    best = std::max(best, copies / (static_cast<double>(now_ns() - start) * 1e-9));
  }
  return best;
}

std::uint64_t points_of(const RunReport& report) {
  std::uint64_t points = 0;
  for (const ClassCounts& counts : report.classes) points += counts.points;
  return points / std::max<std::uint64_t>(report.frames.delivered, 1);
}

void rate_of(const FrameCase& one, Backend backend, std::uint64_t frames) {
  run(one, backend, frames / 10 + 10);
  const RunReport report = run(one, backend, frames);
  print("{:<26} {:>10.0f} frames/s  {:>8} points a frame", one.name, report.rate(), points_of(report));
  if (backend == Backend::Cuda) {
    const double limit = upload_rate(one, kSlots);
    print("  upload alone {:>8.0f} frames/s  share {:.2f}", limit, report.rate() / limit);
  }
  print("\n");
}

/// Sends a frame held in memory as `load` says and prints the rows of `contorno latency`. The contours are
/// brought to the host.
void measure_frames(const FrameCase& one, Waiting waiting, const latency::Load& load) {
  GraphSpec graph = graph_of(one, waiting);
  graph.sinks.push_back({.name = "contours", .input = {0, 0}});
  MemorySource source(one);
  const latency::HeldFrames held(source, 1, packed_bytes(*source.format().maps));
  const latency::Bench bench{.cameras = {{.graph = &graph, .backend = best_backend(), .held = &held}},
                             .with_sinks = false,
                             .quiet = true};
  const std::vector<latency::Measurement> measured{latency::measure(bench, load)};
  print("{}, {} points, {}, waiting {}\n", one.name, points_of(measured[0].cameras[0].report),
        load.loop == latency::Loop::Open ? fmt::format("{:g} frames/s", load.rate) : "one frame at a time",
        waiting == Waiting::Block ? "block" : "adaptive");
  print(std::string_view(latency::latency_rows(latency::summarise(graph, {}, measured, {.worst = 0}))));
}

}  // namespace

void bench_trace(const std::string& path) {
  Trace slices(1U << 16);
  run(kTraced, best_backend(), 60, &slices);
  std::vector<std::pair<std::int32_t, std::string>> names{
      {kReaderTrack, "reader"}, {kLauncherTrack, "launcher"}, {kFinisherTrack, "finisher"}};
  for (int slot = 0; slot < 4; ++slot) names.emplace_back(kSlotTracks + slot, fmt::format("slot {}", slot));
  names.emplace_back(kSinkTracks, "sink");
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) throw Error(ExitCode::CannotCreate, fmt::format("cannot create {}", path));
  const std::string json = slices.to_json(names);
  const bool written = std::fwrite(json.data(), 1, json.size(), file) == json.size();
  if (std::fclose(file) != 0 || !written) throw Error(ExitCode::Io, fmt::format("cannot write {}", path));
}

void bench_rate() {
  rate_of(kLine, best_backend(), best_backend() == Backend::Cuda ? 60000 : 4000);
  rate_of(kLarge, best_backend(), best_backend() == Backend::Cuda ? 3000 : 200);
}

void bench_stages() {
  for (const FrameCase& one : {kLine, kLarge, kCircles, kLines})
    measure_frames(one, Waiting::Adaptive,
                   {.loop = latency::Loop::Closed, .warm_up_s = 0.2, .duration_s = 3});
}

void bench_latency() {
  for (const Waiting waiting : {Waiting::Adaptive, Waiting::Block})
    measure_frames(kLine, waiting, {.rate = 10, .duration_s = 40, .probe_every = kNoFrame});
}

}  // namespace contorno
