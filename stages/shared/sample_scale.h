// What the integer samples of a map stand for.
#pragma once

#include "pipeline/value/image.h"

namespace contorno {

/// What integer samples are divided by: 255 and 65535 for probability maps, 1 for plain images.
struct SampleScale {
  double divisor = 1;
};

constexpr SampleScale probability_scale(ElementType type) {
  switch (type) {
    case ElementType::U8:
      return {255};
    case ElementType::U16:
      return {65535};
    case ElementType::F16:
    case ElementType::F32:
    case ElementType::F64:
      break;
  }
  return {1};
}

}  // namespace contorno
