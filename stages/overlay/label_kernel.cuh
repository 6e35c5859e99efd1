// The kernel that places labels. It has one block, since the place of a label depends on the labels before
// it.
#pragma once

#include "cuda/sums.cuh"
#include "stages/overlay/job.cuh"

namespace contorno::overlay_cuda {

struct LabelShared {
  unsigned long long best[kWarps];
};

/// A number that is higher for larger boxes and, of equal ones, for earlier contours; 0 stands for no
/// contour.
__device__ inline unsigned long long rank_of(float area, unsigned contour) {
  return static_cast<unsigned long long>(std::bit_cast<unsigned>(area)) << 32U | (~contour);
}

/// The highest rank below `limit` among contours [from, to) with boxes of at least `smallest`. Called by the
/// whole block.
__device__ inline unsigned long long next_rank(const Job& job, unsigned from, unsigned to, float smallest,
                                               unsigned long long limit, LabelShared& shared) {
  unsigned long long best = 0;
  for (unsigned contour = from + threadIdx.x; contour < to; contour += kThreads) {
    const float area = job.boxes[contour].area();
    if (!(area >= smallest)) continue;
    const unsigned long long rank = rank_of(area, contour);
    if (rank < limit && rank > best) best = rank;
  }
  best = join_warp(best, [](unsigned long long a, unsigned long long b) { return a > b ? a : b; });
  if (threadIdx.x % 32 == 0) shared.best[threadIdx.x / 32] = best;
  __syncthreads();
  for (unsigned warp = 0; warp < kWarps; ++warp) best = shared.best[warp] > best ? shared.best[warp] : best;
  __syncthreads();
  return best;
}

__device__ inline bool is_free(const Job& job, const PlacedBox& label, int count) {
  if (job.has_legend && !are_apart(label, {job.legend.x, job.legend.y, job.pictures[job.legend.stamp].size}))
    return false;
  for (int i = 0; i < count; ++i)
    if (!are_apart(label, job.placed[i].box)) return false;
  return true;
}

/// The label of a contour, behind those that are there. False when there is no room for it on the image.
__device__ inline bool place_label(const Job& job, int first, unsigned contour, int count) {
  PlacedLabel label = compose_label(
      job.label_form, first, job.contours, contour, [&](int n) { return job.pictures[n].size; },
      job.pieces + static_cast<std::ptrdiff_t>(count) * job.label_pieces);
  label.box = label_at(job.boxes[contour], label.box.size, job.grid.width, job.grid.height);
  if (!is_free(job, label.box, count)) return false;
  job.placed[count] = label;
  return true;
}

__global__ void __launch_bounds__(kThreads) place_labels(const Job job) {
  if (!job.contours.fits()) return;
  auto& shared = block_shared<LabelShared>();
  int count = 0;  // counts in the first thread only
  for (int k = 0; k < job.classes; ++k) {
    const int number = job.class_table[k].label;
    if (number < 0 || job.class_table[k].pen.hidden) continue;
    const StampSize size = job.pictures[number].size;
    unsigned long long rank = ~0ULL;
    for (int i = 0; i < job.labels; ++i) {
      rank = next_rank(job, job.contours.class_begin[k], job.contours.class_begin[k + 1],
                       smallest_labelled(size), rank, shared);
      if (rank == 0) break;
      if (threadIdx.x != 0) continue;
      if (place_label(job, number, ~static_cast<unsigned>(rank), count)) ++count;
    }
  }
  if (threadIdx.x == 0) *job.placed_count = count;
}

}  // namespace contorno::overlay_cuda
