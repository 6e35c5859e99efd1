// measure_map as on a device, with its kernel run by the emulator, against the CPU: the same bits. Needs no
// device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include <doctest/doctest.h>

#include "stages/contour_prep/hierarchy/nests.h"
#include "stages/contour_prep/measure_map/kernels.cuh"
#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/map_regions.h"
#include "tests/stages/contour_prep/over_capacity.h"

using namespace contorno;
using namespace contorno::test;

namespace {

class EmulatedSpans {
 public:
  static constexpr bool kGives = true;

  void plan(PlanContext& context, std::uint64_t spans) {
    spans_ = context.temporary(spans * sizeof(map_measuring::SampleSums), MemoryKind::Host);
  }
  template <class T>
  const map_measuring::SampleSums* run(const RunContext& context,
                                       const map_measuring::Regions& regions) const {
    auto* const spans = context.scratch<map_measuring::SampleSums>(spans_);
    emulated::run_grid(2, 96, 0, false, [&] { map_measuring::measure_spans<T>(regions, spans); });
    return spans;
  }

 private:
  Scratch spans_;
};

}  // namespace

TEST_CASE("measure_map as on a device gives the attributes of its CPU") {
  const TestContours in(160, 140, 3, contours_on_map(34));
  const Roomy roomy(in.view);
  const StageType type =
      over_capacity<MeasureMap<OverCapacity, HostNest, EmulatedSpans>, NoParams>(measure_map_stage());
  for (const Layout layout : {Layout::Planar, Layout::Interleaved}) {
    const ImageFormat format{
        .width = 160, .height = 140, .channels = 3, .type = ElementType::F32, .layout = layout};
    Random random(9);
    const TestImage map = filled_image<float>(
        format, [&](int, int, int) { return random.below(20) == 0 ? std::nan("") : random.unit() - 0.25; },
        12);
    StageHarness cpu(measure_map_stage(), {}), stage(type, {});
    cpu.run({in.view, map.view});
    for (const ContoursView& view : {in.view, roomy.view}) {
      stage.run({view, map.view});
      CHECK(same_contours(std::get<ContoursView>(stage.value()), std::get<ContoursView>(cpu.value())));
    }
  }
}
