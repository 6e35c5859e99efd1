// The kernels that BitReader chooses among, by sample type and instruction set. Internal.
#pragma once

#include "stages/contours/cpu/sample_bits.h"

namespace contorno {

/// The kernel for samples of a type; the portable one where this build has none for the instruction set.
BitKernel portable_kernel(ElementType type);
BitKernel avx2_kernel(ElementType type);
BitKernel avx512_kernel(ElementType type);

/// The kernels of one instruction set.
struct BitKernels {
  BitKernel u8, u16, f16, f32, f64;

  BitKernel of(ElementType type) const {
    switch (type) {
      case ElementType::U8:
        return u8;
      case ElementType::U16:
        return u16;
      case ElementType::F16:
        return f16;
      case ElementType::F32:
        return f32;
      case ElementType::F64:
        break;
    }
    return f64;
  }
};

using SplitFunction = void (*)(const Deinterleaver&, const std::uint64_t*, std::uint64_t*);
SplitFunction portable_split();
SplitFunction bmi2_split();         ///< any number of channels
SplitFunction avx512_split_of_8();  ///< eight channels

}  // namespace contorno
