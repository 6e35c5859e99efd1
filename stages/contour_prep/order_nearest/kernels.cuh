// The kernels of order_nearest; ContourOrder comes behind them.
//
//   bound_contours  the box of every contour, a warp each (distances.cuh)
//   measure_pairs   the distances of all contours, where they are few; only for `greedy`
//   list_nearest    the contours nearest to every contour (nearest_lists.cuh); only for `greedy`
//   order_contours  the order of the contours of a class, by one block: by `greedy`
//   order_ends      the same by the ends of contours, and where each one begins
//
// Which contour comes next depends on the one before, so that a class is ordered step by step. By `greedy` a
// warp goes from list to list, to the first contour of each that is left. When a list has none, and by the
// ends of contours always, the block goes over the contours that are left twice: over a few points of each,
// which give a distance that the nearest contour does not exceed, and over the boxes that are not farther,
// whose contours are compared by their points.
#pragma once

#include "stages/contour_prep/order_nearest/nearest_lists.cuh"

namespace contorno::order_nearest_cuda {

inline constexpr unsigned kOrderThreads = 1024;

/// What a block shares.
struct Step {
  unsigned long long bound;    ///< no less than the distance of the nearest contour
  unsigned long long nearest;  ///< distance of the nearest contour
  unsigned contour;            ///< what comes next; once it has its place, the last one that has
  unsigned start;              ///< the own point with which it begins
  unsigned drawn;              ///< how many contours of the class have their place
  unsigned left;               ///< how many `left` has
  unsigned long long taken;    ///< Steps, of all warps
};

/// The order of a class as far as it is there, and which contours are in it: a bit each, behind Step in
/// shared memory or in Job::visited.
struct Placed {
  unsigned first, contours;  ///< first contour of the class, number of its contours
  unsigned* sorted;          ///< the numbers in their order
  unsigned* visited;

  __device__ Placed(const Job& job, unsigned k, Step& step)
      : first(job.in.class_begin[k]),
        contours(job.in.class_begin[k + 1] - first),
        sorted(job.sorted + first),
        // No two classes have bits in one word.
        visited(job.visited != nullptr ? job.visited + first / kWordBits + k
                                       : reinterpret_cast<unsigned*>(&step + 1)) {}
  /// Gives a contour its place in the order. Called by one thread.
  __device__ void add(unsigned place, unsigned contour) const {
    sorted[place] = contour;
    visited[(contour - first) / kWordBits] |= 1U << (contour - first) % kWordBits;
  }
  __device__ bool has(unsigned contour) const {
    return (visited[(contour - first) / kWordBits] >> (contour - first) % kWordBits & 1) != 0;
  }
  /// Takes all contours out. Called by all threads of a block.
  __device__ void clear() const {
    for (unsigned word = threadIdx.x; word * kWordBits < contours; word += blockDim.x) visited[word] = 0;
  }

  static constexpr unsigned kWordBits = 32;
};

/// What the next contour is near to: any point of the contour that was drawn, from any point of others.
/// Functions with `step` are called by all threads of a block.
struct FromContour {
  const Job& job;
  unsigned contour = 0;
  unsigned drawn = 0;  ///< how many have their place

  /// Gives step.contour its place, and those that follow it by the lists.
  __device__ void draw(const Placed& placed, Step& step) {
    if (threadIdx.x < kWarpLanes) follow(placed, step);
    __syncthreads();
    contour = step.contour, drawn = step.drawn;
  }
  __device__ void find_start(Step&) const {}
  __device__ Box box() const { return job.boxes[contour]; }
  __device__ double sample(unsigned to, unsigned part) const {
    return sample_between(job, contour, to, part);
  }
  /// The least distance, by a warp; if it is above `most`, any number above.
  __device__ unsigned long long distance(unsigned to, unsigned long long most, Steps& steps) const {
    return distance_between(job, contour, to, most, steps);
  }

 private:
  /// Draws contours from that of `step` on, each time the first of the current one's list that has no place
  /// yet, until all of a list have one. Called by a whole warp.
  __device__ void follow(const Placed& placed, Step& step) const {
    unsigned current = step.contour, place = drawn;
    for (;;) {
      const unsigned other = job.list_of(current)[warp_lane()];
      if (warp_lane() == 0) placed.add(place, current);
      ++place;
      __syncwarp();
      const unsigned open = __ballot_sync(~0U, other != kNone && !placed.has(other));
      if (open == 0) break;
      current = __shfl_sync(~0U, other, __ffs(static_cast<int>(open)) - 1);
    }
    if (warp_lane() == 0) step.contour = current, step.drawn = place;
  }
};

/// Where the pen lies, from where it may set down on others.
struct FromPen {
  const Job& job;
  Point pen{};
  unsigned drawn = 0;

  __device__ void draw(const Placed& placed, Step& step) {
    const unsigned current = step.contour, start = drawn > 0 ? step.start : 0;
    const OwnPoints own(job.in, current);
    if (threadIdx.x == 0) {
      job.starts[current] = start;
      placed.add(drawn, current);
    }
    if (own.count > 0 || drawn == 0) pen = pen_up(own, start);
    ++drawn;
    __syncthreads();
  }
  /// The first of the nearest ones.
  __device__ void find_start(Step& step) const {
    const bool is_far = step.nearest == kFar;
    if (threadIdx.x == 0) step.start = is_far ? 0 : kNone;
    __syncthreads();
    const OwnPoints own(job.in, step.contour);
    for (unsigned i = threadIdx.x; !is_far && i < start_count(own); i += blockDim.x)
      if (bits_of(squared_distance(pen, own.points[start_of(own, i)])) == step.nearest)
        atomicMin(&step.start, start_of(own, i));
    __syncthreads();
  }
  __device__ Box box() const {
    Box box;
    box.add(pen);
    return box;
  }
  __device__ double sample(unsigned to, unsigned part) const {
    const OwnPoints own(job.in, to);
    const unsigned starts = start_count(own);
    if (starts == 0) return std::numeric_limits<double>::infinity();
    return squared_distance(
        pen, own.points[start_of(own, static_cast<unsigned>(1ULL * part * starts / kSamples))]);
  }
  __device__ unsigned long long distance(unsigned to, unsigned long long, Steps& steps) const {
    const OwnPoints own(job.in, to);
    steps.taken += 1 + start_count(own) / kWarpLanes;
    double nearest = std::numeric_limits<double>::infinity();
    for (unsigned i = warp_lane(); i < start_count(own); i += kWarpLanes) {
      const double squared = squared_distance(pen, own.points[start_of(own, i)]);
      if (squared < nearest) nearest = squared;
    }
    return least_of_warp(nearest);
  }
};

/// The nearest contour that a warp has found: the least distance, of several the least number.
struct Found {
  unsigned long long distance = kFar;
  unsigned contour = kNone;
};

/// The contours of a class that are left; the functions are called by all threads of a block.
template <class From>
struct Left {
  const Job& job;
  const From& from;
  unsigned* left;
  unsigned count;  ///< number of contours in `left`

  /// Takes out those that have their place.
  __device__ void drop(const Placed& placed, Step& step) {
    if (threadIdx.x == 0) step.left = 0;
    for (unsigned base = 0; base < count; base += blockDim.x) {
      const unsigned i = base + threadIdx.x;
      const unsigned contour = i < count ? left[i] : 0;
      const bool stays = i < count && !placed.has(contour);
      // They are written to where this round and those before have read.
      __syncthreads();
      if (stays) left[atomicAdd(&step.left, 1U)] = contour;
    }
    __syncthreads();
    count = step.left;
  }

  __device__ unsigned long long box_distance(const Box& box, unsigned place) const {
    return place < count ? bits_of(box.squared_distance(job.boxes[left[place]])) : kFar;
  }

  /// Lowers `bound` to a distance at which there is a contour.
  __device__ void find_bound(unsigned long long& bound) const {
    unsigned long long least = kFar;
    for (unsigned pair = threadIdx.x; pair / kSamples < count; pair += blockDim.x) {
      const double squared = from.sample(left[pair / kSamples], pair % kSamples);
      if (squared < std::numeric_limits<double>::infinity()) least = min(least, bits_of(squared));
    }
    if (least < kFar) atomicMin(&bound, least);
  }
  /// What `drop` and `find_bound` take of each warp, however far apart the contours are.
  __device__ unsigned rounds() const { return ((1 + kSamples) * count + blockDim.x - 1) / blockDim.x; }

  /// What a warp finds among its contours with boxes not farther than `most`.
  __device__ Found compare(unsigned long long most, Steps& steps) const {
    const Box box = from.box();
    const unsigned lane = warp_lane();
    Found found;
    for (unsigned base = threadIdx.x - lane; base < count; base += blockDim.x) {
      const unsigned long long distance = box_distance(box, base + lane);
      unsigned open = __ballot_sync(~0U, distance < kFar && distance <= most);
      steps.taken += 1U + static_cast<unsigned>(__popc(open));
      for (; open != 0 && !steps.are_spent(); open &= open - 1) {
        const int source = __ffs(static_cast<int>(open)) - 1;
        most = min(most, found.distance);
        const unsigned contour = left[base + static_cast<unsigned>(source)];
        const unsigned long long apart = __shfl_sync(~0U, distance, source);
        // The boxes' distance is a lower bound, and of contours at one distance the first is wanted.
        if (apart > most || (apart == found.distance && contour > found.contour)) continue;
        const unsigned long long between = from.distance(contour, most, steps);
        if (between < found.distance || (between == found.distance && contour < found.contour))
          found = {between, contour};
      }
    }
    return found;
  }

  /// Leaves in `step` what follows.
  __device__ void find_next(Step& step) const {
    if (threadIdx.x == 0) step.bound = step.nearest = kFar, step.contour = kNone;
    __syncthreads();
    find_bound(step.bound);
    __syncthreads();
    const bool leads = warp_lane() == 0;
    Steps steps{job.most_ordering};
    const Found found = compare(step.bound, steps);
    steps.taken += rounds();
    if (leads) atomicMin(&step.nearest, found.distance), atomicAdd(&step.taken, steps.taken);
    __syncthreads();
    // Of several nearest contours the first is next; where none is at a finite distance, the first that is
    // left.
    const bool is_far = step.nearest == kFar;
    if (leads && !is_far && found.distance == step.nearest) atomicMin(&step.contour, found.contour);
    for (unsigned place = threadIdx.x; is_far && place < count; place += blockDim.x)
      atomicMin(&step.contour, left[place]);
    __syncthreads();
  }
};

/// Leaves the contours of a class as they are, for a frame that is refused; by all threads of a block.
__device__ inline void refuse(const Job& job, const Placed& placed) {
  for (unsigned i = threadIdx.x; i < placed.contours; i += blockDim.x) {
    placed.sorted[i] = placed.first + i;
    if (job.starts != nullptr) job.starts[placed.first + i] = 0;
  }
  if (threadIdx.x == 0) *job.refused = placed.contours;
}

template <class From>
__device__ inline void order_class(const Job& job, unsigned k, Step& step) {
  const Placed placed(job, k, step);
  if (placed.contours == 0) return;
  if (job.lists_are_spent()) return refuse(job, placed);
  From from{job};
  Left<From> left{job, from, job.left + placed.first, placed.contours};
  __syncthreads();  // the class before may still be read
  if (threadIdx.x == 0) step.contour = placed.first, step.taken = 0;
  for (unsigned i = threadIdx.x; i < placed.contours; i += blockDim.x) left.left[i] = placed.first + i;
  placed.clear();
  __syncthreads();
  for (;;) {
    from.draw(placed, step);
    if (from.drawn == placed.contours) break;
    left.drop(placed, step);
    left.find_next(step);
    if (step.taken > job.most_ordering) return refuse(job, placed);
    from.find_start(step);
  }
  if (threadIdx.x == 0) job.ordering[k] = step.taken;
}

/// Orders the classes of this block.
template <class From>
__device__ inline void order_classes(const Job& job) {
  if (!job.in.fits()) return;
  for (unsigned k = blockIdx.x; k < static_cast<unsigned>(job.in.format.classes); k += gridDim.x)
    order_class<From>(job, k, block_shared<Step>());
}

__global__ void __launch_bounds__(kOrderThreads) order_contours(const __grid_constant__ Job job) {
  order_classes<FromContour>(job);
}

__global__ void __launch_bounds__(kOrderThreads) order_ends(const __grid_constant__ Job job) {
  order_classes<FromPen>(job);
}

}  // namespace contorno::order_nearest_cuda
