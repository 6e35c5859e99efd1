// The general kernel of morphology, for elements that are too large for a tile or that have heights: it reads
// words from global memory. Internal.
#pragma once

#include "stages/morphology/kernels.cuh"

namespace contorno::morphology_cuda {

/// The terms [terms_begin, terms_end) that use one table of runs.
struct DeviceTable {
  int terms_begin = 0, terms_end = 0;
};
/// A run or a single member: its distance from the window's upper left corner, in words and rows, and its
/// height.
struct DeviceTerm {
  int shift = 0, row = 0;
  float add = 0;
};

struct TermsJob {
  Strips strips;  ///< of the output
  Strips table;   ///< of the input, which may be wider
  const unsigned* in = nullptr;
  unsigned* out = nullptr;
  const DeviceTerm* terms = nullptr;
  int begin = 0, end = 0;
  int left = 0, top = 0;
  bool first = true, last = true;  ///< whether this launch is the first, the last of those for one window
  bool settle = false;
  unsigned outside = 0, next_outside = 0;
};

/// Adds `height` to every lane that is a sample.
template <class Rule>
__device__ unsigned raised_word(unsigned word, float height) {
  using W = typename Rule::W;
  unsigned result = 0;
  for (int lane = 0; lane < kLanes<W>; ++lane) {
    W value = lane_of<W>(word, lane);
    if constexpr (Rule::kFloat) {
      if (value != OrderedFloat::kNothing) value = OrderedFloat::from(OrderedFloat::to(value) + height);
    } else {
      value = static_cast<W>(value + static_cast<W>(height));
    }
    result |= in_lane<W>(value, lane);
  }
  return result;
}

/// Applies the terms [job.begin, job.end) of a window; a thread a word.
template <class Rule, Extreme kExtreme>
__global__ void __launch_bounds__(kTermThreads) window_terms(const TermsJob job) {
  using W = typename Rule::W;
  using R = Running<W, kExtreme>;
  const auto words = static_cast<long long>(job.strips.words());
  const long long index = static_cast<long long>(blockIdx.x) * kTermThreads + threadIdx.x;
  if (index >= words * job.strips.planes) return;
  const auto plane = static_cast<std::ptrdiff_t>(index / words);
  const int in_plane = static_cast<int>(index % words);
  const int x = in_plane % job.strips.samples(), row = in_plane / job.strips.samples();
  const unsigned* in = job.in + plane * static_cast<std::ptrdiff_t>(job.table.words());
  R running(job.first ? broadcast<W>(Rule::nothing(kExtreme)) : job.out[index]);
  for (int t = job.begin; t < job.end; ++t) {
    const DeviceTerm term = job.terms[t];
    unsigned word =
        word_at<W>(in, job.table, x + job.left + term.shift, row + job.top + term.row, job.outside);
    if constexpr (Rule::kHeights) word = raised_word<Rule>(word, term.add);
    running.take(word);
  }
  unsigned word = running.word();
  if (job.last) {
    if (job.settle) word = settled_word<Rule>(word);
    word = clipped<W>(job.strips, row, word, job.next_outside);
  }
  job.out[index] = word;
}

}  // namespace contorno::morphology_cuda
