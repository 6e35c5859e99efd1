// The maximum over a window along lines of words, of which each thread holds kHeld consecutive words in
// registers. A step is the position of a word on its line. Internal.
#pragma once

#include <algorithm>

#include "stages/morphology/lanes.cuh"

namespace contorno::morphology_cuda {

/// A window on a line: for a result at step e it covers the steps e + first .. e + first + length - 1.
struct LineWindow {
  int first = 0, length = 0;
  unsigned complement = 0;  ///< complement_for(its extreme)
  unsigned outside = 0;     ///< the word at steps that are not on the line; not complemented

  /// This window where only the first `results` steps of a line of `steps` steps are results. What lies
  /// outside of the line for all results is cut off, but for one step, so that the window still covers
  /// something outside.
  LineWindow within(int steps, int results) const {
    const int begin = std::clamp(first, -results, steps);
    const int end = std::clamp(first + length - 1, -results, steps) + 1;
    return {begin, end - begin, complement, outside};
  }
};

inline constexpr int kHeld = 15;  ///< steps that a thread holds; odd, so that banks differ
/// Steps after the last one that a thread of the line holds, which may be read.
inline constexpr int kHeldRoom = 2 * kHeld;
inline constexpr int kShortWindow = 5, kShortGroup = 5;

/// Where the steps of a thread lie in shared memory. Those of the line's next thread begin kHeld steps
/// further on.
struct HeldPlace {
  unsigned* steps = nullptr;   ///< the first of kHeld; null: this thread holds nothing
  unsigned* groups = nullptr;  ///< the first of kHeld / kShortGroup maxima over groups of steps
  int stride = 1;              ///< words from step to step, and from short group to short group
};

/// Writes the thread's steps to shared memory, as far as window_of_held with the same length reads those of
/// other threads.
__device__ inline void share_held(const unsigned (&held)[kHeld], const HeldPlace& place, int length) {
  if (place.steps == nullptr) return;
#pragma unroll
  for (int e = 0; e < kHeld; ++e)
    if (e < kShortWindow - 1 || length > kShortWindow) place.steps[e * place.stride] = held[e];
}

/// Windows of 2 to 5 steps: only the first steps of the next thread are read from shared memory, all others
/// are in registers.
template <class W, int kLength>
__device__ void short_window(unsigned (&held)[kHeld], const HeldPlace& place) {
  using R = RunningMaximum<W>;
  __syncthreads();
  if (place.steps == nullptr) return;
  unsigned behind[kLength - 1];
#pragma unroll
  for (int e = 0; e < kLength - 1; ++e) behind[e] = place.steps[(kHeld + e) * place.stride];
  const auto step = [&](int e) { return R(e < kHeld ? held[e] : behind[e - kHeld]); };
#pragma unroll
  for (int e = 0; e < kHeld; ++e) {
    R window = step(e);
#pragma unroll
    for (int k = 1; k < kLength - 1; k += 2) window.take(step(e + k), step(e + k + 1));
    if (kLength % 2 == 0) window.take(step(e + kLength - 1));
    held[e] = window.word();
  }
}

/// `running` with `count` more words, `stride` apart, which differ by `complement`.
template <class R>
__device__ void take_many(R& running, const unsigned* words, int stride, int count, unsigned complement = 0) {
  int k = 0;
  for (; k + 1 < count; k += 2)
    running.take(R(words[k * stride] ^ complement), R(words[(k + 1) * stride] ^ complement));
  if (k < count) running.take(R(words[k * stride] ^ complement));
}

/// After van Herk, Gil and Werman, but with groups of kGroup steps instead of groups as long as the window. A
/// window is the last steps of the group in which it begins, whole groups, and the first steps of the group
/// in which it ends.
template <class W, int kGroup>
__device__ void grouped_window(unsigned (&held)[kHeld], const HeldPlace& place, int length, bool needed) {
  using R = RunningMaximum<W>;
  constexpr int kGroups = kHeld / kGroup;
  const int group_stride = kGroup / kShortGroup * place.stride;
  // Held steps become the maxima from each of them to the end of its group, in packed words, so that
  // registers suffice.
  if (place.steps != nullptr) {
    R rest{};
#pragma unroll
    for (int e = kHeld - 1; e >= 0; --e) {
      if ((e + 1) % kGroup == 0)
        rest = R(held[e]);
      else
        rest.take(held[e]);
      held[e] = rest.word();
      if (e % kGroup == 0) place.groups[e / kGroup * group_stride] = held[e];
    }
  }
  __syncthreads();
  if (!needed) return;
  const int whole = (length - 1) / kGroup, over = (length - 1) % kGroup;
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    const unsigned* last = place.steps + (g * kGroup + length - 1) * place.stride;
    // All windows that begin in the group have this in common.
    R end(*last);
    take_many(end, place.groups + (g + 1) * group_stride, group_stride, whole - 1);
    take_many(end, place.steps + (g + whole) * kGroup * place.stride, place.stride, over);
#pragma unroll
    for (int e = 0; e < kGroup; ++e) {
      if (e > 0) end.take(R(last[e * place.stride]));
      R window(held[g * kGroup + e]);
      window.take(end);
      held[g * kGroup + e] = window.word();
    }
  }
}

/// Replaces each held step by the maximum over the `length` steps that begin there. Called by all threads of
/// the block with the same length, after share_held; `needed`: whether the results of this thread are used.
template <class W>
__device__ void window_of_held(unsigned (&held)[kHeld], const HeldPlace& place, int length, bool needed) {
  if (length > kHeld)
    grouped_window<W, kHeld>(held, place, length, needed);
  else if (length > kShortWindow)
    grouped_window<W, kShortGroup>(held, place, length, needed);
  else if (length == 5)
    short_window<W, 5>(held, place);
  else if (length == 4)
    short_window<W, 4>(held, place);
  else if (length == 3)
    short_window<W, 3>(held, place);
  else if (length == 2)
    short_window<W, 2>(held, place);
}

}  // namespace contorno::morphology_cuda
