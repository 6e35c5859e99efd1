// The steps that are one text for both backends, on the device; adding one adds a line.
#include "geometry/hull.cuh"
#include "stages/contour_prep/close_at_border/stage.h"
#include "stages/contour_prep/drop_small/stage.h"
#include "stages/contour_prep/exclude/stage.h"
#include "stages/contour_prep/fourier_descriptors/stage.h"
#include "stages/contour_prep/largest_first/stage.h"
#include "stages/contour_prep/measure/stage.h"
#include "stages/contour_prep/resample/stage.h"
#include "stages/contour_prep/shared/on_device.cuh"
#include "stages/contour_prep/simplify/douglas_peucker.cuh"
#include "stages/contour_prep/simplify/visvalingam.cuh"
#include "stages/contour_prep/smooth/stage.h"

namespace contorno {

std::unique_ptr<Stage> make_close_at_border_cuda(const ParamSet& params) {
  return make_step<CloseAtBorder<OnDevice>, CloseAtBorderParams>(params);
}
std::unique_ptr<Stage> make_largest_first_cuda(const ParamSet& params) {
  return make_step<LargestFirst<OnDevice>, LargestFirstParams>(params);
}

template std::unique_ptr<Stage> make_on_device<DropSmall>(const ParamSet&);
template std::unique_ptr<Stage> make_on_device<Exclude>(const ParamSet&);
template std::unique_ptr<Stage> make_on_device<FourierDescriptors>(const ParamSet&);
template std::unique_ptr<Stage> make_on_device<Measure>(const ParamSet&);
template std::unique_ptr<Stage> make_on_device<Resample>(const ParamSet&);
template std::unique_ptr<Stage> make_on_device<DouglasPeucker>(const ParamSet&);
template std::unique_ptr<Stage> make_on_device<Visvalingam>(const ParamSet&);
template std::unique_ptr<Stage> make_on_device<Smooth>(const ParamSet&);

}  // namespace contorno
