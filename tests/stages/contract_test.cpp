// What every stage of the catalogue promises, on every backend that this machine has: equal bits for any
// number of threads and on both backends, inputs unchanged, no allocation while it runs, odd sizes,
// parameters at the ends of their ranges. A new stage or backend is covered by being in the list.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <thread>

#include "base/error.h"
#include "config/load.h"
#include "cuda/device.h"
#include "pipeline/graph/device_thread.h"
#include "pipeline/run/runner.h"
#include "stages/catalog.h"
#include "stages/shared/sample_value.h"
#include "tests/allocation_counter.h"
#include "tests/device_skip.h"
#include "tests/stages/default_params.h"

using namespace contorno;
using contorno::test::backends;

namespace {

constexpr int kClasses = 3;

const StageType& stage_named(const char* name) {
  for (const StageType* type : stage_catalog())
    if (type->name == name) return *type;
  throw InternalError("no such stage");
}

ClassSpec make_class(const char* name, double level, Colour colour, Colour reference) {
  ClassSpec one;
  one.name = name;
  one.level = level;
  one.colour = colour;
  one.fill = 0.3;
  one.references = {reference};
  return one;
}

/// What the maps look like. Mixed: smooth blobs and noise, some samples exactly at the level, some NaN where
/// the type has it. The others are hard for contours: as many of them as can be, a level that is a sample
/// everywhere, nothing but NaN, contours that all run from the first row to the last.
enum class Pattern : std::uint8_t { Mixed, Noise, Checkerboard, Level, Nan, Stripes };

/// A graph around one stage: what it takes is made by the stages before it.
struct Bench {
  GraphSpec graph;
  StreamFormat stream;
  int node = 0;
  Pattern pattern = Pattern::Mixed;

  Bench(const StageType& type, int width, int height, ElementType maps_type = ElementType::F32,
        Layout maps_layout = Layout::Planar) {
    graph.classes = {make_class("one", 0.5, {255, 0, 0}, {200, 40, 40}),
                     make_class("two", 0.3, {0, 255, 0}, {40, 200, 40}),
                     make_class("three", 0.5, {0, 0, 255}, {40, 40, 200})};
    stream.frame = ImageFormat{.width = width, .height = height, .channels = 4};
    stream.maps = ImageFormat{
        .width = width, .height = height, .channels = kClasses, .type = maps_type, .layout = maps_layout};
    stream.description = "contract";
    node = add(type);
  }

  int add(const StageType& type) {
    if (const ParamSpec* list = list_of_steps(type)) return add_steps(list->step_types(), type);
    NodeSpec spec{.name = type.name, .type = &type, .params = test::default_params(type)};
    for (const PortSpec& port : type.inputs) spec.inputs.push_back(origin_of(port));
    graph.nodes.push_back(std::move(spec));
    return static_cast<int>(graph.nodes.size()) - 1;
  }
  /// All steps one after the other, each with what it takes beside the contours of the one before.
  int add_steps(const StepTypes& steps, const StageType& whole) {
    Origin before = origin_of(whole.inputs[0]);
    for (const StageType* step : steps) {
      NodeSpec spec{.name = step->name, .type = step, .params = ParamSet(step->params), .inputs = {before}};
      for (std::size_t port = 1; port < step->inputs.size(); ++port)
        spec.inputs.push_back(origin_of(step->inputs[port]));
      graph.nodes.push_back(std::move(spec));
      before.node = static_cast<int>(graph.nodes.size()) - 1;
    }
    return before.node;
  }
  Origin origin_of(const PortSpec& port) {
    switch (port.type) {
      case PortType::Image:
        return {Origin::kSource, port.from == From::MapsOrFrame ? 1 : 0};
      case PortType::Contours:
        return {add(stage_named("contours")), 0};
    }
    throw InternalError("unknown port type");
  }
};

/// The binary16 nearest to `value`, which is 0 or between 2^-14 and 2.
Half half_of(double value) {
  if (value == 0) return {0};
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);  // in [0.5, 1)
  const int steps = static_cast<int>(std::lround((fraction * 2 - 1) * 1024));
  return {static_cast<std::uint16_t>(((exponent + 14) << 10) + steps)};
}

void put(const ImageView& maps, int plane, int y, int x, double value) {
  switch (maps.format.type) {
    case ElementType::U8:
      maps.row<std::uint8_t>(y, plane)[x] = static_cast<std::uint8_t>(std::isnan(value) ? 0 : value * 255);
      return;
    case ElementType::U16:
      maps.row<std::uint16_t>(y, plane)[x] =
          static_cast<std::uint16_t>(std::isnan(value) ? 0 : value * 65535);
      return;
    case ElementType::F16:
      maps.row<Half>(y, plane)[x] = std::isnan(value) ? Half{0x7e00} : half_of(value < 1e-4 ? 0 : value);
      return;
    case ElementType::F32:
      maps.row<float>(y, plane)[x] = static_cast<float>(value);
      return;
    case ElementType::F64:
      break;
  }
  throw InternalError("maps are never float64");
}

void fill(FrameInput& input, unsigned seed, Pattern pattern) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> bytes(0, 255);
  const ImageView& frame = input.frame;
  for (int y = 0; y < frame.format.height; ++y)
    for (int x = 0; x < frame.format.width * 4; ++x)
      frame.row<std::uint8_t>(y)[x] = static_cast<std::uint8_t>((x * 3 + y * 5 + bytes(random) / 4) & 255);
  const ImageView& maps = input.maps;
  const auto samples = static_cast<int>(maps.format.samples_per_row());
  for (int plane = 0; plane < maps.format.planes(); ++plane)
    for (int y = 0; y < maps.format.height; ++y)
      for (int x = 0; x < samples; ++x) {
        const double smooth = 0.5 + 0.4 * std::sin(0.31 * x + plane) * std::cos(0.23 * y - plane);
        const int pick = bytes(random);
        double value = pick == 255 ? std::nan("")
                       : pick < 8  ? 0.5
                       : pick < 40 ? bytes(random) / 255.0
                                   : smooth;
        if (pattern == Pattern::Noise) value = pick / 255.0;
        if (pattern == Pattern::Checkerboard) value = (x + y) % 2;
        if (pattern == Pattern::Level) value = pick < 128 ? 0.5 : pick < 200 ? 0.3 : 0.75;
        if (pattern == Pattern::Nan) value = std::nan("");
        if (pattern == Pattern::Stripes) value = x % 2;
        put(maps, plane, y, x, value);
      }
}

void append(std::vector<std::byte>& all, const void* data, std::size_t bytes) {
  const auto* first = static_cast<const std::byte*>(data);
  all.insert(all.end(), first, first + bytes);
}

/// Everything a value says, and nothing of the memory that it does not use.
std::vector<std::byte> bits_of(const Value& value) {
  std::vector<std::byte> all;
  if (const auto* image = std::get_if<ImageView>(&value)) {
    for (int plane = 0; plane < image->format.planes(); ++plane)
      for (int y = 0; y < image->format.height; ++y)
        append(all, image->row<std::byte>(y, plane), image->format.row_bytes());
  }
  if (const auto* contours = std::get_if<ContoursView>(&value)) {
    const std::uint64_t count = contours->counts->contours;
    append(all, contours->counts, sizeof(ContourCounts));
    append(all, contours->class_begin, (static_cast<std::size_t>(contours->format.classes) + 1) * 4);
    append(all, contours->offsets, (count + 1) * 4);
    append(all, contours->closed, count);
    append(all, contours->points, contours->counts->points * sizeof(Point));
    contours->format.attributes.for_each(
        [&](Attribute one) { append(all, contours->column(one), count * sizeof(double)); });
  }
  return all;
}

struct Result {
  std::vector<std::byte> bits;
  std::uint64_t allocations = 0;
  bool inputs_unchanged = true;
};

void run_to_the_end(PlannedGraph& graph) {
  graph.launch();
  graph.wait();
  while (graph.overflowed()) {
    graph.launch();
    graph.wait();
  }
}

/// Uploads are cut into bands that end with one of about `last_band` bytes.
Result run(const Bench& bench, Backend backend, int threads, unsigned seed, MemorySharing sharing,
           std::size_t last_band = kLastBandBytes) {
  Capacities capacities(bench.graph.nodes.size());
  PlanEnvironment environment{.graph = &bench.graph,
                              .backend = backend,
                              .probe_every = kNoFrame,
                              .threads = threads,
                              .capacities = &capacities,
                              .sharing = sharing,
                              .last_band = last_band};
  const StageType& type = *bench.graph.nodes[static_cast<std::size_t>(bench.node)].type;
  for (std::size_t port = 0; port < type.outputs.size(); ++port)
    environment.exports.push_back({bench.node, static_cast<int>(port)});
  PlannedGraph graph(environment);
  graph.plan(bench.stream);
  fill(graph.input(), seed, bench.pattern);
  const auto frame_before = bits_of(graph.input().frame);
  const auto maps_before = bits_of(graph.input().maps);
  run_to_the_end(graph);
  Result result;
  const std::uint64_t before = test::allocations();
  run_to_the_end(graph);
  result.allocations = test::allocations() - before;
  result.inputs_unchanged =
      bits_of(graph.input().frame) == frame_before && bits_of(graph.input().maps) == maps_before;
  for (const Origin& origin : environment.exports) {
    const auto bits = bits_of(graph.value(origin));
    append(result.bits, bits.data(), bits.size());
  }
  return result;
}

/// Against a run on the CPU in which no two blocks share memory; in the others what a stage has not written,
/// or what was read for the last time, is overwritten with a pattern.
void check_equal_bits(const Bench& bench, unsigned seed, int reference_threads = 1) {
  const Result reference = run(bench, Backend::Cpu, reference_threads, seed, MemorySharing::Apart);
  CHECK(reference.inputs_unchanged);
  const auto check = [&](Backend backend, int threads, std::size_t last_band) {
    const Result result = run(bench, backend, threads, seed, MemorySharing::Filled, last_band);
    INFO("backend ", std::string(name_of(backend)), ", threads ", threads, ", last band ", last_band);
    CHECK(result.inputs_unchanged);
    CHECK(result.allocations == 0);
    CHECK(result.bits.size() == reference.bits.size());
    CHECK(result.bits == reference.bits);
  };
  for (const Backend backend : backends()) {
    if (backend == Backend::Cuda)
      for (const std::size_t last_band : {kLastBandBytes, std::size_t{800}}) check(backend, 1, last_band);
    else if (reference_threads == 1)
      for (const int threads : {1, 2, 3}) check(backend, threads, kLastBandBytes);
  }
}

}  // namespace

TEST_CASE("every input that is an image says what it takes, and every other comes from a stage") {
  for (const StageType* type : stage_catalog()) {
    INFO(type->name);
    for (const PortSpec& port : type->inputs)
      CHECK((port.from == From::Stage) == (port.type != PortType::Image));
    for (const PortSpec& port : type->outputs) CHECK(port.from == From::Stage);
  }
}

TEST_CASE("every stage gives equal bits for any number of threads on every backend, without allocating") {
  if (backends().size() == 1) std::puts("skipped: contract on CUDA (no device here)");
  std::vector<std::pair<int, int>> sizes{{2, 2}, {17, 5}, {67, 31}};
  // Tools that watch every access of every kernel are a thousand times slower.
  if (std::getenv("CONTORNO_TEST_SMALL") == nullptr)
    sizes = {{1, 1}, {2, 2}, {1, 40}, {40, 1}, {17, 5}, {64, 65}, {67, 131}, {300, 41}};
  for (const StageType* type : stage_catalog())
    for (const auto& [width, height] : sizes) {
      INFO("stage ", type->name, " on ", width, "x", height);
      check_equal_bits(Bench(*type, width, height), 11);
    }
}

TEST_CASE("every stage gives the bits of the first device on every other one") {
  if (test::skipped_without_devices("stages on a second device", 2)) return;
  const std::vector<DeviceInfo>& devices = device_report().devices;
  for (const StageType* type : stage_catalog()) {
    if (!why_not_on_device(Bench(*type, 67, 131).graph).empty()) continue;
    for (const ElementType number : {ElementType::F32, ElementType::U8}) {
      const Bench bench(*type, 67, 131, number);
      std::vector<std::byte> reference;
      for (const DeviceInfo& one : devices) {
        INFO("stage ", type->name, " on device ", one.index, ", maps ", std::string(name_of(number)));
        Result result;
        with_device({Backend::Cuda, "", one.index},
                    [&] { result = run(bench, Backend::Cuda, 1, 11, MemorySharing::Filled); });
        if (reference.empty()) reference = result.bits;
        CHECK(result.allocations == 0);
        CHECK_FALSE(result.bits.empty());
        CHECK(result.bits == reference);
      }
    }
  }
}

TEST_CASE("every stage takes maps of other number types and layouts") {
  for (const StageType* type : stage_catalog())
    for (const ElementType number : {ElementType::F32, ElementType::F16, ElementType::U8, ElementType::U16})
      for (const Layout layout : {Layout::Planar, Layout::Interleaved}) {
        INFO("stage ", type->name, ", maps ", std::string(name_of(number)), " ",
             std::string(name_of(layout)));
        check_equal_bits(Bench(*type, 67, 131, number, layout), 5);
      }
}

TEST_CASE("preprocess converts maps of every number type and layout with equal bits") {
  for (const ElementType number : {ElementType::F32, ElementType::F16, ElementType::U8})
    for (const Layout layout : {Layout::Planar, Layout::Interleaved})
      for (const char* output : {"same", "uint8", "float32"})
        for (const double width : {0.0, 45.0}) {
          INFO("maps ", std::string(name_of(number)), " ", std::string(name_of(layout)), ", output ", output,
               ", width ", width);
          Bench bench(stage_named("preprocess"), 67, 31, number, layout);
          NodeSpec& node = bench.graph.nodes[static_cast<std::size_t>(bench.node)];
          node.inputs[0] = {Origin::kSource, 1};
          node.params.set("output", std::string(output));
          if (width > 0) node.params.set("size", std::vector<double>{width, 20});
          check_equal_bits(bench, 3);
        }
}

TEST_CASE("maps that are hard for contours give equal bits, drawn as lines alone too") {
  for (const char* name : {"contours", "overlay"})
    for (const Pattern pattern : {Pattern::Noise, Pattern::Checkerboard, Pattern::Level, Pattern::Nan})
      for (const ElementType number : {ElementType::F32, ElementType::F16, ElementType::U8})
        for (const double filled : {0.0, 0.3}) {
          INFO("stage ", name, ", pattern ", static_cast<int>(pattern), ", maps ",
               std::string(name_of(number)), ", fill ", filled);
          Bench bench(stage_named(name), 131, 67, number);
          bench.pattern = pattern;
          for (ClassSpec& one : bench.graph.classes) one.fill = filled;
          check_equal_bits(bench, 8);
        }
}

TEST_CASE("contours that all run through all bands, and do not fit at first, go through every step") {
  for (const StageType* type : stage_catalog()) {
    if (type->outputs.empty() || type->outputs[0].type != PortType::Contours) continue;
    INFO("stage ", type->name);
    Bench bench(*type, 256, 256, ElementType::U8);
    const StageType& smooth = stage_named("smooth");
    bench.graph.nodes.push_back(
        {.name = "smooth", .type = &smooth, .params = ParamSet(smooth.params), .inputs = {{bench.node, 0}}});
    bench.node = static_cast<int>(bench.graph.nodes.size()) - 1;
    bench.pattern = Pattern::Stripes;
    check_equal_bits(bench, 3);
  }
}

TEST_CASE("contours go through several stages in a row with equal bits, whichever of them are taken") {
  Bench bench(stage_named("largest_first"), 131, 67);
  NodeSpec& first = bench.graph.nodes[static_cast<std::size_t>(bench.node)];
  first.params.set("by", std::string("points"));
  first.params.set("limit", std::int64_t{9});
  const int first_node = bench.node;
  for (const auto& [by, limit] : {std::pair{"length", 5}, {"area", 2}}) {
    const StageType& type = stage_named("largest_first");
    NodeSpec node{.name = by, .type = &type, .params = ParamSet(type.params), .inputs = {{bench.node, 0}}};
    node.params.set("by", std::string(by));
    node.params.set("limit", std::int64_t{limit});
    bench.graph.nodes.push_back(std::move(node));
    bench.node = static_cast<int>(bench.graph.nodes.size()) - 1;
    check_equal_bits(bench, 4);
  }
  const StageType& overlay = stage_named("overlay");
  bench.graph.nodes.push_back({.name = "overlay",
                               .type = &overlay,
                               .params = ParamSet(overlay.params),
                               .inputs = {{Origin::kSource, 0}, {bench.node, 0}}});
  bench.node = static_cast<int>(bench.graph.nodes.size()) - 1;
  check_equal_bits(bench, 4);
  bench.node = first_node;
  check_equal_bits(bench, 4);
}

TEST_CASE(
    "of contours that nobody takes on the host their number comes back, and nothing else from a device") {
  const StageType& type = stage_named("largest_first");
  Bench bench(type, 131, 67);
  std::vector<std::uint64_t> numbers;
  for (const Backend backend : backends()) {
    INFO("backend ", std::string(name_of(backend)));
    Capacities capacities(bench.graph.nodes.size());
    PlannedGraph graph({.graph = &bench.graph,
                        .backend = backend,
                        .capacities = &capacities,
                        .exports = {},
                        .counted = {bench.node, 0}});
    graph.plan(bench.stream);
    fill(graph.input(), 4, bench.pattern);
    run_to_the_end(graph);
    const auto& contours = std::get<ContoursView>(graph.value({bench.node, 0}));
    if (backend == Backend::Cuda) CHECK(contours.points == nullptr);
    std::vector<std::uint64_t> all{contours.counts->points, contours.counts->contours};
    for (std::size_t k = 0; k <= kClasses; ++k) {
      all.push_back(contours.class_begin[k]);
      all.push_back(contours.points_before(k));
    }
    CHECK(all[1] > 0);
    if (backend == Backend::Cpu) numbers = all;
    CHECK(all == numbers);
  }
}

TEST_CASE("stages give equal bits up to the largest frames") {
  // A minute a stage on a CPU, so only where it was asked for, by a stage's name; "names" lists them
  // (tests/gpu/run).
  const char* const wanted = std::getenv("CONTORNO_TEST_LARGE");
  if (wanted == nullptr || backends().size() == 1) {
    std::puts("skipped: contract on 8192x8192 (needs a device and CONTORNO_TEST_LARGE)");
    return;
  }
  if (std::string_view(wanted) == "names") {
    for (const StageType* type : stage_catalog()) std::printf("stage: %s\n", type->name.c_str());
    return;
  }
  const int threads = static_cast<int>(std::thread::hardware_concurrency());
  const StageType* const type = &stage_named(wanted);
  for (const auto& [width, height] : {std::pair{8192, 8192}, {8191, 3}, {3, 8192}}) {
    INFO("stage ", type->name, " on ", width, "x", height);
    try {
      check_equal_bits(Bench(*type, width, height), 2, threads);
    } catch (const Error& error) {  // a stage may have a largest frame, and then says which
      CHECK(error.code() == ExitCode::BadConfig);
      CHECK(std::string(error.what()).find("allowed up to") != std::string::npos);
    }
  }
}

TEST_CASE("any number of slots gives the same results in the same order") {
  struct Frames final : Source {
    StreamFormat stream;
    int left = 12;
    explicit Frames(StreamFormat format) : stream(std::move(format)) {}
    const StreamFormat& format() const override { return stream; }
    ReadResult read(FrameInput& input) override {
      if (left-- == 0) return ReadResult::End;
      fill(input, static_cast<unsigned>(left), Pattern::Mixed);
      return ReadResult::Frame;
    }
    void cancel() override {}
  };
  struct Collect final : Sink {
    std::vector<std::vector<std::byte>> results;
    void open(const SinkContext&) override {}
    void write(const FrameInfo&, const Value& value) override { results.push_back(bits_of(value)); }
    void finish() override {}
  };
  for (const char* name : {"contours", "background", "overlay"}) {
    std::vector<std::vector<std::byte>> reference;
    for (const Backend backend : backends())
      for (const int slots : {1, 2, 5, 16}) {
        Bench bench(stage_named(name), 90, 41);
        bench.graph.settings.slots = slots;
        Frames source(bench.stream);
        Collect sink;
        Runner runner(bench.graph, source, {{.name = "collect", .sink = &sink, .input = {bench.node, 0}}},
                      {.backend = backend});
        runner.run();
        if (reference.empty()) reference = sink.results;
        INFO("stage ", name, ", backend ", std::string(name_of(backend)), ", slots ", slots);
        REQUIRE(sink.results.size() == 12);
        CHECK(sink.results == reference);
      }
  }
}

TEST_CASE("every stage runs, or refuses with a sentence, at both ends of every parameter") {
  for (const StageType* type : stage_catalog())
    for (const ParamSpec& spec : type->params.specs) {
      std::vector<ParamValue> corners;
      for (const double end : {spec.minimum, spec.maximum}) {
        if (!std::isfinite(end)) continue;
        if (spec.kind == ParamKind::Integer) corners.emplace_back(static_cast<std::int64_t>(end));
        if (spec.kind == ParamKind::Number) corners.emplace_back(end);
      }
      for (const std::string& word : spec.choices) corners.emplace_back(word);
      if (spec.kind == ParamKind::Flag) corners = {true, false};
      for (const ParamValue& corner : corners) {
        INFO("stage ", type->name, ", ", spec.name, " = ", to_text(corner));
        Bench bench(*type, 67, 31);
        bench.graph.nodes[static_cast<std::size_t>(bench.node)].params.set(spec.name, corner);
        try {
          check_equal_bits(bench, 3);
        } catch (const Error& error) {
          CHECK(error.code() == ExitCode::BadConfig);
          CHECK(std::strlen(error.what()) > 20);
        }
      }
    }
}

TEST_CASE("values just outside a range are refused, and the message says what is allowed") {
  for (const StageType* type : stage_catalog())
    for (const ParamSpec& spec : type->params.specs) {
      if (spec.kind != ParamKind::Integer && spec.kind != ParamKind::Number) continue;
      ParamSet params(type->params);
      for (const double outside : {spec.minimum - 1, spec.maximum + 1}) {
        if (!std::isfinite(outside)) continue;
        const ParamValue value = spec.kind == ParamKind::Integer
                                     ? ParamValue(static_cast<std::int64_t>(outside))
                                     : ParamValue(outside);
        CHECK_THROWS_AS(params.set(spec.name, value), Error);
      }
      if (spec.kind == ParamKind::Number) CHECK_THROWS_AS(params.set(spec.name, std::nan("")), Error);
    }
}

TEST_CASE("the example of every stage loads as it is printed, and runs") {
  const auto none = [](const ParamSet&) -> std::unique_ptr<Source> { return nullptr; };
  struct None {};
  const SourceType source{.name = "none", .params = declare(ParamList<None>()), .make = none};
  const Catalog catalog{.stages = stage_catalog(), .sources = {&source}};
  for (const StageType* type : stage_catalog()) {
    INFO("stage ", type->name);
    std::string text = "source: {type: none}\nclasses: [{name: a}, {name: b}, {name: c}]\nstages:\n";
    // What the stage takes comes from the stages before it.
    for (const PortSpec& port : type->inputs)
      if (port.type == PortType::Contours)
        text += "  - type: marching_squares\n  - type: contour_assembly\n    name: before\n";
    std::string example = "  ";
    for (std::size_t at = 0; at < type->example.size(); ++at) {
      example += type->example[at];
      if (type->example[at] == '\n' && at + 1 < type->example.size()) example += "  ";
    }
    Bench bench(*type, 67, 41);
    GraphSpec graph = config::load_graph_text(text + example, "example.yaml", catalog);
    config::bind_source(graph, bench.stream);
    graph.classes = bench.graph.classes;
    bench.graph = std::move(graph);
    bench.node = static_cast<int>(bench.graph.nodes.size()) - 1;
    CHECK(run(bench, Backend::Cpu, 1, 1, MemorySharing::Shared).inputs_unchanged);
  }
}

TEST_CASE("every declaration is complete: names, sentences, ports, an example") {
  for (const StageType* type : stage_catalog()) {
    INFO("stage ", type->name);
    const auto sentence = [](const std::string& text) { return text.size() > 10 && text.back() == '.'; };
    const auto name = [](const std::string& text) {
      return !text.empty() &&
             text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
    };
    CHECK(name(type->name));
    CHECK(sentence(type->summary));
    CHECK(type->example.find("type: " + type->name) != std::string::npos);
    CHECK_FALSE(type->outputs.empty());  // some stages take nothing
    CHECK(runs_on(*type, Backend::Cpu));
    for (const auto& ports : {type->inputs, type->outputs})
      for (const PortSpec& port : ports) {
        CHECK(name(port.name));
        CHECK(sentence(port.sentence));
      }
    for (const ParamSpec& spec : type->params.specs) {
      INFO("parameter ", spec.name);
      CHECK(name(spec.name));
      CHECK(sentence(spec.sentence));
    }
    for (const OnlyOnCpu& one : type->only_on_cpu) {
      ParamSet params(type->params);
      CHECK(why_not_on(Backend::Cpu, *type, params).empty());
      params.set(one.param, one.word);  // throws where there is no such parameter or word
      CHECK(why_not_on(Backend::Cpu, *type, params).empty());
      CHECK_FALSE(why_not_on(Backend::Cuda, *type, params).empty());
    }
  }
}
