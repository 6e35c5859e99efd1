// The list of the steps; adding one adds a line.
#include "stages/contour_prep/close_at_border/stage.h"
#include "stages/contour_prep/drop_duplicates/stage.h"
#include "stages/contour_prep/drop_small/stage.h"
#include "stages/contour_prep/exclude/stage.h"
#include "stages/contour_prep/fourier_descriptors/stage.h"
#include "stages/contour_prep/hierarchy/stage.h"
#include "stages/contour_prep/largest_first/stage.h"
#include "stages/contour_prep/measure/stage.h"
#include "stages/contour_prep/measure_map/stage.h"
#include "stages/contour_prep/merge_close/stage.h"
#include "stages/contour_prep/objects/stage.h"
#include "stages/contour_prep/order_nearest/stage.h"
#include "stages/contour_prep/resample/stage.h"
#include "stages/contour_prep/simplify/stage.h"
#include "stages/contour_prep/smooth/stage.h"
#include "stages/contour_prep/stage.h"
#include "stages/contour_prep/track/stage.h"

namespace contorno {

const StepTypes& contour_steps() {
  // clang-format off
  static const StepTypes steps{
      &exclude_stage(),
      &close_at_border_stage(),
      &merge_close_stage(),
      &drop_small_stage(),
      &drop_duplicates_stage(),
      &largest_first_stage(),
      &order_nearest_stage(),
      &resample_stage(),
      &simplify_stage(),
      &smooth_stage(),
      &measure_stage(),
      &measure_map_stage(),
      &hierarchy_stage(),
      &fourier_descriptors_stage(),
      &track_stage(),
      &objects_stage(),
  };
  // clang-format on
  return steps;
}

}  // namespace contorno
