// Rows of class maps on the CPU, by instruction set: the probabilities of a row of pixels, its smoothing, and
// its bytes. Every set gives the bits of ClassifyPixel. Internal.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stages/classify/plan.h"
#include "stages/shared/simd.h"

namespace contorno {

/// A table of colours that were met lately, with their probabilities: most pixels of a video have a colour
/// that was there before. An entry is one word with a colour of 24 bits and bit 24 set, or 0 where there is
/// none yet, then the bits of one float a class, and as many words as fill units of 16 bytes. A colour has
/// one place, where it takes over from the one before; what is found in the table was computed for exactly
/// this colour, so results do not depend on what it holds.
struct ColourTableShape {
  /// The most bits of an index: find_places (lookup.h) takes so many of a product of 32 bits.
  static constexpr int kMostIndexBits = 15;

  ColourTableShape() = default;
  explicit ColourTableShape(std::size_t classes);

  std::size_t words() const { return (std::size_t{1} << index_bits) * entry_words; }

  int index_bits = 0;
  std::size_t entry_words = 0;
};

/// What `classify` reads: rows of plan.in.channels bytes a pixel, `pitch` bytes apart.
struct ClassifyPixels {
  const std::uint8_t* first = nullptr;
  std::ptrdiff_t pitch = 0;
  int rows = 0;
  std::size_t width = 0;
};
/// What it writes. Rows begin `row_step` floats after each other, the classes of a row `step` floats.
struct ClassifyBlock {
  float* first = nullptr;
  std::size_t row_step = 0, step = 0;
  std::uint32_t* table = nullptr;  ///< ColourTableShape::words(), zeros before the first block; aligned
  float* work = nullptr;           ///< kClassifyLanes floats a class
};
/// Colours that are worked on at a time: they stay in the first-level cache.
inline constexpr std::size_t kClassifyLanes = 128;

struct ClassifyRows {
  /// The probabilities of the pixels.
  void (*classify)(const ClassifyPlan& plan, const ColourTableShape& shape, const ClassifyPixels& in,
                   const ClassifyBlock& out) = nullptr;
  /// out[x] = weights[0] * lines[0][x] + weights[1] * lines[1][x] + ..., added in this order. `out` overlaps
  /// no line; lines may overlap each other.
  void (*weigh)(const float* const* lines, const float* weights, float* out, int width) = nullptr;
  /// Weighs along a line and down several in one pass: along[x] = weights[0] * samples[x] + weights[1] *
  /// samples[x + 1] + ..., and out[x] as `weigh` makes it of `lines` and, in place of the last of them,
  /// `along`.
  void (*smooth)(const float* samples, const float* const* lines, const float* weights, float* along,
                 float* out, int width) = nullptr;
  /// to_probability_byte of each.
  void (*to_bytes)(const float* probabilities, std::uint8_t* out, int width) = nullptr;
};

/// `weigh` takes 2 * radius + 1 lines, `smooth` has as many; there are none for radius 0.
ClassifyRows classify_rows(int radius, Simd simd);

}  // namespace contorno
