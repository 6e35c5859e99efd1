// The maximum over a window along lines of words in shared memory, by all threads of a block, for
// window_rows. Internal.
#pragma once

#include "stages/morphology/lanes.cuh"

namespace contorno::morphology_cuda {

inline constexpr int kGroup = 7;  ///< steps of a group; odd, so that threads use different banks

/// The maximum over the `length` words that begin at each step of `lines` interleaved lines; step e of line l
/// is word e * lines + l of `raw`. `totals` is as large as `raw`; both have room for two groups after the
/// last step. Returns which of the two has the results, of the first `steps` - (length - 1) steps. All
/// threads of the block call it after a barrier; it ends with a barrier.
///
/// After van Herk, Gil and Werman, but with groups of kGroup steps: a thread makes the running maxima of
/// its group, and a window is the end of one group, whole groups, and the beginning of another.
template <class W>
__device__ unsigned* window_along(unsigned* raw, unsigned* totals, int lines, int steps, int length) {
  using R = RunningMaximum<W>;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  if (length == 1) return raw;
  const int results = steps - (length - 1);
  if (length <= kGroup) {
    for (int at = thread; at < results * lines; at += threads) {
      R running(raw[at]);
      for (int k = 1; k < length; ++k) running.take(raw[at + k * lines]);
      totals[at] = running.word();
    }
    __syncthreads();
    return totals;
  }
  const int groups = (steps + kGroup - 1) / kGroup;
  for (int i = thread; i < groups * lines; i += threads) {
    const int base = i / lines * kGroup * lines + i % lines;
    R running(raw[base]);
    totals[base] = raw[base];
#pragma unroll
    for (int e = 1; e < kGroup; ++e) {
      running.take(raw[base + e * lines]);
      totals[base + e * lines] = running.word();
    }
  }
  __syncthreads();
  for (int i = thread; i < groups * lines; i += threads) {
    const int group = i / lines, base = group * kGroup * lines + i % lines;
    const int first = group * kGroup;
    if (first >= results) continue;
    R rest[kGroup];
    rest[kGroup - 1] = R(raw[base + (kGroup - 1) * lines]);
#pragma unroll
    for (int e = kGroup - 2; e >= 0; --e) {
      rest[e] = rest[e + 1];
      rest[e].take(raw[base + e * lines]);
    }
    // `middle` is the whole groups that a window covers, and `last` the running maximum at the window's last
    // step. Where that step is the last of its group, the next window covers that whole group, too.
    R middle = rest[kGroup - 1];
    for (int ahead = 1; ahead < (length - 1) / kGroup; ++ahead)
      middle.take(totals[base + (ahead * kGroup + kGroup - 1) * lines]);
    const unsigned* ends = totals + base + (length - 1) * lines;
    int end = (length - 1) % kGroup;
#pragma unroll
    for (int e = 0; e < kGroup; ++e) {
      const unsigned last = ends[e * lines];
      R window = middle;
      window.take(rest[e]);
      window.take(last);
      raw[base + e * lines] = window.word();
      if (++end == kGroup) middle.take(last), end = 0;
    }
  }
  __syncthreads();
  return raw;
}

}  // namespace contorno::morphology_cuda
