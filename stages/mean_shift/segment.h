// Mean shift segmentation: divides an image into regions of like colour. Every pixel climbs as in the filter.
// Neighbours (left, right, above, below) whose climbs ended near each other in place and colour are in one
// region. Then regions that are too small join the neighbouring region that is nearest in colour.
// docs/reference/mean-shift.md has the mathematics.
//
// Input: an image, uint8: grey, RGB or RGBA, interleaved; at most 2^24 pixels.
//
// Output: "image": as the input, every region in the mean colour of its pixels. "labels": float32, one
// channel: the number of the region; regions are numbered from 0 by their first pixels, row by row. Numbers
// are whole and exact in float32.
//
// Memory: about 50 bytes a pixel.
//
// Both backends give the same bits, because regions are sets of pixels, their numbers are minima, sums are of
// whole numbers, and RegionMeans runs on both.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>

#include "stages/mean_shift/image.h"

namespace contorno {

struct MeanShiftSegmentParams : MeanShiftWindowParams {
  int min_region = 20;
};

inline constexpr std::int64_t kMaxSegmentPixels = std::int64_t{1} << 24;

/// Sums over the pixels of a region: of the components, and of the image's channels. With at most
/// kMaxSegmentPixels no sum exceeds 32 bits.
struct RegionSums {
  std::uint32_t count = 0;
  std::uint32_t place[3] = {0, 0, 0};
  std::uint32_t colour[3] = {0, 0, 0};
};

/// Where a pixel's climb ended, in 8 bytes: x | y << 16, and the components as ShiftColours::place has them.
struct PackedEnd {
  std::uint32_t position = 0, place = 0;

  CONTORNO_HD static PackedEnd of(const ShiftState& state) {
    return {static_cast<std::uint32_t>(state.x) | static_cast<std::uint32_t>(state.y) << 16U,
            static_cast<std::uint32_t>(state.c[0]) | static_cast<std::uint32_t>(state.c[1]) << 8U |
                static_cast<std::uint32_t>(state.c[2]) << 16U};
  }
  /// Whether two neighbouring pixels whose climbs ended at a and b are in one region.
  CONTORNO_HD static bool joined(const PackedEnd& a, const PackedEnd& b, const MeanShiftWindow& window) {
    const int dx = static_cast<int>(a.position & 0xffffU) - static_cast<int>(b.position & 0xffffU);
    const int dy = static_cast<int>(a.position >> 16U) - static_cast<int>(b.position >> 16U);
    if (dx > window.spatial || -dx > window.spatial || dy > window.spatial || -dy > window.spatial)
      return false;
    if (squared(dx) + squared(dy) > squared(window.spatial)) return false;
    int colour = 0;
    for (unsigned k = 0; k < 24; k += 8)
      colour += squared(static_cast<int>(a.place >> k & 255U) - static_cast<int>(b.place >> k & 255U));
    return colour <= window.limit;
  }
};

/// What follows from the sums of regions.
struct RegionMeans {
  /// The order of a region's neighbours: by the distance of their mean components, then by label. The least
  /// key is the one that it joins.
  CONTORNO_HD static std::uint64_t key(const RegionSums& own, const RegionSums& other,
                                       std::uint32_t other_label) {
    float square = 0;
    for (int k = 0; k < 3; ++k) {
      const float away = static_cast<float>(own.place[k]) / static_cast<float>(own.count) -
                         static_cast<float>(other.place[k]) / static_cast<float>(other.count);
      square = square + away * away;
    }
    // Floats that are not negative are in the order of their bits.
    return static_cast<std::uint64_t>(std::bit_cast<std::uint32_t>(square)) << 32U | other_label;
  }
  /// Mean of channel k, rounded to the nearest, halves up.
  CONTORNO_HD static std::uint8_t colour(const RegionSums& sums, int k) {
    const std::uint64_t twice = 2 * static_cast<std::uint64_t>(sums.colour[k]) + sums.count;
    return static_cast<std::uint8_t>(twice / (2 * static_cast<std::uint64_t>(sums.count)));
  }
};

/// The key of a region that has no neighbour.
inline constexpr std::uint64_t kNoNeighbour = ~std::uint64_t{0};

/// The CUDA implementation; only in builds that have CUDA.
std::unique_ptr<Stage> make_mean_shift_segment_cuda(const ParamSet& params);

/// Throws Error(BadConfig) for an image of too many pixels.
MeanShiftImagePlan make_mean_shift_segment_plan(const MeanShiftSegmentParams& params, const ImageFormat& in);

const StageType& mean_shift_segment_stage();

}  // namespace contorno
