// The kernels measure_pairs and list_nearest: of every contour the kListed others of its class that are
// nearest to it, by their distances and, of equal ones, by their numbers. A block takes a contour at a time
// and goes over the class twice: over samples of the others, of which the kListed-th nearest is no nearer
// than the one in the list, and over the boxes; those that are not farther than that are compared by their
// points. Where contours are few, the distances of all pairs are there before. A class is small beside its
// points: the boxes of 10,000 contours are looked at in a millisecond.
#pragma once

#include "geometry/ascending.h"
#include "stages/contour_prep/order_nearest/distances.cuh"

namespace contorno::order_nearest_cuda {

/// A contour at its distance from the one whose list is made.
struct Neighbour {
  unsigned long long distance = kFar;
  unsigned contour = kNone;

  __device__ bool operator<(const Neighbour& other) const {
    return distance < other.distance || (distance == other.distance && contour < other.contour);
  }
};

__device__ __forceinline__ Neighbour from_lane(const Neighbour& one, unsigned lane) {
  return {__shfl_sync(~0U, one.distance, static_cast<int>(lane)),
          __shfl_sync(~0U, one.contour, static_cast<int>(lane))};
}

/// The least neighbours so far, in ascending order by the lanes of a warp; functions are called by all lanes.
class NearestList {
 public:
  /// Adds what each lane has.
  __device__ void add(Neighbour one) {
    if (const Neighbour end = last(); __ballot_sync(~0U, one < end) == 0) return;
    // A bitonic sort: runs of `size` lanes, one ascending and the next descending, become runs of twice that.
    for (unsigned size = 2; size <= kWarpLanes; size *= 2) order(one, size / 2, (warp_lane() & size) == 0);
    add_sorted(one);
  }
  /// Adds what lanes have in ascending order.
  __device__ void add_sorted(const Neighbour& one) {
    const Neighbour other = from_lane(one, kWarpLanes - 1 - warp_lane());
    if (other < least_) least_ = other;
    order(least_, kWarpLanes / 2, true);
  }
  __device__ const Neighbour& least() const { return least_; }
  /// The last one of the list: only a neighbour that is less than it can still enter.
  __device__ Neighbour last() const { return from_lane(least_, kWarpLanes - 1); }

 private:
  /// Orders runs of twice `step` lanes that rise and then fall.
  __device__ static void order(Neighbour& one, unsigned step, bool ascends) {
    for (; step > 0; step /= 2) {
      const Neighbour other = from_lane(one, warp_lane() ^ step);
      const bool is_first = (warp_lane() & step) == 0;
      if (is_first == ascends ? other < one : one < other) one = other;
    }
  }

  Neighbour least_;
};

/// Adds what a warp has taken; what is spent for one spends all.
__device__ __forceinline__ void add_to_lists(const Job& job, const Steps& steps) {
  if (warp_lane() == 0) atomicAdd(job.listing, steps.are_spent() ? job.most_listing + 1 : steps.taken);
}

// Pairs --------------------------------------------------------------------------------------------------
__device__ __forceinline__ bool are_paired(const Job& job) {
  return job.in.counts->contours <= job.room_for_pairs;
}
/// The distance of two contours of a class, which measure_pairs has written at the lower number's place.
__device__ __forceinline__ unsigned long long& distance_of_pair(const Job& job, unsigned contours, unsigned a,
                                                                unsigned b) {
  return job.distances[min(a, b) * contours + max(a, b)];
}

__global__ void __launch_bounds__(kArrayThreads) measure_pairs(const __grid_constant__ Job job) {
  if (!job.in.fits() || !are_paired(job)) return;
  const unsigned contours = contours_of(job.in), classes = static_cast<unsigned>(job.in.format.classes);
  for_warps(contours * contours, [&](unsigned pair) {
    const unsigned a = pair / contours, b = pair % contours;
    if (a >= b || b >= job.in.class_begin[part_of(job.in.class_begin, classes, a) + 1]) return;
    Steps steps{job.most_ordering};
    const unsigned long long distance = distance_between(job, a, b, kFar, steps);
    if (warp_lane() == 0) distance_of_pair(job, contours, a, b) = distance;
    add_to_lists(job, steps);
  });
}

// Lists --------------------------------------------------------------------------------------------------
/// What a block shares.
struct Lists {
  Neighbour warps[kArrayThreads / kWarpLanes][kWarpLanes];
  unsigned long long farthest;  ///< the distance of the last one in the list of the block
  unsigned open_count;
  unsigned open[4 * kArrayThreads];  ///< contours that are to be compared by their points, in any order

  /// Merges the lists of the first `count` warps into that of the first one. By all threads of a block.
  __device__ void join(NearestList& list, unsigned count = blockDim.x / kWarpLanes) {
    const unsigned warp = threadIdx.x / kWarpLanes, lane = warp_lane();
    for (unsigned half = (count + 1) / 2, all = count; all > 1; all = half, half = (half + 1) / 2) {
      if (warp >= half && warp < all) warps[warp][lane] = list.least();
      __syncthreads();
      if (warp + half < all) list.add_sorted(warps[warp + half][lane]);
    }
    if (threadIdx.x == kWarpLanes - 1) farthest = list.least().distance;
    __syncthreads();
  }
};

/// The search for the list of one contour, by a block.
class ListOf {
 public:
  __device__ ListOf(const Job& job, unsigned contour, Lists& shared)
      : job_(job), shared_(shared), contour_(contour) {
    const unsigned k = part_of(job.in.class_begin, static_cast<unsigned>(job.in.format.classes), contour);
    first_ = job.in.class_begin[k], last_ = job.in.class_begin[k + 1];
  }

  /// The list, in the first warp.
  __device__ NearestList find() { return are_paired(job_) ? find_paired() : search(); }

 private:
  /// Makes the list from the distances of pairs, which have been computed.
  __device__ NearestList find_paired() const {
    const unsigned contours = contours_of(job_.in);
    NearestList list;
    for (unsigned base = first_ + threadIdx.x - warp_lane(); base < last_; base += blockDim.x) {
      const unsigned other = base + warp_lane();
      const unsigned long long distance =
          other < last_ && other != contour_ ? distance_of_pair(job_, contours, contour_, other) : kFar;
      list.add(distance < kFar ? Neighbour{distance, other} : Neighbour{});
    }
    const unsigned rounds = (last_ - first_ + kWarpLanes - 1) / kWarpLanes;
    shared_.join(list, min(rounds, blockDim.x / kWarpLanes));
    return list;
  }

  __device__ NearestList search() {
    constexpr unsigned kMostOpen = sizeof(shared_.open) / sizeof(unsigned);
    // Where there are no more than a list can have, all are listed.
    const unsigned long long most = last_ - first_ > kListed + 1 ? find_bound() : kFar;
    NearestList list;
    for (unsigned begin = first_; begin < last_; begin += kMostOpen) {
      if (threadIdx.x == 0) shared_.open_count = 0;
      __syncthreads();
      for (unsigned i = threadIdx.x; i < kMostOpen && i < last_ - begin; i += blockDim.x)
        if (may_be_near(begin + i, most)) shared_.open[atomicAdd(&shared_.open_count, 1U)] = begin + i;
      __syncthreads();
      compare(list, most);
      __syncthreads();
    }
    add_to_lists(job_, steps_);
    shared_.join(list);
    return list;
  }

  /// A distance within which are kListed others, if there are as many at finite ones.
  __device__ unsigned long long find_bound() {
    NearestList sampled;
    const unsigned lane = warp_lane();
    for (unsigned base = first_ + threadIdx.x - lane; base < last_; base += blockDim.x) {
      const unsigned other = base + lane;
      sampled.add(other < last_ && other != contour_ ? Neighbour{sample(other), other} : Neighbour{});
      ++steps_.taken;
    }
    shared_.join(sampled);
    return shared_.farthest;
  }
  __device__ unsigned long long sample(unsigned other) const {
    double least = std::numeric_limits<double>::infinity();
    for (unsigned part = 0; part < kSamples; ++part)
      least = min(least, sample_between(job_, contour_, other, part));
    return bits_of(least);
  }
  __device__ unsigned long long apart(unsigned other) const {
    return bits_of(job_.boxes[contour_].squared_distance(job_.boxes[other]));
  }
  __device__ bool may_be_near(unsigned other, unsigned long long most) const {
    const unsigned long long distance = apart(other);
    return other != contour_ && distance < kFar && distance <= most;
  }
  /// Adds the open ones that are not farther than `most`, each by one of the warps.
  __device__ void compare(NearestList& list, unsigned long long most) {
    Neighbour one;
    unsigned used = 0;  // lanes that have one
    for (unsigned i = threadIdx.x / kWarpLanes; i < shared_.open_count && !steps_.are_spent();
         i += blockDim.x / kWarpLanes) {
      const unsigned other = shared_.open[i];
      ++steps_.taken;
      // The distance of the boxes is a lower bound: a contour that would not enter the list at that distance
      // cannot enter at its own. Of many contours that touch, only the first ones are compared.
      if (!(Neighbour{apart(other), other} < list.last())) continue;
      const unsigned long long distance = distance_between(job_, contour_, other, most, steps_);
      if (warp_lane() == used && distance < kFar && distance <= most) one = {distance, other};
      if (++used < kWarpLanes) continue;
      list.add(one);
      one = {}, used = 0;
    }
    if (used > 0) list.add(one);
  }

  const Job& job_;
  Lists& shared_;
  unsigned contour_, first_, last_;
  Steps steps_{job_.most_ordering};
};

__global__ void __launch_bounds__(kArrayThreads) list_nearest(const __grid_constant__ Job job) {
  const unsigned contours = contours_of(job.in);
  for (unsigned contour = blockIdx.x; contour < contours; contour += gridDim.x) {
    if (__syncthreads_or(job.lists_are_spent() ? 1 : 0) != 0) return;
    const NearestList list = ListOf(job, contour, block_shared<Lists>()).find();
    if (threadIdx.x < kWarpLanes) job.list_of(contour)[threadIdx.x] = list.least().contour;
  }
}

}  // namespace contorno::order_nearest_cuda
