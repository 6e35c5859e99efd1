// The kernels of what steps give (outputs.h).
#pragma once

#include "geometry/ascending.h"
#include "geometry/own_points.h"
#include "stages/contour_prep/shared/outputs.h"
#include "stages/contour_prep/shared/placement.cuh"

// The kernels of ContourOrder and DeviceChoice.
//
//   measure_first   the words of the first contours of each class of an order
//   measure_chosen  the words of the contours that were chosen
//   write_whole     the contours; `starts` as of gather_contours

namespace contorno::contour_order_cuda {

__global__ void __launch_bounds__(kArrayThreads)
    measure_first(const __grid_constant__ PlacementView placement, unsigned limit) {
  const ContoursView& in = placement.in;
  measure_contours(placement, [&](unsigned i) {
    const unsigned k = part_of(in.class_begin, static_cast<unsigned>(in.format.classes), i);
    return i - in.class_begin[k] < limit ? contour_word(points_of(in, placement.order[i])) : 0ULL;
  });
}

/// `chosen`: a flag for each contour.
__global__ void __launch_bounds__(kArrayThreads)
    measure_chosen(const __grid_constant__ PlacementView placement, const std::uint8_t* chosen) {
  measure_contours(placement, [&](unsigned i) {
    return chosen[i] != 0 ? contour_word(points_of(placement.in, i)) : 0ULL;
  });
}

/// The contour, by its place in the order, to which a point of the output belongs: the last one that begins
/// there or before. Those that give nothing begin where the next one does.
__device__ inline unsigned place_of(const SumsBefore& sums, unsigned contours, unsigned point) {
  unsigned low = 0, high = contours;
  while (high - low > 1) {
    const unsigned middle = low + (high - low) / 2;
    (points_in(sums[middle]) <= point ? low : high) = middle;
  }
  return low;
}

__global__ void __launch_bounds__(kArrayThreads)
    write_whole(const __grid_constant__ PlacementView placement, const unsigned* starts) {
  const ContoursView& in = placement.in;
  const SumsBefore sums(placement.sums, block_shared<RangeShared>());
  place_contours(placement, sums, [&](unsigned contour) { return in.closed[contour] != 0; });
  const unsigned contours = contours_of(in), points = points_in(sums[contours]);
  for (unsigned long long point = global_thread(); point < points; point += all_threads()) {
    const auto i = static_cast<unsigned>(point);
    const unsigned place = place_of(sums, contours, i), k = i - points_in(sums[place]);
    const unsigned contour = placement.order != nullptr ? placement.order[place] : place;
    const unsigned from =
        starts == nullptr ? k
                          : drawn_point(points_of(in, contour), in.closed[contour] != 0, starts[contour], k);
    placement.out.points[i] = in.points[in.offsets[contour] + from];
  }
}

}  // namespace contorno::contour_order_cuda

// The kernels of DeviceSelection.
//
//   count_kept    which of every 32 points are kept, and how many before
//   measure_kept  what is stored of every contour, as a word
//   write_kept    the contours

namespace contorno::point_selection_cuda {

/// One launch's arguments.
struct Job {
  PlacementView placement;
  const std::uint8_t* keep = nullptr;  ///< a stored point; 0 or 1
  // For every 32 points of the capacity, and for one more:
  unsigned* kept = nullptr;  ///< which are kept, as bits; of repeated points without meaning
  RangeSumsView before;      ///< how many
};

/// What a block shares.
struct Shared {
  RangeShared points, contours;
};

/// The flags of 32 points as bits.
__device__ inline unsigned kept_in(const std::uint8_t* keep, unsigned chunk, unsigned long long points) {
  constexpr unsigned kWords = 8;
  const unsigned long long first = 32ULL * chunk;
  unsigned kept = 0;
  if (first + 32 <= points) {
    const auto* flags = reinterpret_cast<const unsigned*>(keep + first);
    // Brings the lowest bits of the four bytes together, from bit 24 on.
    for (unsigned k = 0; k < kWords; ++k)
      kept |= ((flags[k] & 0x01010101U) * 0x01020408U >> 24 & 15U) << 4 * k;
  } else {
    for (unsigned k = 0; first + k < points; ++k) kept |= (keep[first + k] & 1U) << k;
  }
  return kept;
}

__global__ void __launch_bounds__(kArrayThreads) count_kept(const __grid_constant__ Job job) {
  const ContoursView& in = job.placement.in;
  const unsigned long long points = in.fits() ? in.counts->points : 0;
  write_sums(job.before, block_shared<RangeShared>(), [&](unsigned chunk) {
    const unsigned kept = kept_in(job.keep, chunk, points);
    job.kept[chunk] = kept;
    return static_cast<unsigned long long>(__popc(kept));
  });
}

/// How many points are kept before others.
struct Ranks {
  const Job& job;
  const SumsBefore& before;

  /// Before point i, repeated ones among them; i is a point or the end of the last one.
  __device__ unsigned of_point(unsigned i) const {
    return static_cast<unsigned>(before[i / 32]) +
           static_cast<unsigned>(__popc(job.kept[i / 32] & ((1U << i % 32) - 1)));
  }
  /// The own points of a contour that are kept.
  __device__ unsigned kept_of(unsigned contour) const {
    const OwnPoints own(job.placement.in, contour);
    return of_point(own.end) - of_point(own.begin);
  }
};

__global__ void __launch_bounds__(kArrayThreads) measure_kept(const __grid_constant__ Job job) {
  const ContoursView& in = job.placement.in;
  const SumsBefore before(job.before, block_shared<RangeShared>());
  const Ranks ranks{job, before};
  measure_contours(job.placement, [&](unsigned i) {
    const unsigned kept = ranks.kept_of(i);
    return kept > 0 ? contour_word(stored_points(points_of(in, i), in.closed[i] != 0, kept)) : 0ULL;
  });
}

__global__ void __launch_bounds__(kArrayThreads) write_kept(const __grid_constant__ Job job) {
  const ContoursView& in = job.placement.in;
  auto& shared = block_shared<Shared>();
  const SumsBefore before(job.before, shared.points), sums(job.placement.sums, shared.contours);
  const Ranks ranks{job, before};
  place_contours(job.placement, sums, [&](unsigned contour) {
    return stays_closed(points_of(in, contour), in.closed[contour] != 0, ranks.kept_of(contour));
  });
  const unsigned contours = contours_of(in);
  const unsigned long long points = contours > 0 ? in.counts->points : 0;
  for (unsigned long long point = global_thread(); point < points; point += all_threads()) {
    const auto i = static_cast<unsigned>(point);
    if ((job.kept[i / 32] >> i % 32 & 1) == 0) continue;
    const unsigned contour = part_of(in.offsets, contours, i);
    const OwnPoints own(in, contour);
    if (i >= own.end) continue;
    const unsigned at = points_in(sums[contour]);
    const unsigned order = ranks.of_point(i) - ranks.of_point(own.begin), kept = ranks.kept_of(contour);
    job.placement.out.points[at + order] = in.points[i];
    if (order == 0 && stored_points(points_of(in, contour), own.closed, kept) > kept)
      job.placement.out.points[at + kept] = in.points[i];
  }
}

}  // namespace contorno::point_selection_cuda
