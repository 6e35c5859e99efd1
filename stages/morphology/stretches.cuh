// The maximum over long windows along whole lines of words in shared memory. A line is cut into stretches of
// kSteps words, and the cost hardly grows with the window. Internal.
#pragma once

#include "stages/morphology/held.cuh"

namespace contorno::morphology_cuda {

/// A line cut into `count` stretches of kSteps steps. One more stretch before it and one after it hold what
/// lies outside.
template <int kSteps>
struct Stretches {
  unsigned* steps = nullptr;  ///< the line's first; null: this thread has no line
  unsigned* ones = nullptr;   ///< the maximum over every stretch
  unsigned* many = nullptr;   ///< the maximum over kMany stretches, from each one on
  int stride = 1;             ///< words from step to step, and from stretch to stretch in `ones` and `many`
  int count = 0;
  unsigned complement = 0;  ///< what the words of `steps` are xored with before their maxima are taken

  static constexpr int kMany = 8;

  __device__ unsigned step(int number) const { return steps[number * stride] ^ complement; }

  /// The stretch in which a step lies, which may be negative.
  static CONTORNO_HD constexpr int holding(int step) {
    return step >= 0 ? step / kSteps : -((kSteps - 1 - step) / kSteps);
  }
  /// Whether windows cover so many stretches that `many` is read.
  static CONTORNO_HD constexpr bool needs_many(int length) { return length > (kMany + 1) * kSteps; }
};

/// rest[e] becomes the maximum from step e of a stretch to the stretch's end. They are packed words, so that
/// registers suffice.
template <class W, int kSteps>
__device__ void rest_of_stretch(unsigned (&rest)[kSteps], const Stretches<kSteps>& line, int stretch) {
  using R = RunningMaximum<W>;
  const int first = stretch * kSteps;
  R running(line.step(first + kSteps - 1));
  rest[kSteps - 1] = running.word();
#pragma unroll
  for (int e = kSteps - 2; e >= 0; --e) {
    running.take(R(line.step(first + e)));
    rest[e] = running.word();
  }
}
/// Makes `rest` for a stretch that does not lie on the line.
template <int kSteps>
__device__ void rest_outside(unsigned (&rest)[kSteps], const LineWindow& window) {
#pragma unroll
  for (int e = 0; e < kSteps; ++e) rest[e] = window.outside ^ window.complement;
}

/// Writes many[stretch]; `ones` must be complete.
template <class W, int kSteps>
__device__ void put_many(const Stretches<kSteps>& line, int stretch) {
  using R = RunningMaximum<W>;
  constexpr int kMany = Stretches<kSteps>::kMany;
  const unsigned* ones = line.ones + stretch * line.stride;
  R many(ones[0]);
#pragma unroll
  for (int k = 1; k + 1 < kMany; k += 2) many.take(R(ones[k * line.stride]), R(ones[(k + 1) * line.stride]));
  many.take(R(ones[(kMany - 1) * line.stride]));
  line.many[stretch * line.stride] = many.word();
}

/// The maxima over the windows that begin at the steps of a stretch, which may lie outside of the line.
/// `rest` has the maximum from each of its steps to its end, and is replaced by the results. After van Herk,
/// Gil and Werman, but with stretches of fixed length: a window is the end of one stretch, whole stretches,
/// and the first steps of another.
template <class W, int kSteps>
__device__ void windows_from(unsigned (&rest)[kSteps], const Stretches<kSteps>& line, int stretch,
                             int length) {
  using R = RunningMaximum<W>;
  constexpr int kMany = Stretches<kSteps>::kMany;
  // The last step of the first window, limited to the stretches outside, all of whose steps are equal.
  const int at = min(max(stretch * kSteps + length - 1, -kSteps), line.count * kSteps);
  const int ends_in = (at + kSteps) / kSteps - 1;
  R end(line.step(at));
  int next = max(stretch + 1, 0);
  if (ends_in - next < kMany) {
    take_many(end, line.ones + next * line.stride, line.stride, ends_in - next);
  } else {
    for (; next + kMany < ends_in; next += kMany) end.take(R(line.many[next * line.stride]));
    end.take(R(line.many[(ends_in - kMany) * line.stride]));
  }
  const int begin = ends_in * kSteps;
  take_many(end, line.steps + begin * line.stride, line.stride, at - begin, line.complement);
#pragma unroll
  for (int e = 0; e < kSteps; ++e) {
    if (e > 0) end.take(R(line.step(at + e)));
    R all(rest[e]);
    all.take(end);
    rest[e] = all.word();
  }
}

}  // namespace contorno::morphology_cuda
