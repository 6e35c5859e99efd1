#include "stages/catalog.h"

#include "stages/classify.h"
#include "stages/overlay.h"
#include "stages/preprocess.h"

namespace contorno {

const std::vector<const StageType*>& stage_catalog() {
  static const std::vector<const StageType*> catalog{
      &preprocess_stage(),
      &classify_stage(),
      &overlay_stage(),
  };
  return catalog;
}

}  // namespace contorno
