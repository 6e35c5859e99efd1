// The kernels of largest_first. Then PairSort sorts the keys: how many contours there are is known to the
// device alone, so it sorts the whole capacity, and what is unused comes last. ContourOrder comes behind it.
//
//   clear_keys  of what is unused, the last key
//   (SizeKeys)  class and size of every contour as one key, by teams
//   (sort)      stable, so that contours of one size keep their order
#pragma once

#include "geometry/ascending.h"
#include "geometry/contour_size.h"
#include "stages/contour_prep/largest_first/stage.h"
#include "stages/contour_prep/shared/arrays.h"
#include "stages/contour_prep/shared/contour_teams.cuh"

namespace contorno::largest_first_cuda {

/// Arrays with an element a contour of the capacity.
struct Arrays {
  unsigned long long *keys = nullptr, *sorted_keys = nullptr;
  unsigned *contours = nullptr, *sorted = nullptr;  ///< numbers of contours, in the order of the keys

  void arrays(ArrayTaker& take, const ContoursFormat& format) {
    for (auto** one : {&keys, &sorted_keys}) take(*one, format.contour_capacity);
    for (auto** one : {&contours, &sorted}) take(*one, format.contour_capacity);
  }
};

__global__ void __launch_bounds__(kArrayThreads)
    clear_keys(const __grid_constant__ Arrays arrays, unsigned capacity) {
  for (unsigned i = global_thread(); i < capacity; i += all_threads())
    arrays.contours[i] = i, arrays.keys[i] = ~0ULL;
}

/// For TeamLaunch.
struct SizeKeys {
  static constexpr ContourTeams kTeams = kLargeBlocks;
  static constexpr std::size_t kRoom = 0;
  ContoursView in;
  ContourSize by = ContourSize::Area;
  unsigned long long* keys = nullptr;

  template <class Team>
  __device__ void operator()(const Team& team, unsigned contour) const {
    constexpr unsigned long long kMost = (1ULL << kSizeBits) - 1;
    const unsigned long long size = size_in_units(team, by, in, contour);
    const unsigned long long one = part_of(in.class_begin, static_cast<unsigned>(in.format.classes), contour);
    if (team.is_first()) keys[contour] = one << kSizeBits | (kMost - size);
  }
};

}  // namespace contorno::largest_first_cuda
