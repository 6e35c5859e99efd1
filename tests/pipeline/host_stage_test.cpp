// Stages that run on the host of a graph on CUDA: what they make has the same bits on every backend, in
// bands, behind what runs on the host for their sake, with frames that fail, run again or carry a state.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "pipeline/run/runner.h"
#include "stages/catalog.h"
#include "tests/device_skip.h"
#include "tests/stages/default_params.h"

using namespace contorno;
using contorno::test::backends;

namespace {

constexpr std::uint8_t kRefused = 253;  // the first byte of a frame that the stage refuses
constexpr int kClassesOfHost = 2;

/// Maps of a frame: its red, and what its red lacks to white. A stand-in for a network.
class RedMaps final : public Stage {
 public:
  void plan(PlanContext& context) override {
    ImageFormat maps = context.image(0);
    maps.channels = kClassesOfHost, maps.type = ElementType::F32, maps.layout = Layout::Planar;
    context.set_output(0, maps);
    row_ = context.temporary(static_cast<std::size_t>(maps.width) * sizeof(float), MemoryKind::Host);
  }
  void run(const RunContext& context) const override {
    const ImageView &in = context.image_in(0), &out = context.image_out(0);
    if (*in.row<std::uint8_t>(0) == kRefused) throw Error(ExitCode::BadData, "the frame is refused");
    auto* const row = context.scratch<float>(row_);
    for (int y = 0; y < out.format.height; ++y) {
      const auto* const from = in.row<const std::uint8_t>(y);
      for (int x = 0; x < out.format.width; ++x)
        row[x] = static_cast<float>(from[x * in.format.channels]) / 255.0F;
      std::memcpy(out.row<float>(y, 0), row, out.format.row_bytes());
      for (int x = 0; x < out.format.width; ++x) out.row<float>(y, 1)[x] = 1.0F - row[x];
    }
    if (sleep_ms > 0) std::this_thread::sleep_for(std::chrono::milliseconds(sleep_ms));
  }
  int sleep_ms = 0;

 private:
  Scratch row_;
};

StageType red_maps_type(int sleep_ms = 0) {
  struct None {};
  return {.name = "red_maps",
          .summary = "Makes maps of the red of a frame.",
          .inputs = {{"image", PortType::Image, "The frame.", From::FrameOrMaps}},
          .outputs = {{"maps", PortType::Image, "Two maps."}},
          .params = declare(ParamList<None>()),
          .example = "- type: red_maps\n",
          .make_cpu =
              [sleep_ms](const ParamSet&) {
                auto stage = std::make_unique<RedMaps>();
                stage->sleep_ms = sleep_ms;
                return stage;
              },
          .on_host = true};
}

const StageType& catalogued(const char* name) {
  for (const StageType* type : stage_catalog())
    if (type->name == name) return *type;
  throw InternalError("no such stage");
}

/// preprocess -> red_maps -> contours, an overlay of them on the frame, and contours of the source's own
/// maps.
struct HostGraph {
  enum Node : int { Preprocess, RedMaps, Contours, Overlay, OtherContours };
  StageType type;
  GraphSpec graph;
  StreamFormat stream;

  explicit HostGraph(int width, int height, int sleep_ms = 0) : type(red_maps_type(sleep_ms)) {
    for (const char* name : {"one", "two"}) {
      ClassSpec one;
      one.name = name;
      one.fill = 0.3;
      graph.classes.push_back(one);
    }
    stream = {.frame = ImageFormat{.width = width, .height = height, .channels = 4},
              .maps = ImageFormat{.width = width,
                                  .height = height,
                                  .channels = kClassesOfHost,
                                  .type = ElementType::F32,
                                  .layout = Layout::Planar},
              .description = "host"};
    add("preprocess", catalogued("preprocess"), {{Origin::kSource, Origin::kFrame}});
    graph.nodes[0].params.set("colour", std::string("rgb"));
    add("red_maps", type, {{Preprocess, 0}});
    add("contours", catalogued("contours"), {{RedMaps, 0}});
    add("overlay", catalogued("overlay"), {{Preprocess, 0}, {Contours, 0}});
    add("other", catalogued("contours"), {{Origin::kSource, Origin::kMaps}});
  }
  void add(const char* name, const StageType& one, std::vector<Origin> inputs) {
    graph.nodes.push_back(
        {.name = name, .type = &one, .params = test::default_params(one), .inputs = std::move(inputs)});
  }
};

void fill_frame(FrameInput& input, unsigned seed) {
  for (int y = 0; y < input.frame.format.height; ++y)
    for (int x = 0; x < input.frame.format.width; ++x) {
      auto* const pixel = input.frame.row<std::uint8_t>(y) + 4 * x;
      for (int c = 0; c < 4; ++c)
        pixel[c] =
            static_cast<std::uint8_t>((static_cast<unsigned>(x * (3 + c) + y * 7) * (seed + 1) / 5) % 251);
      for (int plane = 0; plane < kClassesOfHost; ++plane)
        input.maps.row<float>(y, plane)[x] =
            static_cast<float>((static_cast<unsigned>(x + y * plane) * (seed + 3)) % 17) / 16;
    }
}

void append_bytes(std::vector<std::byte>& all, const void* data, std::size_t bytes) {
  const auto* const first = static_cast<const std::byte*>(data);
  all.insert(all.end(), first, first + bytes);
}

std::vector<std::byte> bytes_of_value(const Value& value) {
  std::vector<std::byte> all;
  if (const auto* image = std::get_if<ImageView>(&value))
    for (int plane = 0; plane < image->format.planes(); ++plane)
      for (int y = 0; y < image->format.height; ++y)
        append_bytes(all, image->row<std::byte>(y, plane), image->format.row_bytes());
  if (const auto* contours = std::get_if<ContoursView>(&value)) {
    append_bytes(all, contours->counts, sizeof(ContourCounts));
    append_bytes(all, contours->offsets, (contours->counts->contours + 1) * 4);
    append_bytes(all, contours->points, contours->counts->points * sizeof(Point));
  }
  return all;
}

/// The values of all nodes but the first, whose output nobody takes, for three frames.
std::vector<std::byte> planned_bytes(const HostGraph& host, Backend backend, std::size_t last_band) {
  Capacities capacities(host.graph.nodes.size());
  PlanEnvironment environment{.graph = &host.graph,
                              .backend = backend,
                              .capacities = &capacities,
                              .sharing = MemorySharing::Filled,
                              .last_band = last_band};
  for (int node = 0; node < static_cast<int>(host.graph.nodes.size()); ++node)
    environment.exports.push_back({node, 0});
  PlannedGraph graph(environment);
  graph.plan(host.stream);
  std::vector<std::byte> all;
  for (unsigned seed = 0; seed < 3; ++seed) {
    fill_frame(graph.input(), seed);
    graph.input().info.number = seed;
    do {
      graph.launch();
      graph.wait();
    } while (graph.overflowed());
    for (const Origin& origin : environment.exports) {
      const auto bytes = bytes_of_value(graph.value(origin));
      append_bytes(all, bytes.data(), bytes.size());
    }
  }
  return all;
}

struct Frames final : Source {
  StreamFormat stream;
  int count, next = 0;
  std::vector<int> refused;
  Frames(StreamFormat format, int frames, std::vector<int> bad = {})
      : stream(std::move(format)), count(frames), refused(std::move(bad)) {}
  const StreamFormat& format() const override { return stream; }
  ReadResult read(FrameInput& input) override {
    if (next == count) return ReadResult::End;
    fill_frame(input, static_cast<unsigned>(next));
    if (std::ranges::find(refused, next++) != refused.end()) *input.frame.row<std::uint8_t>(0) = kRefused;
    return ReadResult::Frame;
  }
  void cancel() override {}
};

struct Collected final : Sink {
  std::vector<std::vector<std::byte>> results;
  void open(const SinkContext&) override {}
  void write(const FrameInfo&, const Value& value) override { results.push_back(bytes_of_value(value)); }
  void finish() override {}
};

}  // namespace

TEST_CASE("stages from which a stage on the host has what it takes run on the host, too, and no others") {
  const HostGraph host(8, 8);
  CHECK(host_nodes(host.graph) == std::vector<bool>{true, true, false, false, false});
  GraphSpec alone = host.graph;
  alone.nodes.resize(2);
  CHECK(host_nodes(alone) == std::vector<bool>{true, true});
  // Nothing of that graph would run on a device.
  CHECK(choose_backend(Backend::Auto, alone).backend == Backend::Cpu);
  CHECK_THROWS_AS(choose_backend(Backend::Cuda, alone), Error);
  if (test::skipped_without_device("a graph with a stage on the host chooses CUDA")) return;
  CHECK(choose_backend(Backend::Auto, host.graph).backend == Backend::Cuda);
  CHECK(choose_backend(Backend::Auto, alone).reason == "all stages of the graph run on the host");
}

TEST_CASE(
    "what a stage on the host makes has equal bits on every backend, in bands and whole, and run again") {
  if (backends().size() == 1) std::puts("skipped: stages on the host of CUDA (no device here)");
  for (const auto& [width, height] : {std::pair{1, 1}, {17, 5}, {131, 67}, {700, 411}}) {
    const HostGraph host(width, height);
    const std::vector<std::byte> reference = planned_bytes(host, Backend::Cpu, kLastBandBytes);
    for (const Backend backend : backends())
      for (const std::size_t last_band : {kLastBandBytes, std::size_t{800}}) {
        INFO("backend ", std::string(name_of(backend)), ", ", width, "x", height, ", last band ", last_band);
        CHECK(planned_bytes(host, backend, last_band) == reference);
      }
  }
}

TEST_CASE(
    "a frame that a stage on the host refuses has failed, and the others come in order with equal bits") {
  for (const bool with_state : {false, true}) {
    std::vector<std::vector<std::byte>> reference;
    for (const Backend backend : backends())
      for (const int slots : {1, 2, 5}) {
        HostGraph host(90, 41);
        if (with_state) host.add("background", catalogued("background"), {{Origin::kSource, Origin::kFrame}});
        host.graph.settings.slots = slots;
        const int taken = with_state ? 5 : HostGraph::Contours;
        Frames source(host.stream, 20, {0, 7, 8, 19});
        Collected maps, last;
        Runner runner(host.graph, source,
                      {{.name = "maps", .sink = &maps, .input = {HostGraph::RedMaps, 0}},
                       {.name = "last", .sink = &last, .input = {taken, 0}}},
                      {.backend = backend});
        const RunReport report = runner.run();
        INFO("backend ", std::string(name_of(backend)), ", slots ", slots, ", state ", with_state);
        CHECK(report.frames.failed == 4);
        REQUIRE(maps.results.size() == 16);
        maps.results.insert(maps.results.end(), last.results.begin(), last.results.end());
        if (reference.empty()) reference = maps.results;
        CHECK(maps.results == reference);
      }
  }
}

TEST_CASE("the time of a stage on the host is its own, among the parts of a frame") {
  for (const Backend backend : backends()) {
    HostGraph host(90, 41, 4);
    Capacities capacities(host.graph.nodes.size());
    PlannedGraph graph({.graph = &host.graph,
                        .backend = backend,
                        .capacities = &capacities,
                        .exports = {{HostGraph::Contours, 0}}});
    graph.plan(host.stream);
    fill_frame(graph.input(), 1);
    do {
      graph.launch();
      graph.wait();
    } while (graph.overflowed());
    const PartTimes* const times = graph.times();
    REQUIRE(times != nullptr);
    INFO("backend ", std::string(name_of(backend)));
    CHECK(times->start_ns <= times->uploaded_ns);
    std::int64_t before = times->uploaded_ns;
    for (const std::int64_t end : times->part_ns) {
      CHECK(end >= before);
      before = end;
    }
    CHECK(times->part_ns[HostGraph::RedMaps] - times->part_ns[HostGraph::Preprocess] >= 4'000'000);
    CHECK(times->downloaded_ns >= before);
  }
}
