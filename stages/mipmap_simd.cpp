#include "stages/mipmap_rows.h"

namespace contorno {

HalveRow halve_row_simd(const MipmapPlan&, Simd) {
  return nullptr;
}

}  // namespace contorno
