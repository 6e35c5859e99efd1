// The climb of mean shift of points on the device: a warp a point, with lane l for partial sum l (tree.h). A
// point climbs by itself until it rests, so no thread waits for others and the host is not asked. With the
// Frobenius rule all points make each step together, in one cooperative launch.
#pragma once

#include <bit>

#include "cuda/sums.cuh"
#include "stages/mean_shift/grid.cuh"
#include "stages/mean_shift/tree.h"
#include "stages/mean_shift/weight.h"

namespace contorno::mean_shift_cuda {

inline constexpr unsigned kWarps = 2;      // of a block; fewer where sums of many dimensions fill its memory
inline constexpr unsigned kNormWarps = 8;  // of a block of climb_together
inline constexpr int kNormSums = 1024;     // partial sums, as in sum_of_squares

/// What a climb returns beside the ends; cleared before the launch.
struct Control {
  int iterations = 0;
  int unfinished = 0;
  unsigned long long squared = 0;  ///< bits of the longest squared step as a double, or of the norm's square
  unsigned arrived = 0;            ///< blocks at the barrier
};

template <class T>
struct Job {
  MeanShiftTreeView<T> tree;
  MeanShiftRule<T> rule;
  const int* order = nullptr;  ///< point at each position of the tree
  T* ends = nullptr;           ///< count x dims, by point
  int count = 0;
  unsigned warps = kWarps;    ///< of a block
  double* squares = nullptr;  ///< last squared step of each point; only for climb_together
  Control* control = nullptr;
};

template <class T>
__device__ __forceinline__ T weight(T d2, const MeanShiftRule<T>& rule) {
  using Bits = typename Exp2<T>::Bits;
  T w = T(1);
  if (rule.kernel == MeanShiftKernel::Gaussian)
    w = weight_of<T, MeanShiftKernel::Gaussian, T, Bits>(d2, rule.scale);
  else if (rule.kernel == MeanShiftKernel::Epanechnikov)
    w = weight_of<T, MeanShiftKernel::Epanechnikov, T, Bits>(d2, rule.scale);
  return d2 < rule.limit ? w : T(0);
}

/// One bit for each of a node's 32 children: whether its box comes nearer to y than the root of `limit`.
template <class T, int kDims>
__device__ __forceinline__ unsigned near_children(const T* node, int dims, const T* y, T limit,
                                                  unsigned lane) {
  T d2 = T(0);
  const auto add = [&](int k) {
    const T below = node[k * 2 * kShiftLanes + lane] - y[k],
            above = y[k] - node[(k * 2 + 1) * kShiftLanes + lane];
    const T outside = below > above ? below : above;
    const T gap = outside > T(0) ? outside : T(0);
    d2 = d2 + gap * gap;
  };
  if constexpr (kDims > 0) {
#pragma unroll
    for (int k = 0; k < kDims; ++k)
      if (k < dims) add(k);
  } else {
    for (int k = 0; k < dims; ++k) add(k);
  }
  return __ballot_sync(~0U, d2 < limit);
}

/// Calls f(leaf) for every leaf that may have points with weight, ascending.
template <class T, int kDims, class F>
__device__ __forceinline__ void for_near_leaves(const MeanShiftTreeView<T>& tree, const T* y, T limit,
                                                unsigned lane, const F& f) {
  int node[kShiftLevels];
  unsigned near[kShiftLevels];
  int level = tree.levels - 1;
  node[level] = 0;
  near[level] = near_children<T, kDims>(tree.node(level, 0), tree.dims, y, limit, lane);
  for (;;) {
    if (near[level] == 0) {
      if (++level == tree.levels) return;
      continue;
    }
    const int child = node[level] * kShiftLanes + __ffs(static_cast<int>(near[level])) - 1;
    near[level] &= near[level] - 1;
    if (level == 0) {
      f(tree.leaf(child));
    } else {
      --level;
      node[level] = child;
      near[level] = near_children<T, kDims>(tree.node(level, child), tree.dims, y, limit, lane);
    }
  }
}

/// Moves y by one step. `sums` is kDims values in registers or, if kDims is 0, dims x 32 values in shared
/// memory. All lanes return the squared length of the step.
template <class T, int kDims>
__device__ __forceinline__ T step(const Job<T>& job, T* y, T* sums, unsigned lane) {
  const int dims = job.tree.dims;
  T total = T(0);
  if constexpr (kDims > 0) {
#pragma unroll
    for (int k = 0; k < kDims; ++k) sums[k] = T(0);
    for_near_leaves<T, kDims>(job.tree, y, job.rule.limit, lane, [&](const T* leaf) {
      T away[kDims], d2 = T(0);
#pragma unroll
      for (int k = 0; k < kDims; ++k) {
        away[k] = k < dims ? leaf[k * kShiftLanes + lane] - y[k] : T(0);
        d2 = d2 + away[k] * away[k];
      }
      const T w = weight(d2, job.rule);
      total = total + w;
#pragma unroll
      for (int k = 0; k < kDims; ++k) sums[k] = sums[k] + w * away[k];
    });
  } else {
    for (int k = 0; k < dims; ++k) sums[k * kShiftLanes + lane] = T(0);
    for_near_leaves<T, kDims>(job.tree, y, job.rule.limit, lane, [&](const T* leaf) {
      T d2 = T(0);
      for (int k = 0; k < dims; ++k) {
        const T away = leaf[k * kShiftLanes + lane] - y[k];
        d2 = d2 + away * away;
      }
      if (__ballot_sync(~0U, d2 < job.rule.limit) == 0) return;
      const T w = weight(d2, job.rule);
      total = total + w;
      for (int k = 0; k < dims; ++k) {
        T* sum = sums + k * kShiftLanes + lane;
        *sum = *sum + w * (leaf[k * kShiftLanes + lane] - y[k]);
      }
    });
  }
  total = sum_of_warp(total);
  T squared = T(0);
  if constexpr (kDims > 0) {
#pragma unroll
    for (int k = 0; k < kDims; ++k) {
      const T sum = sum_of_warp(sums[k]);
      const T by = total > T(0) ? sum / total : T(0);
      if (k < dims) y[k] = y[k] + by;
      squared = squared + by * by;  // dimensions that are not there add nothing
    }
  } else {
    for (int k = 0; k < dims; ++k) {
      const T sum = sum_of_warp(sums[k * kShiftLanes + lane]);
      const T by = total > T(0) ? sum / total : T(0);
      const T moved = y[k] + by;
      __syncwarp();  // all have read it
      if (lane == 0) y[k] = moved;
      __syncwarp();
      squared = squared + by * by;
    }
  }
  return squared;
}

/// Where a warp keeps y and the sums: in registers for up to kDims dimensions, in shared memory if kDims is
/// 0.
template <class T, int kDims>
struct Local {
  T y_registers[kDims > 0 ? kDims : 1], sum_registers[kDims > 0 ? kDims : 1];
  T* y;
  T* sums;

  __device__ Local(T* shared, int dims) {
    if constexpr (kDims > 0) {
      y = y_registers, sums = sum_registers;
    } else {
      y = shared + static_cast<int>(threadIdx.x / 32) * dims * (kShiftLanes + 1);
      sums = y + dims;
    }
  }
  /// Loads y from coordinates that lie `step` values apart.
  __device__ __forceinline__ void load(const T* from, int step, int dims, unsigned lane) {
    if constexpr (kDims > 0) {
#pragma unroll
      for (int k = 0; k < kDims; ++k) y_registers[k] = k < dims ? from[k * step] : T(0);
    } else {
      __syncwarp();
      for (int k = static_cast<int>(lane); k < dims; k += 32) y[k] = from[k * step];
      __syncwarp();
    }
  }
  /// Loads the point at a position of the tree.
  __device__ __forceinline__ void load_point(const MeanShiftTreeView<T>& tree, int position, unsigned lane) {
    load(tree.leaf(position / kShiftLanes) + position % kShiftLanes, kShiftLanes, tree.dims, lane);
  }
  __device__ __forceinline__ void store(T* to, int dims, unsigned lane) const {
    if constexpr (kDims > 0) {
#pragma unroll
      for (int k = 0; k < kDims; ++k)
        if (k < dims && lane == static_cast<unsigned>(k)) to[k] = y_registers[k];
    } else {
      for (int k = static_cast<int>(lane); k < dims; k += 32) to[k] = y[k];
    }
  }
};

template <class T, int kDims>
__global__ void __launch_bounds__(32 * kWarps) climb_points(const Job<T> job) {
  const unsigned lane = threadIdx.x % 32;
  const auto warp = static_cast<int>(blockIdx.x * job.warps + threadIdx.x / 32);
  if (warp >= job.count) return;
  const int dims = job.tree.dims;
  Local<T, kDims> local(&block_shared<T>(), dims);
  local.load_point(job.tree, warp, lane);
  T squared = T(0);
  int steps = 0;
  bool arrived = false;
  while (!arrived && steps < job.rule.most) {
    squared = step<T, kDims>(job, local.y, local.sums, lane);
    ++steps;
    arrived = squared < job.rule.stop || squared == T(0);
  }
  local.store(job.ends + static_cast<std::ptrdiff_t>(job.order[warp]) * dims, dims, lane);
  if (lane != 0) return;
  atomicMax(&job.control->iterations, steps);
  // Squares are not negative, so their bits are in order.
  atomicMax(&job.control->squared, std::bit_cast<unsigned long long>(static_cast<double>(squared)));
  if (!arrived) atomicOr(&job.control->unfinished, 1);
}

/// Adds the squares in the order of sum_of_squares, by one block; `lanes` is its shared memory.
__device__ inline void sum_norm(const double* squares, int count, int threads, double* lanes,
                                unsigned long long* result) {
  for (int lane = static_cast<int>(threadIdx.x); lane < kNormSums; lane += threads) {
    double sum = 0;
    for (int i = lane; i < count; i += kNormSums) sum = sum + __ldcg(squares + i);
    lanes[lane] = sum;
  }
  __syncthreads();
  for (int half = kNormSums / 2; half > 0; half /= 2) {
    for (int lane = static_cast<int>(threadIdx.x); lane < half; lane += threads)
      lanes[lane] = lanes[lane] + lanes[lane + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) *result = std::bit_cast<unsigned long long>(lanes[0]);
}

/// All points climb together, step by step. Dynamic shared memory: kNormSums doubles and, if kDims is 0, y
/// and sums of each warp.
template <class T, int kDims>
__global__ void __launch_bounds__(32 * kNormWarps) climb_together(const Job<T> job) {
  const unsigned lane = threadIdx.x % 32;
  const int dims = job.tree.dims;
  const auto warps = static_cast<int>(gridDim.x * job.warps);
  unsigned target = 0;
  double* lanes = &block_shared<double>();
  Local<T, kDims> local(reinterpret_cast<T*>(lanes + kNormSums), dims);
  for (int steps = 1;; ++steps) {
    for (int i = static_cast<int>(blockIdx.x * job.warps + threadIdx.x / 32); i < job.count; i += warps) {
      const int point = job.order[i];
      T* end = job.ends + static_cast<std::ptrdiff_t>(point) * dims;
      if (steps > 1 && job.squares[point] == 0) continue;
      if (steps == 1)
        local.load_point(job.tree, i, lane);
      else
        local.load(end, 1, dims, lane);
      const T squared = step<T, kDims>(job, local.y, local.sums, lane);
      local.store(end, dims, lane);
      if (lane == 0) job.squares[point] = static_cast<double>(squared);
      __syncwarp();
    }
    meet(&job.control->arrived, target);
    if (blockIdx.x == 0)
      sum_norm(job.squares, job.count, static_cast<int>(32 * job.warps), lanes, &job.control->squared);
    meet(&job.control->arrived, target);
    const double norm = std::bit_cast<double>(load_acquire(&job.control->squared));
    const bool arrived = norm < static_cast<double>(job.rule.stop);
    if (!arrived && steps < job.rule.most) continue;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      job.control->iterations = steps;
      job.control->unfinished = arrived ? 0 : 1;
    }
    return;
  }
}

/// Converts value i of the ends, which are count x dims, to the points' units, as MeanShiftFrame::from_tree
/// does.
template <class T>
struct LeaveTree {
  const T* ends;
  const double* centre;
  double unit;
  unsigned dims;
  double* points;

  CONTORNO_HD void operator()(std::uint64_t i) const {
    points[i] = centre[i % dims] + static_cast<double>(ends[i]) * unit;
  }
};

}  // namespace contorno::mean_shift_cuda
