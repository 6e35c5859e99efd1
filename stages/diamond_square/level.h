// One level of Diamond-Square on one rectangle of cells: from a grid to the grid of twice the resolution.
// Random numbers come from vectors of Philox where the machine has them; all versions give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stages/diamond_square/rules.h"

namespace contorno {

/// Cells `step` apart, the first at (row, col) of the field.
template <class T>
struct CellGrid {
  T* data = nullptr;
  std::ptrdiff_t pitch = 0;  ///< in bytes
  std::int64_t row = 0, col = 0;
  int rows = 0, cols = 0;
  std::int64_t step = 1;

  T* at(int r) const { return reinterpret_cast<T*>(reinterpret_cast<char*>(data) + r * pitch); }
};

/// Rows that refine works in, each with room for kPadding cells more than the coarser grid has columns
/// (`line`: twice that many).
template <class T>
struct RefineRows {
  static constexpr int kPadding = 32;
  typename Heights<T>::Noise* noise = nullptr;
  T* diamonds[2] = {nullptr, nullptr};
  T* zeros = nullptr;
  T* line = nullptr;
};

struct FieldRule {
  PhiloxKey key;
  std::uint32_t channel = 0;
  std::uint32_t mask = ~0U;  ///< cyclic: 2^n - 1
  std::int64_t side = -1;    ///< finite: 2^n
};

/// Fills `fine`, whose rows and columns are in coarser_span's relation to those of `coarse`.
template <class T>
using Refine = void (*)(const FieldRule& field, const HeightRule& rule, const CellGrid<T>& coarse,
                        const CellGrid<T>& fine, const RefineRows<T>& rows);

template <class T>
Refine<T> refine_kernel(Simd simd);

}  // namespace contorno
