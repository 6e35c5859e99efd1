// The kernels of track.
//
//   list_objects  the list of every object that may be seen again, as a key
//   (sort)        objects by lists
//   look          what is seen of every contour, and its offer to the best object: a warp a contour
//   settle        contours whose offers are surpassed look again, until none is; then attributes and the
//   state
//                 behind the frame. One block, so that it may wait for all of its own work
#pragma once

#include "stages/contour_prep/shared/box.cuh"
#include "stages/contour_prep/shared/placement.cuh"
#include "stages/contour_prep/shared/threads.cuh"
#include "stages/contour_prep/track/rules.h"
#include "stages/shared/part_of.cuh"

namespace contorno::track_cuda {

using namespace tracking;

inline constexpr unsigned kSettleThreads = 1024;

/// One launch's arguments. Arrays have an element a contour of the capacity, or an object that there is room
/// for.
struct Job {
  ContoursView out;
  Limits limits;
  const std::uint64_t* number = nullptr;  ///< of the frame
  StateView before, after;
  unsigned* sources = nullptr;  ///< see Stage::selection
  // Of contours:
  Seen* seen = nullptr;
  unsigned* choices = nullptr;  ///< the object of the last offer
  Score* scores = nullptr;      ///< of that offer
  // Of objects:
  unsigned long long none = 0;  ///< the key of those that cannot be seen: behind all lists
  unsigned long long *keys = nullptr, *sorted_keys = nullptr;
  unsigned *objects = nullptr, *sorted = nullptr;  ///< their numbers, in the order of the keys
  unsigned long long* offers = nullptr;            ///< the best one that each has
};

__device__ __forceinline__ unsigned objects_of(const Job& job) {
  return static_cast<unsigned>(job.before.header->objects);
}

__global__ void __launch_bounds__(kArrayThreads) list_objects(const __grid_constant__ Job job) {
  const auto room = static_cast<unsigned>(job.limits.max_objects);
  const std::uint64_t number = *job.number;
  const bool anew = begins_anew(*job.before.header, number);
  for (unsigned i = global_thread(); i < room; i += all_threads()) {
    unsigned long long key = job.none;
    if (i < objects_of(job)) {
      const Object& object = job.before.objects[i];
      if (is_awaited(object, number, anew, job.limits)) key = list_of(object, job.none);
    }
    job.keys[i] = key;
    job.objects[i] = i;
    job.offers[i] = 0;
  }
}

__device__ __forceinline__ FirstMoments sum_of_moments(const FirstMoments& sums) {
  return {sum_of_warp(sums.weight), sum_of_warp(sums.row), sum_of_warp(sums.col)};
}

__device__ inline Seen look_at(const ContoursView& out, unsigned contour) {
  Seen seen;
  seen.row = seen.col = measuring::kNaN;
  const unsigned points = points_of(out, contour);
  if (points == 0) return seen;
  const Point* const point = out.points + out.offsets[contour];
  Box box;
  FirstMoments area, line;
  for (unsigned i = warp_lane(); i < points; i += kWarpLanes) box.add(point[i]);
  for (unsigned i = warp_lane() + 1; i < points; i += kWarpLanes) {
    const Offset a(point[i - 1], point[0]), b(point[i], point[0]);
    add_triangle(area, a, b);
    add_segment(line, a, b);
  }
  seen.box = box_of_warp(box);
  set_centroid(seen, point[0], out.closed[contour] != 0, sum_of_moments(area), sum_of_moments(line));
  return seen;
}

/// The best of the choices of all lanes.
__device__ inline Choice best_of_warp(Choice choice) {
  for (unsigned step = kWarpLanes / 2; step > 0; step /= 2) {
    const auto mask = static_cast<int>(step);
    const Score score = __shfl_xor_sync(~0U, choice.score, mask);
    const unsigned object = __shfl_xor_sync(~0U, choice.object, mask);
    const unsigned long long id = __shfl_xor_sync(~0U, choice.id, mask);
    choice.consider(score, object, id);
  }
  return choice;
}

/// The best object for a contour that has no better offer; called by a warp.
__device__ inline Choice choose(const Job& job, unsigned contour, const Seen& seen, unsigned of_class) {
  const auto level = static_cast<int>(warp_lane());
  unsigned begin = 0, end = 0;
  if (level < row_lists::kLevels) {
    const Rows rows = rows_sought(seen, job.limits);
    const row_lists::Lists lists(of_class, level, rows.top, rows.bottom);
    begin = row_lists::lists_before(job.sorted_keys, objects_of(job), lists.first);
    end = row_lists::lists_before(job.sorted_keys, objects_of(job), lists.last + 1);
  }
  Choice choice;
  for (unsigned levels = __ballot_sync(~0U, begin < end); levels != 0; levels &= levels - 1) {
    const int lane = __ffs(static_cast<int>(levels)) - 1;
    const unsigned last = __shfl_sync(~0U, end, lane);
    for (unsigned place = __shfl_sync(~0U, begin, lane) + warp_lane(); place < last; place += kWarpLanes) {
      const unsigned i = job.sorted[place];
      const Object& object = job.before.objects[i];
      const Score score = score_of(object.seen, seen, job.limits);
      if (score != 0 && offer_of(score, contour) > load_relaxed(job.offers + i))
        choice.consider(score, i, object.id);
    }
  }
  return best_of_warp(choice);
}

/// Makes the best object an offer; called by a warp. False: there is none.
__device__ inline bool offer(const Job& job, unsigned contour, const Seen& seen, unsigned of_class) {
  const Choice best = choose(job, contour, seen, of_class);
  if (warp_lane() == 0) {
    job.choices[contour] = best.object;
    job.scores[contour] = best.score;
    if (best.object != kNone) atomicMax(job.offers + best.object, offer_of(best.score, contour));
  }
  return best.object != kNone;
}

__device__ __forceinline__ unsigned class_of(const Job& job, unsigned contour) {
  return part_of(job.out.class_begin, static_cast<unsigned>(job.out.format.classes), contour);
}

__global__ void __launch_bounds__(kArrayThreads) look(const __grid_constant__ Job job) {
  for_warps(contours_of(job.out), [&](unsigned contour) {
    const Seen seen = look_at(job.out, contour);
    if (warp_lane() == 0) job.seen[contour] = seen, job.sources[contour] = contour;
    offer(job, contour, seen, class_of(job, contour));
  });
}

/// Whether the last offer of a contour was surpassed.
__device__ __forceinline__ bool is_surpassed(const Job& job, unsigned contour) {
  const unsigned object = job.choices[contour];
  return object != kNone && load_relaxed(job.offers + object) != offer_of(job.scores[contour], contour);
}

/// Until every contour has its object, or none. A warp has the same contours each time.
__device__ inline void settle_offers(const Job& job) {
  const unsigned contours = contours_of(job.out);
  for (bool again = true; again;) {
    bool offered = false;
    for (unsigned first = threadIdx.x / kWarpLanes * kWarpLanes; first < contours; first += blockDim.x) {
      const unsigned one = first + warp_lane();
      unsigned surpassed = __ballot_sync(~0U, one < contours && is_surpassed(job, one));
      for (; surpassed != 0; surpassed &= surpassed - 1) {
        const unsigned contour = first + static_cast<unsigned>(__ffs(static_cast<int>(surpassed))) - 1;
        if (offer(job, contour, job.seen[contour], class_of(job, contour))) offered = true;
      }
      __syncwarp();
    }
    again = __syncthreads_or(offered ? 1 : 0) != 0;
  }
}

/// Counts those of `count` places, in their order, for which `is_counted` says so, and calls
/// use(place, whether it is counted, how many are before it); returns how many there are. Called by a block;
/// `totals` has a place a warp in its shared memory.
template <class IsCounted, class Use>
__device__ inline unsigned for_counted(unsigned count, unsigned* totals, const IsCounted& is_counted,
                                       const Use& use) {
  unsigned all = 0;
  for (unsigned first = 0; first < count; first += blockDim.x) {
    const unsigned place = first + threadIdx.x;
    const bool counted = place < count && is_counted(place);
    const unsigned lanes = __ballot_sync(~0U, counted);
    if (warp_lane() == 0) totals[threadIdx.x / kWarpLanes] = static_cast<unsigned>(__popc(lanes));
    __syncthreads();
    unsigned before = all;
    for (unsigned warp = 0; warp < blockDim.x / kWarpLanes; ++warp) {
      if (warp < threadIdx.x / kWarpLanes) before += totals[warp];
      all += totals[warp];
    }
    before += static_cast<unsigned>(__popc(lanes & ((1U << warp_lane()) - 1)));
    if (place < count) use(place, counted, before);
    __syncthreads();
  }
  return all;
}

/// A counter of a TrackCounts; sums of integers are the same in any order.
__device__ __forceinline__ void count_one(std::uint64_t& counter) {
  static_assert(sizeof(std::uint64_t) == sizeof(unsigned long long));
  atomicAdd(reinterpret_cast<unsigned long long*>(&counter), 1ULL);
}

__device__ inline void remember(const Job& job, unsigned place, const Object& object) {
  if (place < job.limits.max_objects)
    job.after.objects[place] = object;
  else
    count_one(job.after.counts[object.of_class].forgotten);
}

/// Writes the attributes and the state behind the frame: the contours, then what was not seen.
__device__ inline void write_objects(const Job& job, unsigned* totals) {
  const StateView &before = job.before, &after = job.after;
  const std::uint64_t number = *job.number, ids = before.header->ids;
  const bool anew = begins_anew(*before.header, number);
  for (auto k = threadIdx.x; k < before.classes; k += blockDim.x) after.counts[k] = before.counts[k];
  __syncthreads();
  const unsigned contours = contours_of(job.out);
  const unsigned births = for_counted(
      contours, totals, [&](unsigned contour) { return job.choices[contour] == kNone; },
      [&](unsigned contour, bool is_new, unsigned new_before) {
        const unsigned of_class = class_of(job, contour);
        if (is_new) count_one(after.counts[of_class].births);
        remember(job, contour,
                 object_of(job.out, contour, of_class, job.seen[contour],
                           is_new ? nullptr : before.objects + job.choices[contour], ids + new_before + 1,
                           number));
      });
  const unsigned unseen = for_counted(
      objects_of(job), totals,
      [&](unsigned i) {
        return load_relaxed(job.offers + i) == 0 && stays(before.objects[i], number, anew, job.limits);
      },
      [&](unsigned i, bool is_kept, unsigned kept_before) {
        if (is_kept)
          remember(job, contours + kept_before, before.objects[i]);
        else if (load_relaxed(job.offers + i) == 0)
          count_one(after.counts[before.objects[i].of_class].deaths);
      });
  if (threadIdx.x != 0) return;
  const std::uint64_t objects = std::uint64_t{contours} + unseen;
  *after.header = {.frame = number,
                   .ids = ids + births,
                   .objects = objects < job.limits.max_objects ? objects : job.limits.max_objects,
                   .begun = 1};
}

struct SettleShared {
  unsigned totals[kSettleThreads / kWarpLanes];
};

__global__ void __launch_bounds__(kSettleThreads) settle(const __grid_constant__ Job job) {
  settle_offers(job);
  write_objects(job, block_shared<SettleShared>().totals);
}

}  // namespace contorno::track_cuda
