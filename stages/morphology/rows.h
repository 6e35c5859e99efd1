// Minima and maxima of whole rows on the CPU, by sample type and instruction set. Kernels read and write
// whole blocks of kRowBlock bytes, so that every row needs that much room after its last sample. Internal.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stages/shared/simd.h"

namespace contorno {

inline constexpr std::size_t kRowBlock = 64;

enum class Extreme : std::uint8_t { Minimum, Maximum };

/// The kernels for rows of type W: uint8, uint16 and int32 (ordered floats) for samples, int16 and int32 for
/// samples to which heights are added.
template <class W>
struct RowKernels {
  /// out[i] = extreme of rows[k][i] over `count` rows. `out` may be rows[0], and may overlap rows that begin
  /// after it in memory.
  void (*combine)(W* out, const W* const* rows, int count, std::size_t samples) = nullptr;
  /// total = extreme(total, next); out = extreme(total, other).
  void (*accumulate)(W* total, const W* next, const W* other, W* out, std::size_t samples) = nullptr;
  /// out[i] = extreme over rows of rows[k][i] + add[k], for types with heights.
  void (*combine_raised)(W* out, const W* const* rows, const W* add, int count,
                         std::size_t samples) = nullptr;
};

/// Only std::uint8_t, std::uint16_t, std::int16_t and std::int32_t.
template <class W>
RowKernels<W> row_kernels(Extreme extreme, Simd simd);

/// For float32 samples with heights: `rows` are OrderedFloat keys, `add` floats.
using RaisedFloatKernel = void (*)(std::int32_t* out, const std::int32_t* const* rows, const float* add,
                                   int count, std::size_t samples);
RaisedFloatKernel raised_float_kernel(Extreme extreme, Simd simd);

}  // namespace contorno
