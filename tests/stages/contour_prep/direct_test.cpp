// Stages on contours as DirectStage, on the CPU and on the device where there is one: what they make is that
// of an AppliedStage, and what they say of contours that they select is true.
#include "pipeline/graph/direct.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cuda/device.h"
#include "cuda/stream.h"
#include "pipeline/graph/applied.h"
#include "stages/catalog.h"
#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/reference.h"
#include "tests/stages/default_params.h"

using namespace contorno;
using namespace contorno::test;

namespace {

/// Contours in memory of a backend.
struct Placed {
  Placed(const ContoursFormat& format, Backend backend)
      : block(packed_bytes(format), backend == Backend::Cuda ? MemoryKind::Device : MemoryKind::Host),
        view(packed_view(block.data(), format)) {}
  Block block;
  ContoursView view;
};

void copy(void* to, const void* from, std::size_t bytes, Backend backend, const Stream& stream) {
  if (backend == Backend::Cpu) {
    std::memcpy(to, from, bytes);
    return;
  }
  copy_async(to, from, bytes, stream.get());
  stream.synchronize();
}

/// Whether the stage says of contours that it selected them.
bool check_stage(const StageType& type, const ParamSet& params, Backend backend) {
  CAPTURE(type.name);
  CAPTURE(name_of(backend));
  const Stream stream = backend == Backend::Cuda ? Stream::create() : Stream();
  AppliedStage applied(type, params, Backend::Cpu, 2);
  DirectStage direct(type, params, backend, 2);
  bool selects = false;
  for (const int each : {0, 5, 60, 5}) {
    const TestContours given(64, 64, 3, exact_contours(3, 3, each));
    const Format format = given.format;
    applied.plan(std::span(&format, 1));
    std::memcpy(std::get<ContoursView>(applied.input(0)).counts, given.view.counts,
                packed_bytes(given.format));
    applied.run();
    const Placed in(given.format, backend);
    copy(in.block.data(), given.view.counts, packed_bytes(given.format), backend, stream);
    std::unique_ptr<Placed> out;
    do {
      direct.plan(std::span(&format, 1), stream.get());
      out = std::make_unique<Placed>(std::get<ContoursFormat>(direct.outputs()[0]), backend);
      const Value from = in.view, to = out->view;
      direct.enqueue(std::span(&from, 1), std::span(&to, 1), stream.get());
      if (backend == Backend::Cuda) stream.synchronize();
    } while (direct.overflowed());
    const Placed made(out->view.format, Backend::Cpu);
    copy(made.block.data(), out->block.data(), packed_bytes(made.view.format), backend, stream);
    CHECK(same_contours(made.view, std::get<ContoursView>(applied.output(0))));
    const ContourCounts counts = direct.counts(0);
    CHECK(counts.points == made.view.counts->points);
    REQUIRE(counts.contours == made.view.counts->contours);
    selects = direct.selection() != nullptr;
    if (!selects) continue;
    std::vector<std::uint32_t> sources(counts.contours);
    if (!sources.empty())
      copy(sources.data(), direct.selection(), sources.size() * sizeof(std::uint32_t), backend, stream);
    for (std::uint32_t i = 0; i < sources.size(); ++i) {
      REQUIRE(sources[i] < given.view.counts->contours);
      CHECK(std::ranges::equal(made.view.contour(i), given.view.contour(sources[i])));
      CHECK(made.view.closed[i] == given.view.closed[sources[i]]);
    }
  }
  return selects;
}

}  // namespace

TEST_CASE("a stage on contours where they lie makes what it makes in a graph, and says what it selected") {
  const bool device = device_report().available;
  std::vector<std::string> selecting;
  for (const StageType* type : stage_catalog()) {
    if (!is_on_contours(*type) || type->inputs.size() > 1) continue;
    const ParamSet params = default_params(*type);
    const bool selects = check_stage(*type, params, Backend::Cpu);
    if (device && type->make_cuda) CHECK(check_stage(*type, params, Backend::Cuda) == selects);
    if (selects) selecting.push_back(type->name);
  }
  for (const char* name : {"drop_small", "fourier_descriptors", "hierarchy", "largest_first", "measure",
                           "order_nearest", "track"})
    CHECK(std::ranges::count(selecting, name) == 1);
  if (!device) std::puts("skipped: stages on contours on CUDA, where they lie (no device here)");
}
