// The kernels of track.
//
//   ListObjects   the list of every object that may be seen again, as a key
//   (sort)        objects by lists
//   look          what is seen of every contour, and its offer to the best object: a warp a contour
//   settle        contours whose offers are surpassed look again, until none is, or else chains pair what is
//                 there; then attributes and the state behind the frame. One block, so that it may wait for
//                 all of its own work
#pragma once

#include "geometry/ascending.h"
#include "geometry/team.cuh"
#include "stages/contour_prep/shared/arrays.h"
#include "stages/contour_prep/shared/placement.cuh"
#include "stages/contour_prep/track/stage.h"

namespace contorno::track_cuda {

using namespace tracking;

inline constexpr unsigned kSettleThreads = 1024;
/// How often contours look again before chains pair them. Mostly two or three times do; where the worst come
/// first, as where all are around each other, there would be as many as there are contours.
inline constexpr int kMostRounds = 32;

/// One launch's arguments. Arrays have an element a contour of the capacity, or an object that there is room
/// for.
struct Job {
  ContoursView out;
  Limits limits;
  const std::uint64_t* number = nullptr;  ///< of the frame
  StateView before, after;
  unsigned* sources = nullptr;  ///< see Stage::selection
  // Arrays with an element a contour:
  Seen* seen = nullptr;
  unsigned* choices = nullptr;  ///< the object of the last offer; in a chain the object before; kHole
  Score* scores = nullptr;      ///< score of the last offer; for chains, whether the contour is settled
  // Arrays with an element an object, and a key:
  unsigned long long none = 0;  ///< the key of those that cannot be seen: behind all lists
  unsigned long long *keys = nullptr, *sorted_keys = nullptr;
  unsigned* objects = nullptr;  ///< their numbers; when these are sorted, the contour before each in a chain
  unsigned* sorted = nullptr;   ///< their numbers, in the order of the keys
  unsigned long long* offers = nullptr;  ///< the best one that each has

  void arrays(ArrayTaker& take, const ContoursFormat& format) {
    const std::size_t contours = format.contour_capacity, most = limits.max_objects;
    take(seen, contours), take(choices, contours), take(scores, contours);
    for (auto** one : {&keys, &sorted_keys, &offers}) take(*one, most);
    take(objects, most), take(sorted, most);
  }
};

__device__ __forceinline__ unsigned objects_of(const Job& job) {
  return static_cast<unsigned>(job.before.header->objects);
}

/// Makes the key of an object. Called for each object that there is room for.
struct ListObjects : Job {
  CONTORNO_HD void operator()(unsigned i) const {
    unsigned long long key = none;
    if (i < before.header->objects) {
      const Object& object = before.objects[i];
      if (is_awaited(object, *number, begins_anew(*before.header, *number), limits))
        key = list_of(object, none);
    }
    keys[i] = key, objects[i] = i, offers[i] = 0;
  }
};

struct JoinChoices {
  __device__ void operator()(Choice& a, const Choice& b) const { a.consider(b.score, b.index, b.key); }
};

/// The best object for a contour that has no better offer; called by a warp.
__device__ inline Choice choose(const Job& job, unsigned contour, const Seen& seen, unsigned of_class) {
  const auto level = static_cast<int>(warp_lane());
  unsigned begin = 0, end = 0;
  if (level < row_lists::kLevels) {
    const Rows rows = rows_sought(seen, job.limits);
    const row_lists::Lists lists(of_class, level, rows.top, rows.bottom);
    begin = lower_bound_of(job.sorted_keys, objects_of(job), lists.first);
    end = lower_bound_of(job.sorted_keys, objects_of(job), lists.last + 1);
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
  return WarpTeam().combine(choice, JoinChoices());
}

/// Makes the best object an offer; called by a warp. False: there is none.
__device__ inline bool offer(const Job& job, unsigned contour, const Seen& seen, unsigned of_class) {
  const Choice best = choose(job, contour, seen, of_class);
  if (warp_lane() == 0) {
    job.choices[contour] = best.index;
    job.scores[contour] = best.score;
    if (best.index != kNone) atomicMax(job.offers + best.index, offer_of(best.score, contour));
  }
  return best.index != kNone;
}

__device__ __forceinline__ unsigned class_of(const Job& job, unsigned contour) {
  return contorno::class_of(job.out, contour);
}

__global__ void __launch_bounds__(kArrayThreads) look(const __grid_constant__ Job job) {
  for_warps(contours_of(job.out), [&](unsigned contour) {
    bool hole;
    const unsigned of_class = class_of(job, contour);
    const Seen seen = look_at(WarpTeam(), job.out, contour, job.limits.has_positive_holes(of_class), hole);
    if (warp_lane() == 0) job.seen[contour] = seen, job.sources[contour] = contour;
    if (hole && warp_lane() == 0) job.choices[contour] = kHole, job.scores[contour] = 0;
    if (!hole) offer(job, contour, seen, of_class);
  });
}

/// Whether the last offer of a contour was surpassed.
__device__ __forceinline__ bool is_surpassed(const Job& job, unsigned contour) {
  const unsigned object = job.choices[contour];
  return object != kNone && object != kHole &&
         load_relaxed(job.offers + object) != offer_of(job.scores[contour], contour);
}

/// Until every contour has its object, or none; false where that is not so after kMostRounds. A warp has the
/// same contours each time.
__device__ inline bool settle_offers(const Job& job) {
  const unsigned contours = contours_of(job.out);
  bool again = true;
  for (int round = 0; again && round < kMostRounds; ++round) {
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
  return !again;
}

struct SettleShared {
  unsigned totals[kSettleThreads / kWarpLanes];
  Choice choices[kSettleThreads / kWarpLanes];
};

/// See pair_in_chains; contours are left. All of it is called by the whole block, and every thread gets the
/// same answers.
class BlockSides {
 public:
  __device__ BlockSides(const Job& job, Choice* choices) : job_(job), choices_(choices) {
    for (unsigned i = threadIdx.x; i < contours_of(job.out); i += blockDim.x) {
      const bool hole = job.choices[i] == kHole;
      job.scores[i] = hole ? kSettled : kFree;
      if (!hole) job.choices[i] = kNone;
    }
    for (unsigned i = threadIdx.x; i < objects_of(job); i += blockDim.x) job.offers[i] = 0;
    __syncthreads();
  }

  __device__ bool is_free(std::uint32_t contour) const { return job_.scores[contour] == kFree; }
  __device__ std::uint32_t best_right(std::uint32_t contour) const {
    const unsigned of_class = class_of(job_, contour);
    const unsigned end =
        lower_bound_of(job_.sorted_keys, objects_of(job_), row_lists::list_of(of_class + 1, 0, 0U));
    unsigned place =
        lower_bound_of(job_.sorted_keys, objects_of(job_), row_lists::list_of(of_class, 0, 0U)) + threadIdx.x;
    Choice choice;
    for (; place < end; place += blockDim.x) {
      const unsigned i = job_.sorted[place];
      const Object& object = job_.before.objects[i];
      if (job_.offers[i] == 0)
        choice.consider(score_of(object.seen, job_.seen[contour], job_.limits), i, object.id);
    }
    return best_of_block(choice);
  }
  __device__ std::uint32_t best_left(std::uint32_t object) const {
    const Object& one = job_.before.objects[object];
    Choice choice;
    for (unsigned i = job_.out.class_begin[one.of_class] + threadIdx.x;
         i < job_.out.class_begin[one.of_class + 1]; i += blockDim.x)
      if (is_free(i)) choice.consider(score_of(one.seen, job_.seen[i], job_.limits), i, i);
    return best_of_block(choice);
  }
  __device__ void pair(std::uint32_t contour, std::uint32_t object) {
    __syncthreads();  // what was there is read
    if (threadIdx.x == 0)
      job_.choices[contour] = object, job_.scores[contour] = kSettled, job_.offers[object] = 1;
    __syncthreads();
  }
  __device__ void leave(std::uint32_t contour) {
    __syncthreads();  // what was there is read
    if (threadIdx.x == 0) job_.choices[contour] = kNone, job_.scores[contour] = kSettled;
    __syncthreads();
  }
  __device__ std::uint32_t right_before(std::uint32_t contour) const { return job_.choices[contour]; }
  __device__ void set_right_before(std::uint32_t contour, std::uint32_t object) {
    __syncthreads();  // what was there is read
    if (threadIdx.x == 0) job_.choices[contour] = object;
    __syncthreads();
  }
  __device__ std::uint32_t left_before(std::uint32_t object) const { return job_.objects[object]; }
  __device__ void set_left_before(std::uint32_t object, std::uint32_t contour) {
    __syncthreads();  // what was there is read
    if (threadIdx.x == 0) job_.objects[object] = contour;
    __syncthreads();
  }

 private:
  static constexpr Score kFree = 0, kSettled = 1;

  __device__ std::uint32_t best_of_block(Choice choice) const {
    choice = WarpTeam().combine(choice, JoinChoices());
    __syncthreads();  // the answers before were read
    if (warp_lane() == 0) choices_[threadIdx.x / kWarpLanes] = choice;
    __syncthreads();
    Choice best;
    for (unsigned warp = 0; warp < blockDim.x / kWarpLanes; ++warp)
      best.consider(choices_[warp].score, choices_[warp].index, choices_[warp].key);
    return best.index;
  }

  const Job& job_;
  Choice* choices_;
};

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
  // New ones are numbered first, in the place of the scores.
  const unsigned births = for_counted(
      contours, totals, [&](unsigned contour) { return job.choices[contour] == kNone; },
      [&](unsigned contour, bool is_new, unsigned new_before) {
        job.scores[contour] = new_before + 1;
        if (is_new) count_one(after.counts[class_of(job, contour)].births);
      });
  const unsigned shown = for_counted(
      contours, totals, [&](unsigned contour) { return job.choices[contour] != kHole; },
      [&](unsigned contour, bool is_object, unsigned objects_before) {
        if (!is_object) return write_hole(job.out, contour);
        const unsigned choice = job.choices[contour];
        remember(job, objects_before,
                 object_of(job.out, contour, class_of(job, contour), job.seen[contour],
                           choice == kNone ? nullptr : before.objects + choice, ids + job.scores[contour],
                           number));
      });
  const unsigned unseen = for_counted(
      objects_of(job), totals,
      [&](unsigned i) {
        return load_relaxed(job.offers + i) == 0 && stays(before.objects[i], number, anew, job.limits);
      },
      [&](unsigned i, bool is_kept, unsigned kept_before) {
        if (is_kept)
          remember(job, shown + kept_before, before.objects[i]);
        else if (load_relaxed(job.offers + i) == 0)
          count_one(after.counts[before.objects[i].of_class].deaths);
      });
  if (threadIdx.x != 0) return;
  const std::uint64_t objects = std::uint64_t{shown} + unseen;
  *after.header = {.frame = number,
                   .ids = ids + births,
                   .objects = objects < job.limits.max_objects ? objects : job.limits.max_objects,
                   .begun = 1};
}

__global__ void __launch_bounds__(kSettleThreads) settle(const __grid_constant__ Job job) {
  auto& shared = block_shared<SettleShared>();
  if (!settle_offers(job)) {
    BlockSides sides(job, shared.choices);
    pair_in_chains(contours_of(job.out), sides);
    __syncthreads();
  }
  write_objects(job, shared.totals);
}

}  // namespace contorno::track_cuda
