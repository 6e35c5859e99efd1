// Stages that run on the host of a graph on a device, which the host plays (played_device.h): the same graphs
// as on the CPU give the same bytes, whatever fails, is run again or carries a state.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "pipeline/run/runner.h"
#include "tests/pipeline/played_device.h"
#include "tests/pipeline/played_graph.h"

using namespace contorno;
using namespace contorno::test;

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
  copied_bytes();
  graph.launch();
  graph.wait();
  // Of the source its maps, but not the frame, which the host alone reads; of the host's both; the sum comes
  // back.
  const std::size_t maps = packed_bytes(*four.stream.maps), frame = packed_bytes(*four.stream.frame);
  const std::size_t all = 3 * maps + frame, copied = copied_bytes();
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
