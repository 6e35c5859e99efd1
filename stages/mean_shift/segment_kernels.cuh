// From the ends of the climbs to regions, in one cooperative launch. Until the end, a region is named by its
// first pixel; a union keeps the smaller name, so names do not depend on the order of unions, and sums are of
// whole numbers. Small regions join their nearest neighbours in rounds, until the device finds that none is
// left.
#pragma once

#include "cuda/sums.cuh"
#include "stages/mean_shift/filter_kernels.cuh"
#include "stages/mean_shift/grid.cuh"

namespace contorno::mean_shift_cuda {

inline constexpr unsigned kRegionThreads = 256;

/// Cleared before every launch.
struct RegionControl {
  unsigned arrived = 0;
  unsigned small[2] = {0, 0};    ///< regions that are too small, in even and odd rounds
  unsigned regions[2] = {0, 0};  ///< all regions, likewise
};

struct RegionJob {
  ImageJob image;
  unsigned min_region = 1;
  unsigned pixels = 0;
  const PackedEnd* ends = nullptr;
  unsigned* parent = nullptr;             ///< union-find: a pixel of the same region, or itself
  unsigned* root = nullptr;               ///< first pixel of a pixel's region
  RegionSums* sums = nullptr;             ///< sums over each region, at its first pixel
  unsigned long long* nearest = nullptr;  ///< at first pixels: the region to join; at the end the label
  unsigned* block_counts = nullptr;       ///< regions that begin in a block's part
  RegionControl* control = nullptr;
  float* labels = nullptr;
  std::ptrdiff_t labels_pitch = 0;  ///< bytes
};

/// The first pixel of the region of pixel `one`.
__device__ __forceinline__ unsigned find(const unsigned* parent, unsigned one) {
  for (unsigned up = __ldcg(parent + one); up != one; up = __ldcg(parent + one)) one = up;
  return one;
}

/// Makes one region of those of a and b. Safe while other threads do the same.
__device__ inline void unite(unsigned* parent, unsigned a, unsigned b) {
  for (;;) {
    a = find(parent, a), b = find(parent, b);
    if (a == b) return;
    const unsigned high = a > b ? a : b, low = a > b ? b : a;
    const unsigned before = atomicMin(parent + high, low);
    if (before == high) return;
    a = before, b = low;
  }
}

/// Adds the pixels of a warp to the sums of their regions; one lane adds for all if they are in one region,
/// as they mostly are.
__device__ inline void add_pixels(const RegionJob& job, bool there, unsigned pixel, unsigned root,
                                  unsigned lane) {
  const auto width = static_cast<unsigned>(job.image.window.width);
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(pixel / width) * job.image.stride +
                            static_cast<std::ptrdiff_t>(pixel % width);
  // Without the lowest byte, which is 1.
  const unsigned place = there ? job.image.places[at] >> 8U : 0U,
                 value = there ? job.image.values[at] >> 8U : 0U;
  const unsigned first = __shfl_sync(~0U, root, 0);
  if (__ballot_sync(~0U, there && root == first) == ~0U) {
    const unsigned sums[6] = {sum_of_warp(place & 255U),        sum_of_warp(place >> 8U & 255U),
                              sum_of_warp(place >> 16U & 255U), sum_of_warp(value & 255U),
                              sum_of_warp(value >> 8U & 255U),  sum_of_warp(value >> 16U & 255U)};
    if (lane != 0) return;
    RegionSums& into = job.sums[root];
    atomicAdd(&into.count, 32U);
    for (int k = 0; k < 3; ++k) atomicAdd(&into.place[k], sums[k]), atomicAdd(&into.colour[k], sums[3 + k]);
  } else if (there) {
    RegionSums& into = job.sums[root];
    atomicAdd(&into.count, 1U);
    for (unsigned k = 0; k < 3; ++k) {
      atomicAdd(&into.place[k], place >> (8U * k) & 255U);
      atomicAdd(&into.colour[k], value >> (8U * k) & 255U);
    }
  }
}

/// Offers region `other` to region `to`, if that is too small, as one to join.
__device__ inline void offer(const RegionJob& job, unsigned to, unsigned other) {
  if (job.sums[to].count >= job.min_region) return;
  atomicMin(job.nearest + to,
            static_cast<unsigned long long>(RegionMeans::key(job.sums[to], job.sums[other], other)));
}

/// Distributes the pixels over the threads of the whole grid.
struct PixelWalk {
  unsigned pixels, first, step;
  __device__ explicit PixelWalk(const RegionJob& job)
      : pixels(job.pixels),
        first(blockIdx.x * kRegionThreads + threadIdx.x),
        step(gridDim.x * kRegionThreads) {}
  template <class F>
  __device__ void each(const F& f) const {
    for (unsigned i = first; i < pixels; i += step) f(i);
  }
  /// f(pixel, whether there is one), with all lanes of a warp together.
  template <class F>
  __device__ void warps(const F& f) const {
    for (unsigned i = first; i - threadIdx.x % 32 < pixels; i += step) f(i, i < pixels);
  }
  template <class F>
  __device__ void neighbours(unsigned width, const F& f) const {
    each([&](unsigned i) {
      if (i % width + 1 < width) f(i, i + 1);
      if (i + width < pixels) f(i, i + width);
    });
  }
};

/// Every region that is too small joins its nearest neighbour. False if there is none to join, and nothing
/// was done.
__device__ inline bool merge_round(const RegionJob& job, const PixelWalk& walk, unsigned round,
                                   unsigned& target) {
  RegionControl& control = *job.control;
  walk.each([&](unsigned i) {
    if (job.root[i] != i) return;
    job.parent[i] = i;
    job.nearest[i] = kNoNeighbour;
    atomicAdd(&control.regions[round % 2], 1U);
    if (job.sums[i].count < job.min_region) atomicAdd(&control.small[round % 2], 1U);
  });
  meet(&control.arrived, target);
  if (load_acquire(&control.small[round % 2]) == 0 || load_acquire(&control.regions[round % 2]) < 2)
    return false;
  if (walk.first == 0) control.small[(round + 1) % 2] = control.regions[(round + 1) % 2] = 0;
  walk.neighbours(static_cast<unsigned>(job.image.window.width), [&](unsigned a, unsigned b) {
    const unsigned first = job.root[a], second = job.root[b];
    if (first == second) return;
    offer(job, first, second);
    offer(job, second, first);
  });
  meet(&control.arrived, target);
  walk.each([&](unsigned i) {
    if (job.root[i] == i && job.nearest[i] != kNoNeighbour)
      unite(job.parent, i, static_cast<unsigned>(job.nearest[i]));
  });
  meet(&control.arrived, target);
  walk.each([&](unsigned i) {
    const unsigned old = job.root[i], now = find(job.parent, old);
    job.root[i] = now;
    if (old != i || now == i) return;
    const RegionSums from = job.sums[i];
    RegionSums& into = job.sums[now];
    atomicAdd(&into.count, from.count);
    for (int k = 0; k < 3; ++k)
      atomicAdd(&into.place[k], from.place[k]), atomicAdd(&into.colour[k], from.colour[k]);
  });
  meet(&control.arrived, target);
  return true;
}

/// Numbers the regions by the order of their first pixels, in `nearest`. Each block numbers a part of the
/// image.
__device__ inline void number_regions(const RegionJob& job, unsigned& target) {
  unsigned* warp_counts = &block_shared<unsigned>();
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned chunks = (job.pixels + kRegionThreads - 1) / kRegionThreads;
  const unsigned begin =
      static_cast<unsigned>(static_cast<unsigned long long>(chunks) * blockIdx.x / gridDim.x);
  const unsigned end =
      static_cast<unsigned>(static_cast<unsigned long long>(chunks) * (blockIdx.x + 1) / gridDim.x);
  const auto begins = [&](unsigned i) { return i < job.pixels && job.root[i] == i; };
  // Rank of this thread's pixel among those of the block that begin a region; the count of all of them.
  const auto rank = [&](bool yes, unsigned& total) {
    const unsigned bits = __ballot_sync(~0U, yes);
    __syncthreads();  // counts of the last chunk have been read
    if (lane == 0) warp_counts[warp] = static_cast<unsigned>(__popc(bits));
    __syncthreads();
    unsigned before = static_cast<unsigned>(__popc(bits & ((1U << lane) - 1U)));
    total = 0;
    for (unsigned w = 0; w < kRegionThreads / 32; ++w) {
      if (w < warp) before += warp_counts[w];
      total += warp_counts[w];
    }
    return before;
  };
  unsigned count = 0;
  for (unsigned chunk = begin; chunk < end; ++chunk) {
    unsigned total = 0;
    rank(begins(chunk * kRegionThreads + threadIdx.x), total);
    count += total;
  }
  if (threadIdx.x == 0) job.block_counts[blockIdx.x] = count;
  meet(&job.control->arrived, target);
  unsigned next = 0;
  for (unsigned b = 0; b < blockIdx.x; ++b) next += job.block_counts[b];
  for (unsigned chunk = begin; chunk < end; ++chunk) {
    const unsigned i = chunk * kRegionThreads + threadIdx.x;
    unsigned total = 0;
    const unsigned before = rank(begins(i), total);
    if (begins(i)) job.nearest[i] = next + before;
    next += total;
  }
  meet(&job.control->arrived, target);
}

__device__ inline void write_pixel(const RegionJob& job, unsigned i) {
  const ImageJob& image = job.image;
  const auto width = static_cast<unsigned>(image.window.width);
  const auto x = static_cast<std::ptrdiff_t>(i % width), y = static_cast<std::ptrdiff_t>(i / width);
  const unsigned root = job.root[i];
  float* row = reinterpret_cast<float*>(reinterpret_cast<char*>(job.labels) + y * job.labels_pitch);
  row[x] = static_cast<float>(static_cast<unsigned>(job.nearest[root]));
  unsigned char* to = image.out + y * image.out_pitch + x * image.channels;
  for (int k = 0; k < 3 && k < image.channels; ++k) to[k] = RegionMeans::colour(job.sums[root], k);
  if (image.channels == 4) to[3] = image.in[y * image.in_pitch + x * 4 + 3];
}

/// The whole segmentation. Dynamic shared memory: a count for each warp. All blocks must run at the same time
/// (a cooperative launch).
__global__ void __launch_bounds__(kRegionThreads) segment_regions(const RegionJob job) {
  const PixelWalk walk(job);
  const unsigned lane = threadIdx.x % 32;
  unsigned target = 0;
  walk.each([&](unsigned i) {
    job.parent[i] = i;
    job.sums[i] = RegionSums{};
  });
  meet(&job.control->arrived, target);
  walk.neighbours(static_cast<unsigned>(job.image.window.width), [&](unsigned a, unsigned b) {
    if (PackedEnd::joined(job.ends[a], job.ends[b], job.image.window)) unite(job.parent, a, b);
  });
  meet(&job.control->arrived, target);
  walk.warps([&](unsigned i, bool there) {
    const unsigned root = there ? find(job.parent, i) : ~0U;
    if (there) job.root[i] = root;
    add_pixels(job, there, i, root, lane);
  });
  meet(&job.control->arrived, target);
  for (unsigned round = 0; merge_round(job, walk, round, target);) ++round;
  number_regions(job, target);
  walk.each([&](unsigned i) { write_pixel(job, i); });
}

}  // namespace contorno::mean_shift_cuda
