#include "stages/catalog.h"

#include "stages/classify/stage.h"
#include "stages/contour_prep/drop_duplicates/stage.h"
#include "stages/contour_prep/drop_small/stage.h"
#include "stages/contour_prep/exclude/stage.h"
#include "stages/contour_prep/largest_first/stage.h"
#include "stages/contour_prep/merge_close/stage.h"
#include "stages/contour_prep/resample/stage.h"
#include "stages/contour_prep/simplify/stage.h"
#include "stages/contours/contour_assembly.h"
#include "stages/contours/marching_squares.h"
#include "stages/diamond_square/field.h"
#include "stages/mean_shift/filter.h"
#include "stages/mean_shift/segment.h"
#include "stages/mipmap/chain.h"
#include "stages/morphology/stage.h"
#include "stages/overlay/stage.h"
#include "stages/preprocess/stage.h"

namespace contorno {

const std::vector<const StageType*>& stage_catalog() {
  // clang-format off
  static const std::vector<const StageType*> catalog{
      &preprocess_stage(),
      &morphology_stage(),
      &hit_or_miss_stage(),
      &reconstruction_stage(),
      &mipmap_stage(),
      &diamond_square_stage(),
      &mean_shift_filter_stage(),
      &mean_shift_segment_stage(),
      &classify_stage(),
      &marching_squares_stage(),
      &contour_assembly_stage(),
      &exclude_stage(),
      &merge_close_stage(),
      &drop_small_stage(),
      &drop_duplicates_stage(),
      &largest_first_stage(),
      &resample_stage(),
      &simplify_stage(),
      &overlay_stage(),
  };
  // clang-format on
  return catalog;
}

}  // namespace contorno
