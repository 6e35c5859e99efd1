// Fills a crossings block from a map, in parallel over strips of rows. Every sample is read once. The marker
// is made once per format (levels, tables); mark() is const, allocates nothing and gives the same bits for
// any number of threads and any instruction set.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "stages/contours/cpu/crossings.h"
#include "stages/contours/cpu/sample_bits.h"

namespace contorno {

class SampleMarker {
 public:
  /// More interleaved channels than this are refused with Error(BadConfig).
  static constexpr int kMaxInterleaved = 1024;

  /// One level a channel of `format`.
  SampleMarker(const ImageFormat& format, std::span<const double> levels, SampleScale scale,
               Simd simd = best_simd());

  /// `block` has crossings_bytes(map.format).
  void mark(const ImageView& map, void* block, int threads) const;

 private:
  void mark_planar_row(const ImageView& map, const PlaneBits& plane, int channel, int row) const;
  void mark_interleaved_row(const ImageView& map, void* block, int row) const;

  std::vector<BitReader> readers_;  ///< planar: one a class; interleaved: one for all
  std::optional<Deinterleaver> split_;
};

/// Makes samples unusable where `mask` (8-bit, one channel, the size of the plane) is zero.
void apply_mask(const ImageView& mask, const PlaneBits& plane, int threads);

}  // namespace contorno
