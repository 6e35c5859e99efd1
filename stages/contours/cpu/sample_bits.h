// From samples to bits; no other code of the CPU backend reads a whole map for contours: which samples are
// above their level, and which need a closer look (not a number, so near to the level that a crossing point
// may fall on the sample, or so far from it that a neighbour's may). Hand-written for AVX-512 and AVX2 with a
// portable version; all give the same bits, because every comparison is exact. A BitReader is made once per
// format and used by any number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/value/image.h"
#include "stages/shared/sample_value.h"
#include "stages/shared/simd.h"

namespace contorno {

/// What samples are compared with. Levels are repeated so that sample i of a row that begins at channel 0 has
/// entry i mod (64 * channels). Suspect are floats whose distance d from the level has |d| outside (near,
/// far), and of integers the one value that lies so near to the level, if there is one.
struct BitTable {
  std::vector<std::byte> levels;             ///< levels in the type that is compared: float for F16 and F32
  std::vector<std::byte> near_values;        ///< integers only
  std::vector<std::uint64_t> near_possible;  ///< integers only: a word of bits per 64 entries
  bool any_near = true;                      ///< false: flags are always zero
  std::uint64_t low = 0, range = 0;          ///< floats: bits(2|d|) - low > range means suspect
};

/// Reads 64 * `words` consecutive samples and writes a word of `high` bits and one of `flags` (suspect) for
/// each 64. Returns the union of the flag words.
using BitKernel = std::uint64_t (*)(const void* samples, const BitTable& table, std::size_t table_word,
                                    std::size_t words, std::uint64_t* high, std::uint64_t* flags);

class BitReader {
 public:
  /// `levels` has one entry a channel of an interleaved map; a planar map takes one reader a class, each with
  /// one level.
  BitReader(ElementType type, SampleScale scale, std::span<const double> levels, Simd simd);

  int channels() const { return channels_; }
  /// `count` samples, from channel 0 of a pixel on; pixels * channels of them, or any number if one channel.
  /// Fills ceil(count / 64) words; bits after the end are zero. `first_word` is the word of the row, which is
  /// the position in the table.
  std::uint64_t read(const void* samples, std::size_t first_word, std::size_t count, std::uint64_t* high,
                     std::uint64_t* flags) const;
  /// Which of 64 (or fewer) samples are NaN.
  std::uint64_t nan_bits(const void* samples, std::size_t count) const;

 private:
  ElementType type_;
  int channels_;
  BitTable table_;
  BitKernel kernel_;
};

/// Splits the flat bits of 64 interleaved pixels (channels words) into one word a channel.
class Deinterleaver {
 public:
  Deinterleaver(int channels, Simd simd);
  void split(const std::uint64_t* flat, std::uint64_t* by_channel) const { split_(*this, flat, by_channel); }

  int channels() const { return channels_; }
  /// A word with bits phase, phase + channels, ... set.
  std::uint64_t pattern(int phase) const { return phase < 64 ? patterns_[phase] : 0; }

 private:
  using Split = void (*)(const Deinterleaver&, const std::uint64_t*, std::uint64_t*);
  int channels_;
  std::uint64_t patterns_[64] = {};
  Split split_;
};

}  // namespace contorno
