#include "stages/catalog.h"

namespace contorno {

const std::vector<const StageType*>& stage_catalog() {
  static const std::vector<const StageType*> catalog{};
  return catalog;
}

}  // namespace contorno
