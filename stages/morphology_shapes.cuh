// The kernels of morphology for elements that are no rectangles, from words to words: the runs of each length
// in a tile in shared memory, or, for elements that no tile holds or that have heights, straight from memory.
// Internal.
#pragma once

#include "stages/morphology_kernels.cuh"

namespace contorno::morphology_cuda {

inline constexpr unsigned kTileThreads = 512;
inline constexpr int kTileWords = 40;    ///< of the input tile, a thread
inline constexpr int kTileOutputs = 24;  ///< of the output tile, a thread

/// A table of runs, and the terms that use it, for the device.
struct DeviceTable {
  int reads = 0, shifts[4] = {};  ///< in words
  int terms_begin = 0, terms_end = 0;
};
/// A run or a member: words to the right of and rows below the window's corner.
struct DeviceTerm {
  int shift = 0, row = 0;
  float add = 0;
};

struct TileJob {
  Strips strips;
  const unsigned* in = nullptr;
  unsigned* out = nullptr;
  const DeviceTable* tables = nullptr;
  const DeviceTerm* terms = nullptr;
  int table_count = 0;
  int left = 0, top = 0;           ///< the window's corner, in words and rows
  int in_across = 0, in_down = 0;  ///< the input tile
  int out_across = 0, out_down = 0;
  int cell_bits = 0;         ///< out_across = 32 << cell_bits
  int across = 1, down = 1;  ///< blocks
  bool settle = false;
  unsigned outside = 0, next_outside = 0;
};

/// A window of any shape: the tile is in shared memory, the runs of each length replace each other there, and
/// every thread keeps the extremes of its results in registers.
template <class Rule, Extreme kExtreme>
__global__ void __launch_bounds__(kTileThreads) window_tile(const TileJob job) {
  using W = typename Rule::W;
  using R = Running<W, kExtreme>;
  constexpr int kThreads = static_cast<int>(kTileThreads), kWarps = kThreads / 32;
  unsigned* tile = &block_shared<unsigned>();
  const int block = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32, warp = thread / 32;
  const int x0 = block % job.across * job.out_across, y0 = block / job.across % job.down * job.out_down;
  const std::ptrdiff_t offset =
      block / job.across / job.down * static_cast<std::ptrdiff_t>(job.strips.words());
  const int top = y0 + job.top, left = x0 + job.left, samples = job.strips.samples();
  const bool within =
      top >= 0 && top + job.in_down <= job.strips.strip && left >= 0 && left + job.in_across <= samples;
  for (int r = warp; r < job.in_down; r += kWarps) {
    const unsigned* from = job.in + offset + static_cast<std::ptrdiff_t>(top + r) * samples + left;
    unsigned* to = tile + r * job.in_across;
    if (within) {
      // All loads of a stretch are on their way before the first is waited for.
      for (int begin = lane; begin < job.in_across; begin += 256) {
        unsigned words[8];
#pragma unroll
        for (int k = 0; k < 8; ++k) words[k] = begin + 32 * k < job.in_across ? from[begin + 32 * k] : 0;
#pragma unroll
        for (int k = 0; k < 8; ++k)
          if (begin + 32 * k < job.in_across) to[begin + 32 * k] = words[k];
      }
    } else {
      for (int c = lane; c < job.in_across; c += 32)
        to[c] = word_at<W>(job.in + offset, job.strips, left + c, top + r, job.outside);
    }
  }
  __syncthreads();
  unsigned held[kTileWords];
#pragma unroll
  for (int k = 0; k < kTileWords; ++k) held[k] = tile[k * kThreads + thread];
  // Results are dealt out in rows of 32 words, a row to a warp; what a warp takes next lies a whole number of
  // rows below.
  const int cells = (job.out_across >> 5) * job.out_down, count = cells / kWarps;
  const int column = (warp & ((1 << job.cell_bits) - 1)) * 32 + lane, first_row = warp >> job.cell_bits;
  const int rows_apart = kWarps >> job.cell_bits, apart = rows_apart * job.in_across;
  const unsigned* corner = tile + first_row * job.in_across + column;
  R best[kTileOutputs];
#pragma unroll
  for (int k = 0; k < kTileOutputs; ++k) best[k] = R(broadcast<W>(Rule::nothing(kExtreme)));
  for (int t = 0; t < job.table_count; ++t) {
    const DeviceTable table = job.tables[t];
    if (table.reads > 0) {
#pragma unroll
      for (int k = 0; k < kTileWords; ++k) {
        R running(held[k]);
        running.take(tile[k * kThreads + thread + table.shifts[1]]);
        if (table.reads > 2) running.take(tile[k * kThreads + thread + table.shifts[2]]);
        if (table.reads > 3) running.take(tile[k * kThreads + thread + table.shifts[3]]);
        held[k] = running.word();
      }
      __syncthreads();
#pragma unroll
      for (int k = 0; k < kTileWords; ++k) tile[k * kThreads + thread] = held[k];
      __syncthreads();
    }
    for (int term = table.terms_begin; term < table.terms_end; ++term) {
      const unsigned* at = corner + job.terms[term].row * job.in_across + job.terms[term].shift;
#pragma unroll
      for (int k = 0; k < kTileOutputs; ++k)
        if (k < count) best[k].take(at[k * apart]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int k = 0; k < kTileOutputs; ++k) {
    const int x = x0 + column, row = y0 + first_row + k * rows_apart;
    if (k < count && x < samples && row < job.strips.strip) {
      const unsigned word = job.settle ? settled_word<Rule>(best[k].word()) : best[k].word();
      job.out[offset + static_cast<std::ptrdiff_t>(row) * samples + x] =
          clipped<W>(job.strips, row, word, job.next_outside);
    }
  }
}

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
