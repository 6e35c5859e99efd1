#include "stages/catalog.h"

#include "stages/background/stage.h"
#include "stages/classify/stage.h"
#include "stages/colour_map/stage.h"
#include "stages/contour_prep/stage.h"
#include "stages/contours/stage.h"
#include "stages/degrade/lighter.h"
#include "stages/diamond_square/field.h"
#include "stages/mean_shift/filter.h"
#include "stages/mean_shift/segment.h"
#include "stages/mipmap/chain.h"
#include "stages/morphology/stage.h"
#include "stages/overlay/stage.h"
#include "stages/preprocess/stage.h"

namespace contorno {
namespace {

/// A contour has about half as many points at a level of half the size.
void halve_min_points(ParamSet& params) {
  params.set("min_points", (std::get<std::int64_t>(params.get("min_points")) + 1) / 2);
}

}  // namespace

const StageType* lighter_stage(DegradeStep step, const StageType& type) {
  static const StageType undrawn_overlay = undrawn(overlay_stage());
  static const StageType coarser_contours = coarser(contours_stage(), mipmap_stage(), halve_min_points);
  if (step == DegradeStep::Overlay && &type == &overlay_stage()) return &undrawn_overlay;
  if (step == DegradeStep::Mip && &type == &contours_stage()) return &coarser_contours;
  return nullptr;
}

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
