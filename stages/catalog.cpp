#include "stages/catalog.h"

#include "stages/background/stage.h"
#include "stages/classify/stage.h"
#include "stages/colour_map/stage.h"
#include "stages/contour_prep/stage.h"
#include "stages/contours/stage.h"
#include "stages/diamond_square/field.h"
#include "stages/mean_shift/filter.h"
#include "stages/mean_shift/segment.h"
#include "stages/mipmap/chain.h"
#include "stages/morphology/stage.h"
#include "stages/overlay/stage.h"
#include "stages/preprocess/stage.h"

namespace contorno {

const std::vector<const StageType*>& stage_catalog() {
  static const std::vector<const StageType*> catalog = [] {
    // clang-format off
    std::vector<const StageType*> list{
        &preprocess_stage(),
        &morphology_stage(),
        &hit_or_miss_stage(),
        &reconstruction_stage(),
        &mipmap_stage(),
        &diamond_square_stage(),
        &mean_shift_filter_stage(),
        &mean_shift_segment_stage(),
        &background_stage(),
        &classify_stage(),
        &colour_map_stage(),
        &contours_stage(),
        &contour_prep_stage(),
        &overlay_stage(),
    };
    // clang-format on
    // Every step is a stage as well.
    list.insert(list.end() - 1, contour_steps().begin(), contour_steps().end());
    return list;
  }();
  return catalog;
}

}  // namespace contorno
