// What a run does when memory ends: every operator new of a small run fails once, each in a run of its own.
#include <doctest/doctest.h>

#include <functional>
#include <new>

#include "base/error.h"
#include "config/load.h"
#include "pipeline/run/runner.h"
#include "plugins/files/arrays/npy.h"
#include "plugins/files/contours/writer.h"
#include "plugins/files/dataset/source.h"
#include "stages/catalog.h"
#include "tests/allocation_counter.h"
#include "tests/file_content.h"
#include "tests/temporary_folder.h"

using namespace contorno;
namespace fs = std::filesystem;

namespace {

constexpr const char* kGraph = R"(
pipeline: {slots: 2, backend: cpu}
source: {type: dataset, location: maps, layout: hwc}
classes:
  - {name: a, level: 0.5}
  - {name: b, level: 0.25}
stages:
  - type: morphology
    from: source.maps
  - type: marching_squares
  - type: contour_assembly
sinks:
  - {type: jsonl, path: out.jsonl}
  - {type: geojson, path: out.geojson}
  - {type: coco, path: out.json}
  - {type: svg, path: "{frame}.svg"}
)";

const Catalog& small_catalog() {
  static const SourceType dataset = dataset_source({});
  static const Catalog catalog{
      .stages = stage_catalog(),
      .sources = {&dataset},
      .sinks = {&contour_jsonl_sink(), &contour_geojson_sink(), &contour_coco_sink(), &contour_svg_sink()}};
  return catalog;
}

/// A sequence of three frames in one file: to read a folder, libstdc++ needs memory where it may not throw.
void write_maps(const fs::path& path) {
  std::vector<float> samples;
  for (int i = 0; i < 3 * 12 * 16 * 2; ++i) samples.push_back(static_cast<float>((i * i) % 11) * 0.1F);
  write_npy(path, ElementType::F32, std::vector<std::uint64_t>{3, 12, 16, 2}, samples.data());
}

RunReport run_graph(const fs::path& folder, int threads) {
  config::LoadOptions options;
  options.overrides = {"pipeline.threads=" + std::to_string(threads)};
  options.input = (folder / "maps.npy").string();
  GraphSpec graph = config::load_graph_text(kGraph, "graph.yaml", small_catalog(), options);
  const std::unique_ptr<Source> source = graph.source.type->make(graph.source.params);
  config::bind_source(graph, source->format());
  std::vector<std::unique_ptr<Sink>> sinks;
  std::vector<SinkBinding> bindings;
  for (const SinkSpec& spec : graph.sinks) {
    sinks.push_back(spec.type->make(spec.params));
    bindings.push_back(bind_sink(spec, *sinks.back()));
  }
  Runner runner(graph, *source, bindings,
                {.backend = Backend::Cpu, .output_root = (folder / "out").string()});
  return runner.run();
}

/// What a run may say when an allocation failed in it; empty when it may say that.
std::string complaint(const fs::path& folder, int threads, const std::string& expected) {
  try {
    const RunReport report = run_graph(folder, threads);
    if (report.frames.offered != report.frames.delivered + report.frames.failed + report.frames.dropped())
      return "the counts do not add up";
    bool told = report.frames.failed > 0;
    for (const SinkOutcome& sink : report.sinks) {
      told = told || !sink.error.empty();
      if (!sink.error.empty() && sink.code != ExitCode::OutOfMemory) return "a sink says " + sink.error;
    }
    // What could be done without the memory is done in full.
    return told || content(folder / "out" / "out.jsonl") == expected ? "" : "the output is not whole";
  } catch (const std::bad_alloc&) {
    return "";
  } catch (const Error& error) {
    return error.code() == ExitCode::OutOfMemory ? "" : error.what();
  }
}

}  // namespace

TEST_CASE(
    "whichever allocation of a run fails, it ends in a sentence or puts a frame aside, and leaks nothing") {
  if (test::allocations() == 0) return;  // a sanitizer has its own operator new
  const TemporaryFolder folder;
  write_maps(folder.path() / "maps.npy");
  fs::create_directories(folder.path() / "out");
  const RunReport whole = run_graph(folder.path(), 1);
  REQUIRE(whole.frames.delivered == 3);
  const std::string expected = content(folder.path() / "out" / "out.jsonl");
  REQUIRE(expected.size() > 1000);
  // Every one, and a sample of them with threads inside the stages.
  for (const auto& [threads, step] : {std::pair{1, 1}, {2, 9}}) {
    std::uint64_t number = 1;
    for (bool came = true; came; number += static_cast<std::uint64_t>(step)) {
      std::string wrong;
      const std::int64_t before = test::live_allocations();
      {
        const test::FailingAllocation failing(number);
        wrong = complaint(folder.path(), threads, expected);
        came = failing.came();
      }
      const std::int64_t leaked = test::live_allocations() - before - (wrong.capacity() > 15 ? 1 : 0);
      CAPTURE(threads);
      CHECK_MESSAGE(wrong.empty(), "allocation ", number, ": ", wrong);
      CHECK_MESSAGE(leaked == 0, "allocation ", number, " leaves ", leaked);
      REQUIRE(number < 100'000);
    }
    CHECK(number > 500);
  }
}
