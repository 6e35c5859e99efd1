// Rectangles whose windows are so wide that a block better holds whole rows of the image: then
// nothing is loaded or prepared twice. Internal.
#pragma once

#include <algorithm>

#include "stages/morphology_rectangles.cuh"

namespace contorno::morphology_cuda {

/// Steps that a thread holds. So many that 3264 pixels of three samples are few enough threads for two blocks
/// on a multiprocessor with all registers that they ask for; odd, so that banks differ.
inline constexpr int kWholeHeld = 21;
inline constexpr unsigned kMostWholeThreads = 480;
/// Bytes of shared memory of a block, which every device has.
inline constexpr std::size_t kMostWholeShared = 64 << 10;

/// A window longer than kWholeHeld, of which some part lies in the line, at each of the line's steps.
struct WholeWindow {
  int first = 0, length = 0;  ///< steps first .. first + length - 1 from the result's; 0 is one of them

  /// Steps behind a line's last that are looked at; before its first one, kWholeHeld are.
  CONTORNO_HD int reach() const { return first + length - 1 + kWholeHeld; }
  /// Stretches of kWholeHeld steps, from the line's first, in which windows begin.
  CONTORNO_HD int begun(int steps) const { return (steps - 1 + first) / kWholeHeld + 1; }
  /// Threads of a line: its stretches, or those that windows begin in, from before the line on.
  int holders(int steps) const {
    return std::max((steps + kWholeHeld - 1) / kWholeHeld,
                    begun(steps) + (kWholeHeld - 1 - first) / kWholeHeld);
  }
  /// Whether window_of_whole can make it.
  bool fits(int steps) const {
    return length > kWholeHeld && first <= 0 && -first < steps && first + length > 0;
  }
};

/// grouped_window for a whole line of `steps` steps, all of them shared, as is what lies within reach outside
/// of it. The thread numbered `holder` holds the steps from holder * kWholeHeld on. Windows that begin before
/// the line are made by its last threads: in their stretches none begins. Returns the step of the first
/// result.
template <class W, Extreme kExtreme>
__device__ int window_of_whole(unsigned (&held)[kWholeHeld], const HeldPlace& place,
                               const WholeWindow& window, int steps, int holder, int holders,
                               unsigned outside) {
  using R = Running<W, kExtreme>;
  // Packed, so that registers suffice: held becomes what is left of the stretch, from each step on.
  if (place.steps != nullptr) {
    R rest(held[kWholeHeld - 1]);
#pragma unroll
    for (int e = kWholeHeld - 2; e >= 0; --e) {
      rest.take(held[e]);
      held[e] = rest.word();
    }
    place.groups[0] = held[0];
  }
  __syncthreads();
  const int begin = holder < window.begun(steps) ? holder : holder - holders;
  const int result = begin * kWholeHeld - window.first;
  if (place.steps == nullptr || result + kWholeHeld <= 0) return steps;
  if (begin < 0) {
#pragma unroll
    for (int e = 0; e < kWholeHeld; ++e) held[e] = outside;
  }
  const int whole = (window.length - 1) / kWholeHeld, over = (window.length - 1) % kWholeHeld;
  const unsigned* from = place.steps + (begin - holder) * kWholeHeld * place.stride;
  const unsigned* last = from + (window.length - 1) * place.stride;
  R end(*last);
  const int next = max(begin + 1, 0);
  take_many(end, place.groups + (next - holder) * place.stride, place.stride,
            min(begin + whole, holders) - next);
  take_many(end, from + whole * kWholeHeld * place.stride, place.stride, over);
#pragma unroll
  for (int e = 0; e < kWholeHeld; ++e) {
    if (e > 0) end.take(R(last[e * place.stride]));
    R all(held[e]);
    all.take(end);
    held[e] = all.word();
  }
  return result;
}

/// Both windows of an opening along whole rows. A block takes as many rows as a word has lanes.
struct WholeRowsJob {
  AcrossJob rows;
  WholeWindow first, second;
  int lead = 0;  ///< words of shared memory before the line
  int room = 0;  ///< words behind the line's samples
};

/// What lies outside of a line of `count` words.
__device__ inline void put_outside(unsigned* line, int count, int lead, int room, unsigned outside) {
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  for (int at = thread; at < lead; at += threads) line[at - lead] = outside;
  for (int at = thread; at < room; at += threads) line[count + at] = outside;
}

template <class Rule, Extreme kExtreme, int kPixel>
__global__ void __launch_bounds__(kMostWholeThreads, blocks_sharing(kMostWholeThreads, 2))
    window_whole_rows(const WholeRowsJob whole) {
  using W = typename Rule::W;
  constexpr Extreme kOther = kExtreme == Extreme::Minimum ? Extreme::Maximum : Extreme::Minimum;
  const AcrossJob& job = whole.rows;
  const int pixel = kPixel != 0 ? kPixel : job.pixel, samples = job.columns * pixel;
  unsigned* shared = &block_shared<unsigned>();
  unsigned* line = shared + whole.lead;
  const unsigned plane_of_block = job.planes == 1 ? 0 : blockIdx.x / job.high;
  const auto plane = static_cast<int>(plane_of_block);
  const int row = static_cast<int>(blockIdx.x - plane_of_block * job.high) * kLanes<W>;
  take_rows<Rule>(job, plane, row, 0, samples, line);
  put_outside(line, samples, whole.lead, whole.room, job.outside);
  __syncthreads();
  int channel = 0, holder = static_cast<int>(threadIdx.x);
  for (; channel < pixel && holder >= job.holders; ++channel) holder -= job.holders;
  HeldPlace place{.stride = pixel};
  unsigned held[kWholeHeld] = {};
  if (channel < pixel) {
    place.steps = line + holder * kWholeHeld * pixel + channel;
    place.groups = shared + job.groups_at + holder * pixel + channel;
#pragma unroll
    for (int e = 0; e < kWholeHeld; ++e) held[e] = place.steps[e * pixel];
  }
  const auto put = [&](int x) {
#pragma unroll
    for (int e = 0; e < kWholeHeld; ++e)
      if (x + e >= 0 && x + e < job.columns) line[(x + e) * pixel + channel] = held[e];
  };
  int x =
      window_of_whole<W, kExtreme>(held, place, whole.first, job.columns, holder, job.holders, job.outside);
  if (job.settle) {
#pragma unroll
    for (int e = 0; e < kWholeHeld; ++e) held[e] = settled_word<Rule>(held[e]);
  }
  __syncthreads();
  put(x);
  put_outside(line, samples, whole.lead, whole.room, job.second_outside);
  __syncthreads();
  if (channel < pixel) {
#pragma unroll
    for (int e = 0; e < kWholeHeld; ++e) held[e] = place.steps[e * pixel];
  }
  x = window_of_whole<W, kOther>(held, place, whole.second, job.columns, holder, job.holders,
                                 job.second_outside);
  __syncthreads();
  put(x);
  __syncthreads();
  give_rows<W>(job, plane, row, 0, samples, line);
}

}  // namespace contorno::morphology_cuda
