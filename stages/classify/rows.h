// Rows of class maps on the CPU, by instruction set: the probabilities of a row of pixels, its smoothing, and
// its bytes. Every set gives the bits of ClassifyPixel. Internal.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stages/classify/plan.h"
#include "stages/shared/simd.h"

namespace contorno {

/// A table of colours that were met lately, with their probabilities: most pixels of a video have a colour
/// that was there before. An entry is a colour of 24 bits with bit 24 set, or 0 where there is none yet, and
/// the bits of one float a class. A colour has one place, where it takes over from the one before; what is
/// found in the table was computed for exactly this colour, so results do not depend on what it holds.
struct ColourTableShape {
  ColourTableShape() = default;
  explicit ColourTableShape(std::size_t classes);

  std::size_t words() const { return (std::size_t{1} << index_bits) * entry_words; }

  int index_bits = 0;
  std::size_t entry_words = 0;
};

/// What `classify` writes. Classes of a row begin `step` floats after each other.
struct ClassifyRow {
  float* first = nullptr;
  std::ptrdiff_t step = 0;
  std::uint32_t* table = nullptr;  ///< ColourTableShape::words(), zeros before the first row
  float* work = nullptr;           ///< kClassifyLanes floats a class
};
/// Colours that are worked on at a time: they stay in the first-level cache.
inline constexpr std::size_t kClassifyLanes = 128;

struct ClassifyRows {
  /// The probabilities of `width` pixels of plan.in.channels bytes each.
  void (*classify)(const ClassifyPlan& plan, const ColourTableShape& shape, const std::uint8_t* pixels,
                   int width, ClassifyRow out) = nullptr;
  /// out[x] = weights[0] * lines[0][x] + weights[1] * lines[1][x] + ..., added in this order. `out` overlaps
  /// no line; lines may overlap each other.
  void (*weigh)(const float* const* lines, const float* weights, float* out, int width) = nullptr;
  /// to_probability_byte of each.
  void (*to_bytes)(const float* probabilities, std::uint8_t* out, int width) = nullptr;
};

/// `weigh` takes 2 * radius + 1 lines; there is none for radius 0.
ClassifyRows classify_rows(int radius, Simd simd);

}  // namespace contorno
