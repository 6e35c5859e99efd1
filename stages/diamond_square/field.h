// Diamond-Square (Fournier, Fussell, Carpenter, 1982; Albertini, ch. 3): a field of heights that is rough at
// every scale. A cell's random number is a pure function of seed, row, column and level
// (stages/shared/philox.h), so the same field comes out for any number of threads, on either backend, and for
// any window of it.
//
// Output: heights in every channel of an image of any size: uint8, uint16 (0 to the type's largest) or
// float32 (0 to 1).
//
// Memory: a DiamondSquare owns its scratch, all of it taken when it is made; one thread at a time uses it.
//
// Both backends give the same bits, because every cell is HeightRule of its neighbours and its own random
// number, in one order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pipeline/graph/stage.h"
#include "stages/shared/simd.h"

namespace contorno {

/// Finite: 2^n + 1 cells a side; at the border a cell has three neighbours (the paper). Cyclic: 2^n cells a
/// side, and the last is a neighbour of the first: textures that tile. Endless: corners at every multiple of
/// 2^n.
enum class DiamondSquareDomain : std::uint8_t { Finite, Cyclic, Endless };

/// Paper: random numbers from [-a, a), -1 or 0 where a is 0, sums rounded down. Unbiased: from [-a, a] with a
/// of 1 at least, rounded to nearest. Makes no difference to float32.
enum class DiamondSquareRange : std::uint8_t { Paper, Unbiased };

inline constexpr int kMaxDiamondSquareExponent = 16;

struct DiamondSquareParams {
  std::uint64_t seed = 0;
  /// n: corners are 2^n cells apart. 0: the smallest n with which the field covers the image.
  int exponent = 0;
  DiamondSquareDomain domain = DiamondSquareDomain::Finite;
  DiamondSquareRange range = DiamondSquareRange::Paper;
  /// H: random numbers shrink by 2^-H a level; 1 is the paper's.
  double roughness = 1;
  /// Factor of all random numbers but the corners'; 1 is the paper's, which divides them by four with the
  /// sum.
  double amplitude = 1;
  /// Heights 0..1 of the finite domain's corners: top left, top right, bottom left, bottom right; of the
  /// cyclic domain's only one. Empty: random.
  std::vector<double> corners{};
  /// Cell of the field at the image's first sample. Finite and cyclic fields end with their side.
  std::int64_t row = 0, col = 0;
};

/// One level of refinement: cells `half` apart come to lie between cells 2 * `half` apart.
struct HeightRule {
  std::uint32_t level = 0;
  std::int64_t half = 1;
  std::int32_t low = 0;    ///< the least value of the random number
  std::uint32_t span = 0;  ///< how many values it may have, or 0
  std::int32_t round4 = 0, round3 = 0;
  float float_low = 0, float_span = 0;
};

/// Everything that follows from parameters and format, for both backends.
struct DiamondSquarePlan {
  DiamondSquareParams params;  ///< with the exponent that was found
  ImageFormat format;
  std::vector<HeightRule> levels;      ///< 1 to n
  std::vector<std::uint32_t> corners;  ///< heights as the format has them (float32: its bits)
};

/// Throws Error(BadConfig) when the format is not one of the above or the image is not inside of the field.
DiamondSquarePlan plan_diamond_square(const DiamondSquareParams& params, const ImageFormat& format);

/// Makes fields of one format on the CPU.
class DiamondSquare {
 public:
  DiamondSquare(const DiamondSquareParams& params, const ImageFormat& format, int threads = 1,
                Simd simd = best_simd());
  ~DiamondSquare();
  DiamondSquare(DiamondSquare&&) noexcept;
  DiamondSquare& operator=(DiamondSquare&&) noexcept;

  /// Fills `out`, which must have the planned format; `seed` replaces that of the parameters. Allocates
  /// nothing.
  void generate(std::uint64_t seed, const ImageView& out) const;
  const DiamondSquarePlan& plan() const;

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

/// One field: `out` in host memory, any pitches.
void diamond_square(const DiamondSquareParams& params, const ImageView& out, int threads = 1);

/// The stage `diamond_square`: no inputs, one image. Colours (uint8, several channels) are interleaved, other
/// channels are planes.
const StageType& diamond_square_stage();

}  // namespace contorno
