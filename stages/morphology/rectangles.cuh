// The kernels of morphology for rectangles. window_down applies a window down columns, from and to images;
// window_across applies one window along rows, or both windows of an opening or closing. Between kernels,
// rows lie in memory as in an image, in whole words. Internal.
#pragma once

#include "stages/morphology/held.cuh"
#include "stages/morphology/kernels.cuh"

namespace contorno::morphology_cuda {

// Threads of the largest blocks. Two of them fit on a multiprocessor, and more of smaller ones. (Measured on
// an H200.)
inline constexpr unsigned kMostThreads = 640, kMostDownThreads = 512;

/// Rows of samples, in an image or in memory between kernels.
struct Lines {
  Pixels pixels;
  int samples = 0, rows = 0;
  bool between = false;  ///< between kernels: whole words, and floats as OrderedFloat keys
};

/// Word x of row `y`: the samples from x * kLanes on, with `outside` where there are none.
template <class Rule>
__device__ unsigned word_from(const Lines& lines, int plane, int y, int x, unsigned outside) {
  using S = typename Rule::Stored;
  using W = typename Rule::W;
  constexpr int kCount = kLanes<W>;
  if (y < 0 || y >= lines.rows || x < 0 || x * kCount >= lines.samples) return outside;
  if (lines.pixels.words && (x + 1) * kCount <= lines.samples) {
    const unsigned word = __ldg(lines.pixels.line<const unsigned>(plane, y) + x);
    if constexpr (Rule::kFloat) {
      if (!lines.between) return static_cast<unsigned>(Rule::load(__uint_as_float(word)));
    }
    return word;
  }
  unsigned word = 0;
  for (int lane = 0; lane < kCount; ++lane) {
    const int s = x * kCount + lane;
    word |= s < lines.samples ? in_lane<W>(Rule::load(lines.pixels.line<const S>(plane, y)[s]), lane)
                              : in_lane<W>(lane_of<W>(outside, lane), lane);
  }
  return word;
}

/// Where the results of a pass go, and what is made of them.
struct Target {
  Lines lines;
  Pixels source;  ///< the image itself
  PassResult result = PassResult::Store;
  bool keeps_alpha = false;

  /// Whether word x of a row is stored as it is.
  template <class Rule>
  __device__ bool takes_words(int x) const {
    return lines.between ||
           (!Rule::kFloat && lines.pixels.words && !keeps_alpha && result == PassResult::Store &&
            (x + 1) * kLanes<typename Rule::W> <= lines.samples);
  }
};

/// The sample to be stored, see PassResult; `before` is what an earlier pass stored.
template <class Rule>
__device__ typename Rule::Stored finished(PassResult result, typename Rule::W value,
                                          typename Rule::Stored source, typename Rule::Stored before) {
  if (result == PassResult::SourceMinus)
    return Rule::template result<PassResult::SourceMinus>(value, source, before);
  if (result == PassResult::MinusSource)
    return Rule::template result<PassResult::MinusSource>(value, source, before);
  if (result == PassResult::MinusOutput)
    return Rule::template result<PassResult::MinusOutput>(value, source, before);
  if (result == PassResult::OutputAndComplement)
    return Rule::template result<PassResult::OutputAndComplement>(value, source, before);
  return Rule::store(value);
}

/// Stores word x of row y sample by sample, with what PassResult and alpha ask for.
template <class Rule>
__device__ void store_samples(const Target& to, int plane, int y, int x, unsigned word) {
  using S = typename Rule::Stored;
  using W = typename Rule::W;
  constexpr int kCount = kLanes<W>;
  const bool reads_before =
      to.result == PassResult::MinusOutput || to.result == PassResult::OutputAndComplement;
  if constexpr (!Rule::kFloat) {
    if (to.source.words && to.lines.pixels.words && (x + 1) * kCount <= to.lines.samples) {
      const unsigned source = to.source.line<const unsigned>(plane, y)[x];
      unsigned* at = to.lines.pixels.line<unsigned>(plane, y) + x;
      const unsigned before = reads_before ? *at : 0;
      unsigned result = 0;
      for (int lane = 0; lane < kCount; ++lane) {
        const W f = lane_of<W>(source, lane);
        const W value = finished<Rule>(to.result, lane_of<W>(word, lane), f, lane_of<W>(before, lane));
        result |= in_lane<W>(to.keeps_alpha && (x * kCount + lane) % 4 == 3 ? f : value, lane);
      }
      *at = result;
      return;
    }
  }
  for (int lane = 0; lane < kCount && x * kCount + lane < to.lines.samples; ++lane) {
    const int s = x * kCount + lane;
    const S source = to.source.line<const S>(plane, y)[s];
    S* at = to.lines.pixels.line<S>(plane, y) + s;
    const S value = finished<Rule>(to.result, lane_of<W>(word, lane), source, reads_before ? *at : S{});
    *at = to.keeps_alpha && s % 4 == 3 ? source : value;
  }
}

/// Stores word x of row y, if the target has it.
template <class Rule>
__device__ void store_word(const Target& to, int plane, int y, int x, unsigned word) {
  if (y >= to.lines.rows || x * kLanes<typename Rule::W> >= to.lines.samples) return;
  if (to.template takes_words<Rule>(x))
    to.lines.pixels.line<unsigned>(plane, y)[x] = word;
  else
    store_samples<Rule>(to, plane, y, x, word);
}

/// The arguments of window_down: one window down the columns. A block holds kAcross words of as many rows as
/// its results need.
struct DownJob {
  Lines in;
  Target to;
  int first = 0, length = 1;  ///< the window: rows first .. first + length - 1 from the result's
  int rows = 0;               ///< results of a block
  unsigned wide = 1, high = 1, planes = 1;  ///< blocks
  int across = 32;                          ///< words across a block, where kAcross is 0
  int groups_at = 0;                        ///< words of shared memory before the groups
  unsigned outside = 0;
};

template <class Rule, Extreme kExtreme, int kAcross>
__global__ void __launch_bounds__(kMostDownThreads, 2) window_down(const DownJob job) {
  using W = typename Rule::W;
  const auto across = static_cast<int>(kAcross != 0 ? kAcross : job.across);
  const unsigned row_of_blocks = blockIdx.x / job.wide;
  const unsigned plane_of_block = job.planes == 1 ? 0 : row_of_blocks / job.high;
  const auto plane = static_cast<int>(plane_of_block);
  const int column = static_cast<int>(threadIdx.x) % across,
            step = static_cast<int>(threadIdx.x) / across * kHeld;
  const int x = static_cast<int>(blockIdx.x - row_of_blocks * job.wide) * across + column;
  const int y = static_cast<int>(row_of_blocks - plane_of_block * job.high) * job.rows + step;
  const int from = y + job.first;
  unsigned held[kHeld];
  const bool whole = job.in.pixels.words && (x + 1) * kLanes<W> <= job.in.samples;
  if ((!Rule::kFloat || job.in.between) && whole && from >= 0 && from + kHeld <= job.in.rows) {
    const char* at = reinterpret_cast<const char*>(job.in.pixels.line<const unsigned>(plane, from) + x);
#pragma unroll
    for (int e = 0; e < kHeld; ++e, at += job.in.pixels.row)
      held[e] = __ldcs(reinterpret_cast<const unsigned*>(at));
  } else {
#pragma unroll
    for (int e = 0; e < kHeld; ++e) held[e] = word_from<Rule>(job.in, plane, from + e, x, job.outside);
  }
  unsigned* shared = &block_shared<unsigned>();
  const HeldPlace place{.steps = shared + step * across + column,
                        .groups = shared + job.groups_at + step / kShortGroup * across + column,
                        .stride = across};
  share_held(held, place, job.length);
  window_of_held<W, kExtreme>(held, place, job.length, step < job.rows);
  const Lines& out = job.to.lines;
  if (x * kLanes<W> >= out.samples) return;
  const int count = min(job.rows - step, out.rows - y);
  if (job.to.template takes_words<Rule>(x)) {
    char* at = reinterpret_cast<char*>(out.pixels.line<unsigned>(plane, y) + x);
#pragma unroll
    for (int e = 0; e < kHeld; ++e, at += out.pixels.row)
      if (e < count) *reinterpret_cast<unsigned*>(at) = held[e];
  } else {
#pragma unroll
    for (int e = 0; e < kHeld; ++e)
      if (e < count) store_samples<Rule>(job.to, plane, y + e, x, held[e]);
  }
}

/// The arguments of window_across: one window along rows, or two, of which the second has the other extreme.
/// A block takes as many rows as a word has lanes; in shared memory a word holds the same sample of each row.
struct AcrossJob {
  Lines in, out;                                                   ///< `out` lies between kernels
  int columns = 0, in_columns = 0;                                 ///< pixels of a row
  int pixel = 1;                                                   ///< samples
  int first = 0, length = 1, second_first = 0, second_length = 0;  ///< 0: no second window
  int segment = 0;                                                 ///< results of a block, in pixels
  unsigned segments = 1, high = 1, planes = 1;                     ///< blocks
  int holders = 1;                                                 ///< threads of a line
  int groups_at = 0;    ///< words of shared memory before the groups
  bool settle = false;  ///< limits values to the samples' range before the second window
  unsigned outside = 0, second_outside = 0;
};

/// Loads samples first_sample .. first_sample + count - 1 of a block's rows, and those that share a word with
/// them, to `line`.
template <class Rule>
__device__ void take_rows(const AcrossJob& job, int plane, int row, int first_sample, int count,
                          unsigned* line) {
  using W = typename Rule::W;
  constexpr int kCount = kLanes<W>;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  // Sample numbers may be negative.
  const int begin = first_sample >> (kCount / 2), end = (first_sample + count + kCount - 1) >> (kCount / 2);
  const bool whole = job.in.pixels.words && begin >= 0 && end * kCount <= job.in.samples &&
                     row + kCount <= job.in.rows && (!Rule::kFloat || job.in.between);
  const auto put = [&](int at, unsigned(&words)[kCount]) {
    transpose<W>(words);
    unsigned* to = line + (at * kCount - first_sample);
    if constexpr (kCount == 4)
      *reinterpret_cast<uint4*>(to) = uint4{words[0], words[1], words[2], words[3]};
    else if constexpr (kCount == 2)
      *reinterpret_cast<uint2*>(to) = uint2{words[0], words[1]};
    else
      *to = words[0];
  };
  if (whole) {
    const unsigned* rows[kCount];
#pragma unroll
    for (int k = 0; k < kCount; ++k) rows[k] = job.in.pixels.line<const unsigned>(plane, row + k);
#pragma unroll 4
    for (int at = begin + thread; at < end; at += threads) {
      unsigned words[kCount];
#pragma unroll
      for (int k = 0; k < kCount; ++k) words[k] = __ldcs(rows[k] + at);
      put(at, words);
    }
  } else {
    for (int at = begin + thread; at < end; at += threads) {
      unsigned words[kCount];
#pragma unroll
      for (int k = 0; k < kCount; ++k) words[k] = word_from<Rule>(job.in, plane, row + k, at, job.outside);
      put(at, words);
    }
  }
}

/// Stores the results of a block, which begin at the first word of shared memory, `line`.
template <class W>
__device__ void give_rows(const AcrossJob& job, int plane, int row, int first_sample, int count,
                          const unsigned* line) {
  constexpr int kCount = kLanes<W>;
  const int rows = min(kCount, job.out.rows - row);
  for (int at = static_cast<int>(threadIdx.x); at * kCount < count; at += static_cast<int>(blockDim.x)) {
    unsigned words[kCount];
    if constexpr (kCount == 4) {
      const uint4 four = reinterpret_cast<const uint4*>(line)[at];
      words[0] = four.x, words[1] = four.y, words[2] = four.z, words[3] = four.w;
    } else {
#pragma unroll
      for (int k = 0; k < kCount; ++k) words[k] = line[at * kCount + k];
    }
    transpose<W>(words);
#pragma unroll
    for (int k = 0; k < kCount; ++k)
      if (k < rows) job.out.pixels.line<unsigned>(plane, row + k)[first_sample / kCount + at] = words[k];
  }
}

template <class Rule, Extreme kExtreme, int kPixel>
__global__ void __launch_bounds__(kMostThreads, blocks_sharing(kMostThreads, 2))
    window_across(const AcrossJob job) {
  using W = typename Rule::W;
  constexpr Extreme kOther = kExtreme == Extreme::Minimum ? Extreme::Maximum : Extreme::Minimum;
  const int pixel = kPixel != 0 ? kPixel : job.pixel;
  unsigned* shared = &block_shared<unsigned>();
  const unsigned row_of_blocks = blockIdx.x / job.segments;
  const unsigned plane_of_block = job.planes == 1 ? 0 : row_of_blocks / job.high;
  const auto plane = static_cast<int>(plane_of_block);
  const int x0 = static_cast<int>(blockIdx.x - row_of_blocks * job.segments) * job.segment;
  const int row = static_cast<int>(row_of_blocks - plane_of_block * job.high) * kLanes<W>;
  const int columns = min(job.segment, job.columns - x0);
  const bool two = job.second_length != 0;
  const int between = columns + (two ? job.second_length - 1 : 0), steps = between + job.length - 1;
  const int first_sample = (x0 + job.second_first + job.first) * pixel;
  // So that words of the input become words of shared memory.
  unsigned* line = shared + (first_sample & (kLanes<W> - 1));
  take_rows<Rule>(job, plane, row, first_sample, steps * pixel, line);
  __syncthreads();
  int channel = 0, holder = static_cast<int>(threadIdx.x);
  for (; channel < pixel && holder >= job.holders; ++channel) holder -= job.holders;
  const int step = holder * kHeld;
  const bool holds = channel < pixel;
  HeldPlace place{.stride = pixel};
  unsigned held[kHeld] = {};
  if (holds) {
    place.steps = line + step * pixel + channel;
    place.groups = shared + job.groups_at + step / kShortGroup * pixel + channel;
#pragma unroll
    for (int e = 0; e < kHeld; ++e) held[e] = place.steps[e * pixel];
  }
  window_of_held<W, kExtreme>(held, place, job.length, holds && step < between);
  if (two) {
    if (job.settle) {
#pragma unroll
      for (int e = 0; e < kHeld; ++e) held[e] = settled_word<Rule>(held[e]);
    }
    const int x = x0 + job.second_first + step;
    if (x < 0 || x + kHeld > job.in_columns) {
#pragma unroll
      for (int e = 0; e < kHeld; ++e)
        if (x + e < 0 || x + e >= job.in_columns) held[e] = job.second_outside;
    }
    __syncthreads();
    share_held(held, place, job.second_length);
    window_of_held<W, kOther>(held, place, job.second_length, holds && step < columns);
  }
  __syncthreads();
  if (holds) {
#pragma unroll
    for (int e = 0; e < kHeld; ++e) shared[(step + e) * pixel + channel] = held[e];
  }
  __syncthreads();
  give_rows<W>(job, plane, row, x0 * pixel, columns * pixel, shared);
}

}  // namespace contorno::morphology_cuda
