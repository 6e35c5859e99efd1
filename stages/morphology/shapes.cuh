// The kernel of morphology for elements that no tile holds or that have heights: straight from words in
// memory. Internal.
#pragma once

#include "stages/morphology/kernels.cuh"

namespace contorno::morphology_cuda {

/// A table of runs, and the terms that use it, for window_terms.
struct DeviceTable {
  int terms_begin = 0, terms_end = 0;
};
/// A run or a member: words to the right of and rows below the window's corner.
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
  bool first = true, last = true;  ///< of several that make one window together
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

/// A window of any shape and size, with or without heights, straight from words in memory.
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
