// Stages that run on the host of a graph on a device, which the host plays (played_device.h): the same graphs
// as on the CPU give the same bytes, whatever fails, is run again or carries a state.
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
#include "tests/pipeline/played_device.h"

using namespace contorno;

namespace {

constexpr std::uint8_t kBad = 253;  // the first byte of a frame that the stage on the host refuses

enum class Kind : std::uint8_t { Invert, Maps, Sum, Count };

/// Four small stages, each once: as a function of what it sees, which a played device calls when the work is
/// launched.
struct Small final : Stage {
  Kind kind;
  bool on_device;
  int sleep_ms;
  State seen{};
  Scratch row{};

  Small(Kind which, bool device, int sleep) : kind(which), on_device(device), sleep_ms(sleep) {}

  void plan(PlanContext& context) override {
    ImageFormat out = context.image(0);
    if (kind == Kind::Maps) {
      out.channels = 2, out.type = ElementType::F32, out.layout = Layout::Planar;
      row = context.temporary(out.row_bytes(), MemoryKind::Host);
    }
    if (kind == Kind::Count) seen = context.state(sizeof(std::uint64_t));
    context.set_output(0, out);
  }

  void run(const RunContext& context) const override {
    const auto work = [this, at = &context] { compute(*at); };
    if (on_device)
      test::enqueue_on_device(work);
    else
      work();
  }

  void compute(const RunContext& context) const {
    const ImageView &in = context.image_in(0), &out = context.image_out(0);
    if (kind == Kind::Maps && *in.row<std::uint8_t>(0) == 255 - kBad)
      throw Error(ExitCode::BadData, "refused");
    if (sleep_ms > 0) std::this_thread::sleep_for(std::chrono::milliseconds(sleep_ms));
    std::uint64_t frames = 0;
    if (kind == Kind::Count) {
      frames = *context.state_before<std::uint64_t>(seen) + *in.row<std::uint8_t>(0);
      *context.state_after<std::uint64_t>(seen) = frames;
    }
    for (int plane = 0; plane < out.format.planes(); ++plane)
      for (int y = 0; y < out.format.height; ++y)
        for (std::size_t i = 0; i < out.format.samples_per_row(); ++i) {
          switch (kind) {
            case Kind::Invert:
              out.row<std::uint8_t>(y)[i] = static_cast<std::uint8_t>(255 - in.row<std::uint8_t>(y)[i]);
              break;
            case Kind::Maps:
              context.scratch<float>(row)[i] =
                  static_cast<float>(in.row<std::uint8_t>(y)[i * 3 + static_cast<unsigned>(plane)]);
              out.row<float>(y, plane)[i] = context.scratch<float>(row)[i] / 255;
              break;
            case Kind::Sum:
              out.row<float>(y, plane)[i] =
                  in.row<float>(y, plane)[i] + context.image_in(1).row<float>(y, plane)[i];
              break;
            case Kind::Count:
              out.row<std::uint8_t>(y)[i] = static_cast<std::uint8_t>(in.row<std::uint8_t>(y)[i] + frames);
              break;
          }
        }
  }
};

StageType type_of(const char* name, Kind kind, int sleep_ms = 0) {
  struct None {};
  StageType type{.name = name,
                 .summary = "Small.",
                 .outputs = {{"image", PortType::Image, "It."}},
                 .params = declare(ParamList<None>())};
  for (int port = 0; port < (kind == Kind::Sum ? 2 : 1); ++port)
    type.inputs.push_back({"in" + std::to_string(port), PortType::Image, "It.", From::FrameOrMaps});
  type.make_cpu = [=](const ParamSet&) { return std::make_unique<Small>(kind, false, sleep_ms); };
  if (kind == Kind::Maps)
    type.on_host = true;
  else
    type.make_cuda = [=](const ParamSet&) { return std::make_unique<Small>(kind, true, 0); };
  return type;
}

/// invert -> maps (on the host, and so is invert) -> sum with the source's maps; count of what invert makes.
struct Four {
  enum Node : int { Invert, Maps, Sum, Count };
  StageType types[4];
  GraphSpec graph;
  StreamFormat stream;

  explicit Four(int sleep_ms = 0)
      : types{type_of("invert", Kind::Invert), type_of("maps", Kind::Maps, sleep_ms),
              type_of("sum", Kind::Sum), type_of("count", Kind::Count)} {
    stream = {
        .frame = ImageFormat{.width = 37, .height = 21, .channels = 3},
        .maps =
            ImageFormat{
                .width = 37, .height = 21, .channels = 2, .type = ElementType::F32, .layout = Layout::Planar},
        .description = "four"};
    add({{Origin::kSource, Origin::kFrame}});
    add({{Invert, 0}});
    add({{Maps, 0}, {Origin::kSource, Origin::kMaps}});
    add({{Invert, 0}});
  }
  void add(std::vector<Origin> inputs) {
    const StageType& type = types[graph.nodes.size()];
    graph.nodes.push_back(
        {.name = type.name, .type = &type, .params = ParamSet(type.params), .inputs = std::move(inputs)});
  }
};

struct FourFrames final : Source {
  StreamFormat stream;
  int next = 0;
  explicit FourFrames(StreamFormat format) : stream(std::move(format)) {}
  const StreamFormat& format() const override { return stream; }
  ReadResult read(FrameInput& input) override {
    if (next == 20) return ReadResult::End;
    for (int y = 0; y < stream.frame->height; ++y)
      for (int x = 0; x < stream.frame->width; ++x) {
        for (int c = 0; c < 3; ++c)
          input.frame.row<std::uint8_t>(y)[3 * x + c] =
              static_cast<std::uint8_t>((x * 5 + y * 3 + c * 7 + next * 11) % 251);
        for (int plane = 0; plane < 2; ++plane)
          input.maps.row<float>(y, plane)[x] = static_cast<float>((x + y * plane + next) % 9);
      }
    if (next == 0 || next == 6 || next == 7 || next == 19) *input.frame.row<std::uint8_t>(0) = kBad;
    ++next;
    return ReadResult::Frame;
  }
  void cancel() override {}
};

struct Bytes final : Sink {
  std::vector<std::string> frames;
  void open(const SinkContext&) override {}
  void write(const FrameInfo& info, const Value& value) override {
    const auto& image = std::get<ImageView>(value);
    std::string all = std::to_string(info.number) + ":";
    for (int plane = 0; plane < image.format.planes(); ++plane)
      for (int y = 0; y < image.format.height; ++y)
        all.append(image.row<char>(y, plane), image.format.row_bytes());
    frames.push_back(std::move(all));
  }
  void finish() override {}
};

}  // namespace

TEST_CASE(
    "a stage on the host does not keep a graph from the device, and a graph of such stages alone stays on "
    "the CPU") {
  const Four four;
  CHECK(choose_backend(Backend::Auto, four.graph).backend == Backend::Cuda);
  CHECK(host_nodes(four.graph) == std::vector<bool>{true, true, false, false});
  GraphSpec alone = four.graph;
  alone.nodes.resize(2);
  CHECK(choose_backend(Backend::Auto, alone).reason == "all stages of the graph run on the host");
  CHECK_THROWS_WITH_AS(choose_backend(Backend::Cuda, alone),
                       "backend cuda was asked for, but all stages of the graph run on the host", Error);
}

TEST_CASE("a word that only the CPU knows keeps a graph from the device, and a host's stage may have it") {
  struct Ways {
    int way = 0;
  };
  ParamList<Ways> list;
  list.choice("way", &Ways::way, {{"short", 0}, {"long", 1}}, "Which one.");
  StageType type = type_of("walk", Kind::Invert);
  type.params = declare(std::move(list));
  type.only_on_cpu = {{.param = "way", .word = "long", .instead = "short"}};
  Four four;
  four.graph.nodes[Four::Count].type = &type;
  ParamSet& params = four.graph.nodes[Four::Count].params = ParamSet(type.params);
  CHECK(choose_backend(Backend::Cuda, four.graph).backend == Backend::Cuda);
  CHECK(make_stage(type, Backend::Cuda, params) != nullptr);
  params.set("way", std::string("long"));
  const std::string why =
      "the stage 'walk' has no CUDA implementation of way: long; take short, or backend: cpu";
  const BackendChoice choice = choose_backend(Backend::Auto, four.graph);
  CHECK(choice.backend == Backend::Cpu);
  CHECK(choice.reason == why);
  CHECK(make_stage(type, Backend::Cpu, params) != nullptr);
  CHECK_THROWS_WITH_AS(make_stage(type, Backend::Cuda, params), why.c_str(), Error);
  try {
    choose_backend(Backend::Cuda, four.graph);
    FAIL("it was not refused");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::BadConfig);
    CHECK(error.what() == "backend cuda was asked for, but " + why);
  }
  four.graph.nodes[Four::Count].where = "graph.yaml:3:5";  // as of a graph that was read from a file
  const std::string placed = why + " (graph.yaml:3:5)", refusal = "backend cuda was asked for, but " + placed;
  CHECK(choose_backend(Backend::Auto, four.graph).reason == placed);
  CHECK_THROWS_WITH_AS(choose_backend(Backend::Cuda, four.graph), refusal.c_str(), Error);
  // What the node of maps reads runs on the host.
  four.graph.nodes[Four::Invert].type = &type;
  four.graph.nodes[Four::Invert].params = params;
  params.set("way", std::string("short"));
  CHECK(choose_backend(Backend::Cuda, four.graph).backend == Backend::Cuda);
}

TEST_CASE(
    "graphs with a stage on the host give the bytes of the CPU, with frames that fail and a state, on any "
    "number of slots") {
  std::vector<std::string> reference;
  for (const Backend backend : {Backend::Cpu, Backend::Cuda})
    for (const int slots : {1, 2, 3, 7}) {
      Four four;
      four.graph.settings.slots = slots;
      FourFrames source(four.stream);
      std::vector<Bytes> sinks(4);
      std::vector<SinkBinding> bindings;
      for (int node = 0; node < 4; ++node)
        bindings.push_back({.name = std::to_string(node),
                            .sink = &sinks[static_cast<std::size_t>(node)],
                            .input = {node, 0}});
      Runner runner(four.graph, source, bindings, {.backend = backend});
      const RunReport report = runner.run();
      INFO("backend ", std::string(name_of(backend)), ", slots ", slots);
      CHECK(report.frames.failed == 4);
      CHECK(report.frames.delivered == 16);
      std::vector<std::string> all;
      for (const Bytes& sink : sinks) all.insert(all.end(), sink.frames.begin(), sink.frames.end());
      CHECK(all.size() == 64);
      if (reference.empty()) reference = all;
      CHECK(all == reference);
    }
}

TEST_CASE("what the host makes is uploaded once a frame, and what nothing on the device takes is not") {
  const Four four;
  Capacities capacities(4);
  PlannedGraph graph({.graph = &four.graph,
                      .backend = Backend::Cuda,
                      .capacities = &capacities,
                      .exports = {{Four::Sum, 0}}});
  graph.plan(four.stream);
  test::copied_bytes();
  graph.launch();
  graph.wait();
  // Of the source its maps, but not the frame, which the host alone reads; of the host's both; the sum comes
  // back.
  const std::size_t maps = packed_bytes(*four.stream.maps), frame = packed_bytes(*four.stream.frame);
  const std::size_t all = 3 * maps + frame, copied = test::copied_bytes();
  CHECK(copied <= all);
  CHECK(copied > all - 1024);  // but for what lies behind the last samples
}

TEST_CASE("a stage on the host has its own time among the parts of a frame on a device") {
  const Four four(3);
  Capacities capacities(4);
  PlannedGraph graph({.graph = &four.graph,
                      .backend = Backend::Cuda,
                      .capacities = &capacities,
                      .exports = {{Four::Sum, 0}}});
  graph.plan(four.stream);
  graph.launch();
  graph.wait();
  const PartTimes* const times = graph.times();
  REQUIRE(times != nullptr);
  CHECK(times->uploaded_ns >= times->start_ns);
  std::int64_t before = times->uploaded_ns;
  for (const std::int64_t end : times->part_ns) {
    CHECK(end >= before);
    before = end;
  }
  CHECK(times->part_ns[Four::Maps] - times->part_ns[Four::Invert] >= 3'000'000);
  CHECK(times->downloaded_ns >= before);
}

TEST_CASE(
    "a stage that knows of earlier frames cannot run on the host for another's sake, and says what is "
    "allowed") {
  Four four;
  four.graph.nodes[0].type = &four.types[Four::Count];
  Capacities capacities(4);
  PlannedGraph graph({.graph = &four.graph, .backend = Backend::Cuda, .capacities = &capacities});
  CHECK_THROWS_WITH_AS(graph.plan(four.stream), doctest::Contains("allowed is backend: cpu"), Error);
}
