#include "stages/catalog.h"

#include "stages/classify.h"
#include "stages/contour_assembly.h"
#include "stages/diamond_square.h"
#include "stages/marching_squares.h"
#include "stages/mean_shift_filter.h"
#include "stages/mean_shift_segment.h"
#include "stages/mipmap.h"
#include "stages/morphology.h"
#include "stages/overlay.h"
#include "stages/preprocess.h"

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
      &overlay_stage(),
  };
  // clang-format on
  return catalog;
}

}  // namespace contorno
