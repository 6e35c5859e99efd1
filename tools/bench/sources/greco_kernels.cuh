// L. V. Greco's kernels, written anew from sections 3, 5 and 6 of his document.
#pragma once

#include <cuda_runtime.h>

#include <climits>
#include <cstddef>
#include <cstdint>

namespace contorno::sources {
namespace {

constexpr unsigned kBlock = 256;  // local work size of most of his kernels
constexpr int kPatch = 8;         // side of a patch for closeness and distances
constexpr int kLargePatch = 64;   // for duplicates, whose blocks have 128 threads

/// Points as two arrays.
struct Apart {
  const int *x, *y;
  __device__ int2 operator()(std::uint64_t i) const { return make_int2(x[i], y[i]); }
};
/// Points as one array.
struct Together {
  const int2* points;
  __device__ int2 operator()(std::uint64_t i) const { return points[i]; }
};

__device__ int square_between(int2 a, int2 b) {
  return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y);
}

// Points under a brush
// ---------------------------------------------------------------------------------------

/// Four points a thread; x, y and flags have a whole number of quarters.
__global__ void brush_flags_by_four(int quarters, const int4* x, const int4* y, const int* brush_x,
                                    const int* brush_y, int brushed, int4* flags) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= quarters) return;
  const int4 own_x = x[at], own_y = y[at];
  int4 keep = make_int4(1, 1, 1, 1);
  for (int i = 0; i < brushed; ++i) {
    const int bx = brush_x[i], by = brush_y[i];
    keep.x &= own_x.x != bx || own_y.x != by;
    keep.y &= own_x.y != bx || own_y.y != by;
    keep.z &= own_x.z != bx || own_y.z != by;
    keep.w &= own_x.w != bx || own_y.w != by;
  }
  flags[at] = keep;
}

/// Two points, an int4, a thread.
__global__ void brush_flags_by_two(int halves, const int4* points, const int2* brush, int brushed,
                                   int2* flags) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= halves) return;
  const int4 own = points[at];
  int2 keep = make_int2(1, 1);
  for (int i = 0; i < brushed; ++i) {
    const int2 under = brush[i];
    keep.x &= own.x != under.x || own.y != under.y;
    keep.y &= own.z != under.x || own.w != under.y;
  }
  flags[at] = keep;
}

// Stream compaction
// ------------------------------------------------------------------------------------------

constexpr unsigned kGroups = 64;  // of his scan with a sliding window: each has a part of the array

/// Inclusive scan of a group's part, window after window.
__global__ void scan_parts(const int* flags, int* positions, int* sums, int count) {
  __shared__ int window[kBlock];
  const int part = (count + static_cast<int>(kGroups) - 1) / static_cast<int>(kGroups),
            first = static_cast<int>(blockIdx.x) * part;
  const int end = min(first + part, count), local = static_cast<int>(threadIdx.x);
  int before = 0;
  for (int begin = first; begin < end; begin += static_cast<int>(kBlock)) {
    window[local] = begin + local < end ? flags[begin + local] : 0;
    __syncthreads();
    for (int reach = 1; reach < static_cast<int>(kBlock); reach *= 2) {
      const int value = local >= reach ? window[local - reach] : 0;
      __syncthreads();
      window[local] += value;
      __syncthreads();
    }
    if (begin + local < end) positions[begin + local] = before + window[local];
    before += window[kBlock - 1];
    __syncthreads();
  }
  if (local == 0) sums[blockIdx.x] = before;
}

__global__ void add_sums(int* positions, const int* sums, int count) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int part = (count + static_cast<int>(kGroups) - 1) / static_cast<int>(kGroups);
  if (at >= count) return;
  int before = 0;
  for (int group = 0; group < at / part; ++group) before += sums[group];
  positions[at] += before;
}

__global__ void move_apart(const int* x, const int* y, int* out_x, int* out_y, const int* flags,
                           const int* positions, int count) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= count || flags[at] == 0) return;
  const int to = at == 0 ? 0 : positions[at - 1];
  out_x[to] = x[at], out_y[to] = y[at];
}

__global__ void move_together(const int2* points, int2* out, const int* flags, const int* positions,
                              int count) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= count || flags[at] == 0) return;
  out[at == 0 ? 0 : positions[at - 1]] = points[at];
}

// Small contours
// ---------------------------------------------------------------------------------------------

__global__ void size_flags(const int* sizes, int* flags, int contours, int least) {
  const int contour = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (contour < contours) flags[contour] = sizes[contour] >= least ? 1 : 0;
}

/// The contour of every point, found in the inclusive scan of the sizes.
__global__ void fill_afference(const int* ends, int contours, int* afference, int count) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= count) return;
  int first = 0, last = contours - 1;
  while (first < last) {
    const int middle = (first + last) / 2;
    if (at < ends[middle])
      last = middle;
    else
      first = middle + 1;
  }
  afference[at] = first;
}

__global__ void small_flags(const int* afference, const int* of_contours, int* flags, int count) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at < count) flags[at] = of_contours[afference[at]];
}

// Pairs of points
// --------------------------------------------------------------------------------------------

__global__ void fill_affiliation(const int* begins, int contours, int* affiliation) {
  const int contour = static_cast<int>(blockIdx.x);
  if (contour >= contours) return;
  for (int i = begins[contour] + static_cast<int>(threadIdx.x); i < begins[contour + 1];
       i += static_cast<int>(blockDim.x))
    affiliation[i] = contour;
}

/// Row and column of entry `at` of the upper triangle of a matrix of `side`, without its diagonal.
__device__ bool pair_of(std::uint64_t at, std::uint64_t side, std::uint64_t& row, std::uint64_t& col) {
  if (at >= side * (side - 1) / 2) return false;
  row = side - 2 -
        static_cast<std::uint64_t>(
            floor(sqrt(-8.0 * static_cast<double>(at) +
                       4.0 * static_cast<double>(side) * static_cast<double>(side - 1) - 7.0) /
                      2.0 -
                  0.5));
  // His formula, whose root is rounded: one row more or less for large matrices.
  const auto before = [side](std::uint64_t r) { return r * (2 * side - r - 1) / 2; };
  while (before(row + 1) <= at) ++row;
  while (before(row) > at) --row;
  col = at - before(row) + row + 1;
  return true;
}

/// A thread looks for an earlier point near each of its four.
__global__ void duplicate_flags_by_four(int quarters, const int4* x, const int4* y, int square, int4* flags) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= quarters) return;
  const int4 own_x = x[at], own_y = y[at];
  int4 keep = make_int4(1, 1, 1, 1);
  const auto test = [&](int px, int py, int own, int& flag, int i, int begin) {
    const int ox = own == 0 ? own_x.x : own == 1 ? own_x.y : own == 2 ? own_x.z : own_x.w;
    const int oy = own == 0 ? own_y.x : own == 1 ? own_y.y : own == 2 ? own_y.z : own_y.w;
    if (begin + i < 4 * at + own && (px - ox) * (px - ox) + (py - oy) * (py - oy) < square) flag = 0;
  };
  for (int i = 0; i <= at; ++i) {
    const int4 px = x[i], py = y[i];
    const int xs[4] = {px.x, px.y, px.z, px.w}, ys[4] = {py.x, py.y, py.z, py.w};
    for (int k = 0; k < 4; ++k) {
      test(xs[k], ys[k], 0, keep.x, k, 4 * i);
      test(xs[k], ys[k], 1, keep.y, k, 4 * i);
      test(xs[k], ys[k], 2, keep.z, k, 4 * i);
      test(xs[k], ys[k], 3, keep.w, k, 4 * i);
    }
  }
  flags[at] = keep;
}

__global__ void duplicate_flags(Together points, int count, int square, int* flags) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= count) return;
  const int2 own = points(static_cast<std::uint64_t>(at));
  int keep = 1;
  for (int i = 0; i < at; ++i)
    if (square_between(points(static_cast<std::uint64_t>(i)), own) < square) keep = 0;
  flags[at] = keep;
}

__global__ void fill(int* values, int count, int value) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at < count) values[at] = value;
}

/// The points of patch (row, col) of the matrix of pairs: calls pair(i, j) for i < j.
template <int kSide, class Pair>
__device__ void in_patch(int count, const Pair& pair) {
  const std::uint64_t side = static_cast<std::uint64_t>((count + kSide - 1) / kSide);
  const std::uint64_t at = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  std::uint64_t row = 0, col = 0;
  // With its diagonal, a triangle of `side` is one of side + 1 without.
  if (!pair_of(at, side + 1, row, col)) return;
  --col;
  const int first_i = static_cast<int>(row) * kSide, first_j = static_cast<int>(col) * kSide;
  for (int i = first_i; i < min(first_i + kSide, count); ++i)
    for (int j = max(first_j, i + 1); j < min(first_j + kSide, count); ++j) pair(i, j);
}

__global__ void duplicate_patches(Together points, int count, int square, int* flags) {
  in_patch<kLargePatch>(count, [&](int i, int j) {
    if (square_between(points(static_cast<std::uint64_t>(i)), points(static_cast<std::uint64_t>(j))) < square)
      flags[j] = 0;
  });
}

template <class Points>
__global__ void closeness(Points points, const int* affiliation, char* close, int count, int contours,
                          int square) {
  std::uint64_t i = 0, j = 0;
  if (!pair_of(std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x, static_cast<std::uint64_t>(count), i, j))
    return;
  const int a = affiliation[i], b = affiliation[j];
  if (a != b && square_between(points(i), points(j)) < square)
    close[static_cast<std::size_t>(a) * contours + b] = 1;
}

__global__ void closeness_patches(Together points, const int* affiliation, char* close, int count,
                                  int contours, int square) {
  in_patch<kPatch>(count, [&](int i, int j) {
    const int a = affiliation[i], b = affiliation[j];
    if (a != b &&
        square_between(points(static_cast<std::uint64_t>(i)), points(static_cast<std::uint64_t>(j))) < square)
      close[static_cast<std::size_t>(a) * contours + b] = 1;
  });
}

template <class Points>
__global__ void distances(Points points, const int* affiliation, int* least, int count, int contours) {
  std::uint64_t i = 0, j = 0;
  if (!pair_of(std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x, static_cast<std::uint64_t>(count), i, j))
    return;
  const int a = affiliation[i], b = affiliation[j];
  if (a != b)
    atomicMin(&least[static_cast<std::size_t>(a) * contours + b], square_between(points(i), points(j)));
}

/// The least of a patch goes to the matrix once for each pair of contours that follow each other in it.
__global__ void distance_patches(Together points, const int* affiliation, int* least, int count,
                                 int contours) {
  int a = -1, b = -1, found = INT_MAX;
  const auto give = [&] {
    if (a >= 0 && a != b) atomicMin(&least[static_cast<std::size_t>(a) * contours + b], found);
  };
  in_patch<kPatch>(count, [&](int i, int j) {
    if (affiliation[i] != a || affiliation[j] != b) {
      give();
      a = affiliation[i], b = affiliation[j], found = INT_MAX;
    }
    found = min(found,
                square_between(points(static_cast<std::uint64_t>(i)), points(static_cast<std::uint64_t>(j))));
  });
  give();
}

// Merged contours
// --------------------------------------------------------------------------------------------

/// Where point `at` goes, when the contours of a group follow each other.
__device__ int place_of(int at, const int* affiliation, const int* begins, const int* places) {
  const int contour = affiliation[at];
  return places[contour] + at - begins[contour];
}

__global__ void realign_apart(Apart points, int* out_x, int* out_y, const int* affiliation, const int* begins,
                              const int* places, int count) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= count) return;
  const int to = place_of(at, affiliation, begins, places);
  out_x[to] = points.x[at], out_y[to] = points.y[at];
}

__global__ void realign_together(Together points, int2* out, const int* affiliation, const int* begins,
                                 const int* places, int count) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= count) return;
  out[place_of(at, affiliation, begins, places)] = points.points[at];
}

}  // namespace
}  // namespace contorno::sources
