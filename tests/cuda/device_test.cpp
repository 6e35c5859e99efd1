#include "cuda/device.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <string>

#include "base/error.h"
#include "base/memory.h"
#include "pipeline/run/runner.h"
#include "tests/file_content.h"
#include "tests/pipeline/fakes.h"

using namespace contorno;

namespace {

/// Asks for device memory (host memory on the CPU backend) and does nothing with it.
class GreedyStage final : public Stage {
 public:
  static inline std::size_t bytes = 0;
  explicit GreedyStage(MemoryKind kind) : kind_(kind) {}
  void plan(PlanContext& context) override {
    context.set_output(0, context.input(0));
    context.scratch(bytes, kind_);
  }
  void run(const RunContext&) const override {}

 private:
  MemoryKind kind_;
};

/// The error of planning a graph of greedy stages with `slots` slots.
Error planning_error(Backend backend, std::size_t bytes, int slots) {
  static StageType type = fake::copy_stage();
  type.make_cpu = [](const ParamSet&) { return std::make_unique<GreedyStage>(MemoryKind::Host); };
  type.make_cuda = [](const ParamSet&) { return std::make_unique<GreedyStage>(MemoryKind::Device); };
  GreedyStage::bytes = bytes;
  GraphSpec graph = fake::copy_graph();
  graph.settings.slots = slots;
  graph.nodes.resize(1);
  graph.nodes[0].type = &type;
  fake::CountingSource source(1);
  try {
    const Runner runner(graph, source, {}, {.backend = backend});
  } catch (const Error& error) {
    return error;
  }
  return {ExitCode::Ok, "planned"};
}

}  // namespace

TEST_CASE("a machine without a driver, with an old one and with a hidden device is told what to do") {
  DeviceReport report;
  explain_absence(13000, 0, "CUDA driver version is insufficient for CUDA runtime version", report);
  CHECK_FALSE(report.available);
  CHECK(report.driver_version == "none");
  CHECK(report.reason == "no NVIDIA driver is installed");
  CHECK(contains(report.fix, "install the NVIDIA driver"));

  explain_absence(13020, 12080, "CUDA driver version is insufficient for CUDA runtime version", report);
  CHECK(report.runtime_version == "13.2");
  CHECK(contains(report.reason, "insufficient"));
  CHECK(contains(report.fix, "needs a driver for CUDA 13.0 or later, the one installed is for CUDA 12.8"));

  explain_absence(13020, 13000, "", report);
  CHECK(report.reason == "no CUDA device was found");
  CHECK(contains(report.fix, "CUDA_VISIBLE_DEVICES"));
}

TEST_CASE("memory that cannot be had at the start is an error that says how much was asked for") {
  const Error error = planning_error(Backend::Cpu, std::size_t{1} << 50, 2);
  CHECK(error.code() == ExitCode::OutOfMemory);
  CHECK(contains(error.what(), "asked for"));
}

TEST_CASE("device memory that is too small says how much was asked, what is free and how many slots fit") {
  if (!device_report().available) {
    std::puts("skipped: device out of memory (no device here)");
    return;
  }
  // Two slots of two fifths fit into what is free, four do not.
  const std::size_t part = free_device_bytes() / 5 * 2;
  const Error error = planning_error(Backend::Cuda, part, 4);
  CHECK(error.code() == ExitCode::OutOfMemory);
  CAPTURE(error.what());
  CHECK(contains(error.what(), std::to_string(part >> 20).substr(0, 3)));
  CHECK(contains(error.what(), "on the device"));
  CHECK(contains(error.what(), "are free"));
  CHECK(contains(error.what(), "2 of 4 slots"));
  CHECK(contains(error.what(), "'slots: 2'"));
}
