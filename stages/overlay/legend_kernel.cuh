// The kernel that counts objects for the legend and adds up their shares. It has one block: objects in view
// are few.
#pragma once

#include "cuda/sums.cuh"
#include "geometry/ascending.h"
#include "stages/overlay/job.cuh"

namespace contorno::overlay_cuda {

struct LegendShared {
  unsigned outlines, fresh;
  unsigned long long newest;
  int largest;
};

/// Calls use(i) for 0 <= i < count, each by one thread of the block.
template <class Use>
__device__ void share_out(unsigned count, const Use& use) {
  for (unsigned i = threadIdx.x; i < count; i += kThreads) use(i);
}

/// Lists the outlines in shared.outlines and counts those that were not there before.
__device__ inline void find_outlines(const Job& job, unsigned contours, LegendShared& shared) {
  const LegendState& before = *job.state_before;
  if (threadIdx.x == 0) shared = {.outlines = 0, .fresh = 0, .newest = before.newest, .largest = -1};
  __syncthreads();
  share_out(contours, [&](unsigned i) {
    const std::uint64_t id = outlined(job.contours, i);
    if (id == 0) return;
    job.legend_work.outlines[atomicAdd(&shared.outlines, 1U)] = i;
    atomicMax(&shared.newest, static_cast<unsigned long long>(id));
    if (!before.has(id)) atomicAdd(&shared.fresh, 1U);
  });
  __syncthreads();
}

/// Writes the state behind the frame.
__device__ inline void leave_state(const Job& job, const LegendShared& shared) {
  const LegendState& before = *job.state_before;
  LegendState& after = *job.state_after;
  share_out(LegendState::kIds / 32, [&](unsigned at) { after.counted[at] = before.kept(at, shared.newest); });
  __syncthreads();
  share_out(shared.outlines, [&](unsigned n) {
    const std::uint64_t id = outlined(job.contours, job.legend_work.outlines[n]);
    if (shared.newest - id < LegendState::kIds)
      atomicOr(after.counted + LegendState::word(id), LegendState::bit(id));
  });
  if (threadIdx.x == 0) after.so_far = before.so_far + shared.fresh, after.newest = shared.newest;
}

/// Lists the outlines by their ids, those of one id by their order. All pairs are compared: there are no more
/// outlines than the step `objects` follows (`max_objects`).
__device__ inline void sort_outlines(const Job& job, unsigned outlines) {
  const double* const ids = job.contours.column(Attribute::Id);
  const unsigned* const listed = job.legend_work.outlines;
  share_out(outlines, [&](unsigned n) {
    const unsigned outline = listed[n];
    unsigned before = 0;
    for (unsigned m = 0; m < outlines; ++m) {
      const unsigned other = listed[m];
      before += ids[other] < ids[outline] || (ids[other] == ids[outline] && other < outline) ? 1U : 0U;
    }
    job.legend_work.by_id[before] = outline;
  });
  __syncthreads();
}

/// The outline of a contour's object; of several with one id the first.
__device__ inline unsigned owner_of(const Job& job, unsigned contour, unsigned outlines) {
  const double object = job.contours.column(Attribute::Object)[contour];
  const double* const ids = job.contours.column(Attribute::Id);
  const unsigned* const sorted = job.legend_work.by_id;
  unsigned low = 0;
  for (unsigned end = outlines; low < end;) {
    const unsigned middle = low + (end - low) / 2;
    if (ids[sorted[middle]] < object)
      low = middle + 1;
    else
      end = middle;
  }
  return low < outlines && ids[sorted[low]] == object ? sorted[low] : LegendWork::kNoOwner;
}

/// Finds which outline each contour belongs to, and what shares of that are parts of.
__device__ inline void measure_objects(const Job& job, unsigned contours, unsigned outlines) {
  const LegendWork& legend = job.legend_work;
  const double* const shares = job.contours.column(Attribute::Share);
  sort_outlines(job, outlines);
  share_out(outlines, [&](unsigned n) { legend.wholes[legend.outlines[n]] = job.legend_form.whole; });
  __syncthreads();
  share_out(contours, [&](unsigned i) {
    const unsigned owner = owner_of(job, i, outlines);
    legend.owners[i] = owner;
    const unsigned k = part_of(job.contours.class_begin, static_cast<unsigned>(job.classes), i);
    if (owner != LegendWork::kNoOwner && job.class_table[k].whole)
      atomicAdd(legend.wholes + owner, share_in_units(shares[i]));
  });
  __syncthreads();
  for (unsigned n = threadIdx.x / 32; n < outlines; n += kWarps) {
    const unsigned outline = legend.outlines[n];
    unsigned cut = 0;
    for (unsigned p = job.contours.offsets[outline] + threadIdx.x % 32; p < job.contours.offsets[outline + 1];
         p += 32)
      cut |= is_at_border(job.contours, job.contours.points[p]) ? 1U : 0U;
    cut = join_warp(cut, [](unsigned a, unsigned b) { return a | b; });
    const bool measured =
        cut == 0 && shares[outline] == shares[outline] && static_cast<long long>(legend.wholes[outline]) >= 0;
    if (threadIdx.x % 32 == 0 && !measured) legend.wholes[outline] = 0;
  }
}

/// The largest share of class `k`, in shared.largest. Called by the whole block.
__device__ inline void find_largest_share(const Job& job, int k, LegendShared& shared) {
  const LegendWork& legend = job.legend_work;
  __syncthreads();
  if (threadIdx.x == 0) shared.largest = -1;
  share_out(shared.outlines, [&](unsigned n) { legend.of_class[legend.outlines[n]] = 0; });
  __syncthreads();
  const unsigned first = job.contours.class_begin[k], end = job.contours.class_begin[k + 1];
  share_out(end - first, [&](unsigned i) {
    const unsigned owner = legend.owners[first + i];
    if (owner != LegendWork::kNoOwner)
      atomicAdd(legend.of_class + owner, share_in_units(job.contours.column(Attribute::Share)[first + i]));
  });
  __syncthreads();
  share_out(shared.outlines, [&](unsigned n) {
    const unsigned outline = legend.outlines[n];
    if (legend.wholes[outline] != 0)
      atomicMax(&shared.largest, tenths_of(legend.of_class[outline], legend.wholes[outline]));
  });
  __syncthreads();
}

__global__ void __launch_bounds__(kThreads) count_objects(const Job job) {
  if (!job.contours.fits()) return;
  auto& shared = block_shared<LegendShared>();
  const auto contours = static_cast<unsigned>(job.contours.counts->contours);
  find_outlines(job, contours, shared);
  leave_state(job, shared);
  const auto size_of = [&](int n) { return job.pictures[n].size; };
  LegendWriter writer(job.legend_form, size_of, job.legend_pieces);  // of the first thread only
  if (threadIdx.x == 0) writer.objects(shared.outlines, job.state_before->so_far + shared.fresh);
  if (job.has_shares) measure_objects(job, contours, shared.outlines);
  for (int k = 0; job.has_shares && k < job.classes; ++k) {
    const FramePoint end = job.class_table[k].share_end;
    if (end.x < 0) continue;
    find_largest_share(job, k, shared);
    if (threadIdx.x == 0) writer.share(end, shared.largest);
  }
  if (threadIdx.x == 0) *job.legend_piece_count = writer.count();
}

}  // namespace contorno::overlay_cuda
