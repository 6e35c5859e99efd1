#include "stages/catalog.h"

#include "stages/classify.h"
#include "stages/contour_assembly.h"
#include "stages/marching_squares.h"
#include "stages/mipmap.h"
#include "stages/morphology.h"
#include "stages/mean_shift_filter.h"
#include "stages/mean_shift_segment.h"
#include "stages/overlay.h"
#include "stages/preprocess.h"

namespace contorno {

const std::vector<const StageType*>& stage_catalog() {
  static const std::vector<const StageType*> catalog{
      &preprocess_stage(),       &mipmap_stage(),           &morphology_stage(),
      &hit_or_miss_stage(),      &reconstruction_stage(),   &classify_stage(),
      &marching_squares_stage(), &contour_assembly_stage(), &overlay_stage(),
      &preprocess_stage(),       &mean_shift_filter_stage(), &classify_stage(),
      &marching_squares_stage(), &contour_assembly_stage(),  &overlay_stage(),
      &preprocess_stage(), &mean_shift_filter_stage(), &mean_shift_segment_stage(),
      &classify_stage(),   &marching_squares_stage(),  &contour_assembly_stage(),
      &overlay_stage(),
  };
  return catalog;
}

}  // namespace contorno
