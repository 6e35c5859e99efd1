// measure_map on the device.
#include "stages/contour_prep/hierarchy/nests.h"
#include "stages/contour_prep/measure_map/kernels.cuh"
#include "stages/contour_prep/shared/array_launch.cuh"
#include "stages/contour_prep/shared/contour_step.h"
#include "stages/contour_prep/shared/on_device.cuh"

namespace contorno {
namespace map_measuring {

class DeviceSpans {
 public:
  static constexpr bool kGives = true;

  void plan(PlanContext& context, std::uint64_t spans) {
    spans_ = context.temporary(spans * sizeof(SampleSums), MemoryKind::Device);
    launch_.plan();
  }
  template <class T>
  const SampleSums* run(const RunContext& context, const Regions& regions) const {
    auto* const spans = context.scratch<SampleSums>(spans_);
    launch_("measure_spans", measure_spans<T>, context.stream, regions, spans);
    return spans;
  }

 private:
  ArrayLaunch launch_;
  Scratch spans_;
};

}  // namespace map_measuring

std::unique_ptr<Stage> make_measure_map_cuda(const ParamSet& params) {
  return make_step<MeasureMap<OnDevice, DeviceNest, map_measuring::DeviceSpans>, NoParams>(params);
}

}  // namespace contorno
