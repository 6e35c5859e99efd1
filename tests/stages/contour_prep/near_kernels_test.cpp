// The kernels of the steps that look for near points, run on the host by the emulator, against the CPU. Needs
// no device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include <doctest/doctest.h>

#include "stages/contour_prep/exclude/kernels.cuh"
#include "stages/contour_prep/shared/point_selection.h"
#include "tests/stages/contour_prep/near_points.h"

using namespace contorno;
using namespace contorno::test;

namespace {

/// Contours of which the points with a flag remain.
bool same_selection(const ContoursView& in, const std::vector<std::uint8_t>& keep,
                    const ContoursView& wanted) {
  Guarded memory(packed_bytes(in.format));
  const ContoursView out = packed_view(memory.data(), in.format);
  select_points(in, keep.data(), out);
  return same_contours(out, wanted);
}

}  // namespace

TEST_CASE("the kernel of exclude marks the points that its CPU leaves out") {
  const TestContours in(64, 64, 3, walking_contours(8, 3, 40, 30));
  Random random(7);
  ExcludeParams params;
  for (int i = 0; i < 60; ++i) params.points.push_back(random.unit() * 30);
  for (int i = 0; i < 24; ++i) params.strokes.push_back(random.unit() * 30);
  auto mask = std::make_shared<Mask>();
  mask->width = 9, mask->height = 11, mask->values.assign(99, 1);
  params.mask = mask;
  for (const double radius : {0.0, 2.5}) {
    params.radius = radius;
    StageHarness stage(
        exclude_stage(),
        {{"points", params.points}, {"strokes", params.strokes}, {"mask", params.mask}, {"radius", radius}});
    stage.run({in.view});
    const Region region(params);
    std::vector<std::uint8_t> keep(in.format.point_capacity, 2);
    const exclude_cuda::Job job{.in = in.view, .region = region.view(), .keep = keep.data()};
    emulated::run_grid(3, 64, 0, false, [&] { exclude_cuda::mark_points(job); });
    CHECK(std::count(keep.begin(), keep.end(), 2) == 0);
    CHECK(same_selection(in.view, keep, std::get<ContoursView>(stage.value())));
  }
}
