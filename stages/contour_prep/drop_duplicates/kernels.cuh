// The kernels of drop_duplicates, between DeviceBins and DeviceSelection.
//
//   MarkAnyEarlier     the flags of the points by the rule any_earlier
//
//   list_near          for every point the earlier ones that are near it: a kernel, because threads share the
//                      bins around a point where points are few
//   mark_kept_earlier  the flags of the points: a kernel, because warps wait for each other
//
// With the rule kept_earlier a point depends on those before it, in chains as long as a contour. A warp
// decides 32 points that follow each other, a chunk, and publishes its verdict on them in one word, as far as
// it has come: the begin of a contour does not wait for the end of the one before it in the chunk. Warps take
// chunks in their order and wait for verdicts on earlier points alone, so that there always is a warp that
// need not wait. What they must wait for is listed before: when a verdict comes, little is left to do. Only
// where more is near a point than its list can have, the warp searches for what is not known to be dropped.
#pragma once

#include "stages/contour_prep/drop_duplicates/stage.h"
#include "stages/contour_prep/shared/arrays.h"
#include "stages/contour_prep/shared/device_bins.cuh"

namespace contorno::drop_duplicates_cuda {

inline constexpr unsigned kChunk = 32;
/// How many points a list can have, and of how many points there are lists.
inline constexpr unsigned kMostNear = 8, kMostListed = 32768;

/// One launch's arguments.
struct Job {
  ContoursView in;
  DeviceBinsView bins;
  // Only for kept_earlier.
  DeviceWords zeroed;  ///< what is 0 at first: all that follows but the lists
  std::size_t chunks = 0;
  /// A chunk: which of its points are decided in the high bits, which of these are kept in the low ones.
  unsigned long long* verdicts = nullptr;
  unsigned* next_chunk = nullptr;
  /// near_counts[i]: how many earlier points are near point i; above kMostNear its list is not complete, and
  /// not used. Entry k of its list is near_lists[k * room_for_lists + i], so that neighbouring threads read
  /// neighbouring words.
  unsigned *near_counts = nullptr, *near_lists = nullptr;
  unsigned room_for_lists = 0;   ///< points; lists are made where there are no more
  std::uint8_t* keep = nullptr;  ///< the flags for DeviceSelection

  void arrays(ArrayTaker& take, const ContoursFormat& format) {
    room_for_lists = static_cast<unsigned>(std::min<std::uint64_t>(format.point_capacity, kMostListed));
    chunks = (format.point_capacity + kChunk - 1) / kChunk;
    zeroed.count = 2 * chunks + room_for_lists + 1;
    take(zeroed.words, zeroed.count), take(near_lists, std::size_t{kMostNear} * room_for_lists);
  }
  /// Divides `zeroed` among what it is for.
  void lay_zeroed() {
    verdicts = reinterpret_cast<unsigned long long*>(zeroed.words);
    near_counts = zeroed.words + 2 * chunks, next_chunk = near_counts + room_for_lists;
  }

  __device__ bool has_lists() const { return in.counts->points <= room_for_lists; }
  __device__ unsigned& near_of(unsigned point, unsigned number) const {
    return near_lists[number * room_for_lists + point];
  }
};

/// A point that is looked at, and the first point of its class.
struct Candidate {
  Point point;
  unsigned index = 0, of_class = 0, class_first = 0;
  bool is_point = false;  ///< else there is none
};
CONTORNO_HD inline Candidate candidate_of(const ContoursView& in, unsigned contour, unsigned index) {
  const unsigned k = class_of(in, contour);
  return {in.points[index], index, k, in.offsets[in.class_begin[k]], true};
}

// The kernel list_near: the earlier points of its class near every point, as far as they
// are few. It searches all bins around all points at once, so that deciding, which goes from point to point,
// need not search. Frames of more than kMostListed points keep the device busy without that, and a search
// that knows verdicts ends earlier: for them no lists are made.

/// Lists the points of a bin. A list that gets too long is not complete, nor is it needed.
__device__ inline void list_bin(const Job& job, const Candidate& candidate, const Bin& bin) {
  constexpr unsigned kMostLooks = 64;  // where points crowd together, a search that knows verdicts is faster
  const DeviceBinsView& bins = job.bins;
  const unsigned bucket = device_bins_cuda::bucket_in(bins, bin, candidate.of_class);
  const unsigned begin = bins.begins[bucket], end = bins.ends[bucket];
  for (unsigned at = begin; at < end; ++at) {
    const BinnedPoint other = bins.points[at];
    if (other.index >= candidate.index) return;
    if (at - begin == kMostLooks) {
      atomicAdd(&job.near_counts[candidate.index], kMostNear + 1);
      return;
    }
    if (other.index < candidate.class_first || !bins.nearness(other.point, candidate.point)) continue;
    const unsigned number = atomicAdd(&job.near_counts[candidate.index], 1U);
    if (number >= kMostNear) return;
    job.near_of(candidate.index, number) = other.index;
  }
}

__global__ void __launch_bounds__(kArrayThreads) list_near(const __grid_constant__ Job job) {
  if (!job.in.fits() || !job.has_lists()) return;
  const DeviceBinsView& bins = job.bins;
  constexpr unsigned kBins = kBinsAround + 1;
  device_bins_cuda::for_bins_around(*bins.count, kBins, [&](unsigned place, unsigned first, unsigned step) {
    const BinnedPoint& point = bins.points[place];
    const Candidate candidate = candidate_of(job.in, point.contour, point.index);
    const Bin own = bins.nearness.bin_of(point.point);
    for (unsigned k = first; k < kBins; k += step) {
      const auto number = static_cast<int>(k);
      if (BinsAround::reaches(bins.nearness, point.point, own, number))
        list_bin(job, candidate, bin_around(own, number));
    }
  });
}

// any_earlier --------------------------------------------------------------------------------------------
/// Whether an earlier point in the bin is near.
CONTORNO_HD inline bool has_earlier_near(const DeviceBinsView& bins, const Candidate& candidate,
                                         const Bin& bin) {
  const unsigned bucket = device_bins_cuda::bucket_in(bins, bin, candidate.of_class);
  for (unsigned at = bins.begins[bucket]; at < bins.ends[bucket]; ++at) {
    const BinnedPoint& other = bins.points[at];
    if (other.index >= candidate.index) return false;
    if (other.index >= candidate.class_first && bins.nearness(other.point, candidate.point)) return true;
  }
  return false;
}

CONTORNO_HD inline bool has_earlier_near(const DeviceBinsView& bins, const Candidate& candidate) {
  const Bin own = bins.nearness.bin_of(candidate.point);
  if (has_earlier_near(bins, candidate, own)) return true;
  for (BinsAround around(bins.nearness, candidate.point, own); around.next();)
    if (has_earlier_near(bins, candidate, around.bin())) return true;
  return false;
}

/// Marks a point as kept unless an earlier one is near it. Called for each point that there is room for.
struct MarkAnyEarlier : Job {
  CONTORNO_HD void operator()(unsigned i) const {
    const unsigned contours = contours_of(in);
    if (contours == 0 || i >= in.counts->points) return;
    const bool drops = is_finite(in.points[i]) &&
                       has_earlier_near(bins, candidate_of(in, part_of(in.offsets, contours, i), i));
    keep[i] = drops ? 0 : 1;
  }
};

// kept_earlier -------------------------------------------------------------------------------------------
/// What a verdict says of a point.
__device__ __forceinline__ bool is_decided(unsigned long long verdict, unsigned index) {
  return (verdict >> (kChunk + index % kChunk) & 1) != 0;
}
__device__ __forceinline__ bool is_kept(unsigned long long verdict, unsigned index) {
  return (verdict >> index % kChunk & 1) != 0;
}
__device__ __forceinline__ bool is_dropped(unsigned long long verdict, unsigned index) {
  return is_decided(verdict, index) && !is_kept(verdict, index);
}

/// What is known of the kept earlier points near one point, by one lane.
class KeptSearch {
 public:
  __device__ KeptSearch(const Job& job, const Candidate& candidate)
      : job_(job), candidate_(candidate), chunk_(candidate.index / kChunk) {}

  // One of these comes first. Both look at the points of earlier chunks, and of the own chunk for rivals().
  /// Takes the near earlier points from the list, which has `near` of them.
  __device__ void read_list(unsigned near) {
    unsigned list[kMostNear];
    for (unsigned k = 0; k < kMostNear; ++k) list[k] = k < near ? job_.near_of(candidate_.index, k) : 0;
    for (unsigned k = 0; k < near; ++k) {
      if (list[k] / kChunk == chunk_)
        rivals_ |= 1U << list[k] % kChunk;
      else
        list_[undecided_++] = list[k];
    }
    look_again();
  }
  /// Finds them in the bins around the point: where there is no list, or one that is not complete.
  __device__ void search() {
    const Nearness& nearness = job_.bins.nearness;
    const Bin own = nearness.bin_of(candidate_.point);
    is_near_kept_ = has_kept_near(own);
    for (BinsAround around(nearness, candidate_.point, own); !is_near_kept_ && around.next();)
      is_near_kept_ = has_kept_near(around.bin());
  }
  /// Looks at verdicts that are awaited; returns whether it has come to know more.
  __device__ bool look_again() {
    constexpr unsigned kAtOnce = 4;
    const unsigned before = undecided_;
    unsigned left = 0;
    for (unsigned first = 0; first < before && !is_near_kept_; first += kAtOnce) {
      unsigned long long verdicts[kAtOnce];
      for (unsigned k = 0; k < kAtOnce && first + k < before; ++k) verdicts[k] = verdict_on(list_[first + k]);
      for (unsigned k = 0; k < kAtOnce && first + k < before; ++k) {
        const unsigned index = list_[first + k];
        if (!is_decided(verdicts[k], index))
          list_[left++] = index;
        else if (is_kept(verdicts[k], index))
          is_near_kept_ = true;
      }
    }
    undecided_ = left;
    return is_near_kept_ || left < before;
  }
  /// Whether a kept point of an earlier chunk is near, and whether that is not known yet.
  __device__ bool is_near_kept() const { return is_near_kept_; }
  __device__ bool waits() const { return !is_near_kept_ && undecided_ > 0; }
  /// The earlier lanes of this chunk whose points are near, as bits; complete unless is_near_kept().
  __device__ unsigned rivals() const { return rivals_; }

 private:
  static constexpr unsigned kMostUndecided = 12;
  static_assert(kMostUndecided >= kMostNear);

  __device__ unsigned long long verdict_on(unsigned index) const {
    return load_relaxed(&job_.verdicts[index / kChunk]);
  }
  /// Waits for the verdict.
  __device__ bool turns_out_kept(unsigned index) const {
    unsigned long long verdict = verdict_on(index);
    for (; !is_decided(verdict, index); verdict = verdict_on(index)) spin_pause();
    return is_kept(verdict, index);
  }

  /// Passes over the points at the begin of a bucket that are dropped, and lets it begin behind them from now
  /// on, so that no search passes over them again.
  __device__ unsigned begin_of(unsigned bucket) const {
    const unsigned begin = job_.bins.begins[bucket], end = job_.bins.ends[bucket];
    unsigned at = begin;
    for (; at < end; ++at) {
      const unsigned index = job_.bins.points[at].index;
      if (index / kChunk >= chunk_ || !is_dropped(verdict_on(index), index)) break;
    }
    if (at != begin) atomicMax(&job_.bins.begins[bucket], at);
    return at;
  }

  /// Whether a point of the bin is known to be kept and near. Others that are near are listed.
  __device__ bool has_kept_near(const Bin& bin) {
    const DeviceBinsView& bins = job_.bins;
    const unsigned bucket = device_bins_cuda::bucket_in(bins, bin, candidate_.of_class);
    for (unsigned at = begin_of(bucket), end = bins.ends[bucket]; at < end; ++at) {
      const BinnedPoint other = bins.points[at];
      if (other.index >= candidate_.index) break;
      if (other.index < candidate_.class_first) continue;
      const bool near = bins.nearness(other.point, candidate_.point);
      if (other.index / kChunk == chunk_) {
        if (near) rivals_ |= 1U << other.index % kChunk;
        continue;
      }
      const unsigned long long verdict = verdict_on(other.index);
      if (is_dropped(verdict, other.index)) continue;
      const bool kept = is_kept(verdict, other.index);
      if (near && kept) return true;
      // What follows a kept point in its bin is near it, and dropped.
      if (kept && bins.nearness.bin_of(other.point) == bin) break;
      if (near && !list(other.index)) return true;
    }
    return false;
  }

  /// Lists a point whose verdict is awaited; false if it turns out to be kept.
  __device__ bool list(unsigned index) {
    if (undecided_ == kMostUndecided) return !turns_out_kept(index);
    list_[undecided_++] = index;
    return true;
  }

  const Job& job_;
  const Candidate& candidate_;
  unsigned chunk_, rivals_ = 0, undecided_ = 0;
  bool is_near_kept_ = false;
  unsigned list_[kMostUndecided];
};

/// What a block shares: of each warp's chunk, the rivals of its points.
struct MarkShared {
  unsigned rivals[kArrayThreads / kChunk][kChunk];
};

/// Which points of a chunk are kept, and which are not decided yet; equal in all lanes of a warp.
struct Decisions {
  unsigned kept = 0, undecided = ~0U;

  /// Decides the points that depend on nothing undecided, in their order: each depends on those before it.
  __device__ void decide(const KeptSearch& search, bool is_left_out, const unsigned (&rivals)[kChunk]) {
    const unsigned drops = __ballot_sync(~0U, is_left_out || search.is_near_kept());
    const unsigned waits = __ballot_sync(~0U, search.waits());
    for (unsigned lane = 0; lane < kChunk; ++lane) {
      const unsigned bit = 1U << lane & undecided;
      const bool is_dropped = (drops & bit) != 0 || (rivals[lane] & kept) != 0;
      const bool is_open = (waits & bit) != 0 || (rivals[lane] & undecided) != 0;
      kept |= is_dropped || is_open ? 0U : bit;
      undecided &= is_open && !is_dropped ? ~0U : ~bit;
    }
  }
  __device__ unsigned long long verdict() const {
    return static_cast<unsigned long long>(~undecided) << kChunk | kept;
  }
};

/// Decides the 32 points of a chunk; called by a warp.
__device__ inline void decide_chunk(const Job& job, unsigned chunk, unsigned points, unsigned contours) {
  const unsigned lane = threadIdx.x % 32, i = chunk * kChunk + lane;
  Candidate candidate{.index = i};
  bool is_left_out = i >= points;
  const unsigned near = is_left_out ? 0 : job.has_lists() ? job.near_counts[i] : kMostNear + 1;
  if (near > kMostNear && is_finite(job.in.points[i])) {
    const unsigned contour = part_of(job.in.offsets, contours, i);
    is_left_out = i >= OwnPoints(job.in, contour).end;
    if (!is_left_out) candidate = candidate_of(job.in, contour, i);
  }
  KeptSearch search(job, candidate);
  if (candidate.is_point)
    search.search();
  else if (near <= kMostNear)
    search.read_list(near);
  auto& rivals = block_shared<MarkShared>().rivals[threadIdx.x / kChunk];
  rivals[lane] = search.rivals();
  __syncwarp();
  Decisions decisions;
  for (;;) {
    const unsigned before = decisions.undecided;
    decisions.decide(search, is_left_out, rivals);
    if (lane == 0 && decisions.undecided != before) store_relaxed(&job.verdicts[chunk], decisions.verdict());
    if (decisions.undecided == 0) break;
    bool knows_more = false;
    do {
      spin_pause();
      knows_more = (decisions.undecided >> lane & 1) != 0 && search.look_again();
    } while (__ballot_sync(~0U, knows_more) == 0);
  }
  __syncwarp();
  if (i < points) job.keep[i] = decisions.kept >> lane & 1;
}

__global__ void __launch_bounds__(kArrayThreads) mark_kept_earlier(const __grid_constant__ Job job) {
  if (!job.in.fits()) return;
  const auto points = static_cast<unsigned>(job.in.counts->points);
  const auto contours = static_cast<unsigned>(job.in.counts->contours);
  for (;;) {
    unsigned chunk = 0;
    if (threadIdx.x % 32 == 0) chunk = atomicAdd(job.next_chunk, 1U);
    chunk = __shfl_sync(~0U, chunk, 0);
    if (1ULL * chunk * kChunk >= points) return;
    decide_chunk(job, chunk, points, contours);
  }
}

}  // namespace contorno::drop_duplicates_cuda
