// The extreme over long windows along whole lines of words in shared memory. A line is cut into stretches of
// kSteps words, and the cost hardly grows with the window. Internal.
#pragma once

#include <algorithm>

#include "stages/morphology/held.cuh"

namespace contorno::morphology_cuda {

/// A window on a line: for a result at step e it covers the steps e + first .. e + first + length - 1.
struct LineWindow {
  int first = 0, length = 1;

  /// The same window where only the first `results` steps of a line of `steps` steps are results. What lies
  /// outside of the line for all results is cut off, but for one step, so that the window still covers
  /// something outside.
  LineWindow within(int steps, int results) const {
    const int begin = std::clamp(first, -results, steps);
    return {begin, std::clamp(first + length - 1, -results, steps) - begin + 1};
  }
};

/// A line cut into `count` stretches of kSteps steps. One more stretch before it and one after it hold what
/// lies outside.
template <int kSteps>
struct Stretches {
  unsigned* steps = nullptr;  ///< the line's first; null: this thread has no line
  unsigned* ones = nullptr;   ///< the extreme over every stretch
  unsigned* many = nullptr;   ///< the extreme over kMany stretches, from each one on
  int stride = 1;             ///< words from step to step, and from stretch to stretch in `ones` and `many`
  int count = 0;

  static constexpr int kMany = 8;

  /// The stretch in which a step lies, which may be negative.
  static CONTORNO_HD constexpr int holding(int step) {
    return step >= 0 ? step / kSteps : -((kSteps - 1 - step) / kSteps);
  }
  /// Whether windows cover so many stretches that `many` is read.
  static CONTORNO_HD constexpr bool needs_many(int length) { return length > (kMany + 1) * kSteps; }
};

/// Writes many[stretch]; `ones` must be complete.
template <class W, Extreme kExtreme, int kSteps>
__device__ void put_many(const Stretches<kSteps>& line, int stretch) {
  using R = Running<W, kExtreme>;
  constexpr int kMany = Stretches<kSteps>::kMany;
  const unsigned* ones = line.ones + stretch * line.stride;
  R many(ones[0]);
#pragma unroll
  for (int k = 1; k + 1 < kMany; k += 2) many.take(R(ones[k * line.stride]), R(ones[(k + 1) * line.stride]));
  many.take(R(ones[(kMany - 1) * line.stride]));
  line.many[stretch * line.stride] = many.word();
}

/// The extremes over the windows that begin at the steps of a stretch, which may lie outside of the line.
/// `rest` has the extreme from each of its steps to its end, and is replaced by the results. After van Herk,
/// Gil and Werman, but with stretches of fixed length: a window is the end of one stretch, whole stretches,
/// and the first steps of another.
template <class W, Extreme kExtreme, int kSteps>
__device__ void windows_from(unsigned (&rest)[kSteps], const Stretches<kSteps>& line, int stretch,
                             int length) {
  using R = Running<W, kExtreme>;
  constexpr int kMany = Stretches<kSteps>::kMany;
  // The last step of the first window, limited to the stretches outside, all of whose steps are equal.
  const int at = min(max(stretch * kSteps + length - 1, -kSteps), line.count * kSteps);
  const int ends_in = (at + kSteps) / kSteps - 1;
  const unsigned* last = line.steps + at * line.stride;
  R end(*last);
  int next = max(stretch + 1, 0);
  if (ends_in - next < kMany) {
    take_many(end, line.ones + next * line.stride, line.stride, ends_in - next);
  } else {
    for (; next + kMany < ends_in; next += kMany) end.take(R(line.many[next * line.stride]));
    end.take(R(line.many[(ends_in - kMany) * line.stride]));
  }
  const int over = at - ends_in * kSteps;
  take_many(end, last - over * line.stride, line.stride, over);
#pragma unroll
  for (int e = 0; e < kSteps; ++e) {
    if (e > 0) end.take(R(last[e * line.stride]));
    R all(rest[e]);
    all.take(end);
    rest[e] = all.word();
  }
}

}  // namespace contorno::morphology_cuda
