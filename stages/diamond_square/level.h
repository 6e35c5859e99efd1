// One level of Diamond-Square on the CPU, on one rectangle of cells: from a grid to a grid of twice the
// resolution. Random numbers are computed with vector instructions where the machine has them; all versions
// give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stages/diamond_square/rules.h"

namespace contorno {

/// A grid of cells in memory: every `step`-th cell of the field, the first at (row, col). Owns nothing.
template <class T>
struct CellGrid {
  T* data = nullptr;
  std::ptrdiff_t pitch = 0;  ///< in bytes
  std::int64_t row = 0, col = 0;
  int rows = 0, cols = 0;
  std::int64_t step = 1;

  T* at(int r) const { return reinterpret_cast<T*>(reinterpret_cast<char*>(data) + r * pitch); }
};

/// Scratch rows of Refine. Each has room for the columns of the coarser grid and kPadding more cells, `line`
/// for twice as many.
template <class T>
struct RefineRows {
  static constexpr int kPadding = 32;
  typename Heights<T>::Noise* noise = nullptr;
  T* diamonds[2] = {nullptr, nullptr};
  T* zeros = nullptr;
  T* line = nullptr;
};

/// What is the same for all levels of one channel of a field.
struct FieldRule {
  PhiloxKey key;
  std::uint32_t channel = 0;
  std::uint32_t mask = ~0U;  ///< cyclic: 2^n - 1
  std::int64_t side = -1;    ///< finite: 2^n
};

/// Fills `fine` from `coarse`, which must have the rows and columns that coarser_span gives for those of
/// `fine`.
template <class T>
using Refine = void (*)(const FieldRule& field, const HeightRule& rule, const CellGrid<T>& coarse,
                        const CellGrid<T>& fine, const RefineRows<T>& rows);

template <class T>
Refine<T> refine_kernel(Simd simd);

}  // namespace contorno
