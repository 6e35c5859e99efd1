// The kernel of morphology for elements that are not rectangles. A block holds a tile of the image in shared
// memory, and replaces its samples by the maxima over runs of 1, 2, 4, 8, ... pixels. A run of any length
// is covered by two runs of the largest power of two that is not longer. Internal.
#pragma once

#include "stages/morphology/pixels.cuh"
#include "stages/morphology/tile_plan.h"

namespace contorno::morphology_cuda {

/// The arguments of window_tile. A block's results are cut into as many parts, one below the other, as a word
/// has lanes; lane k belongs to part k.
struct TileJob {
  Lines in;
  Target to;
  const TileRuns* runs = nullptr;
  int level_ends[kMostLevels] = {};  ///< where the runs of level k, of 2^k pixels, end in `runs`
  int levels = 1;
  int pixel = 1;
  int left = 0, top = 0;  ///< the tile's first sample, a multiple of four, and row, from the results'
  int in_down = 0;        ///< rows of the tile
  int outputs = kTileOutputs;
  Grid grid;
  bool settle = false;      ///< limits results to the samples' range
  unsigned complement = 0;  ///< complement_for(the window's extreme)
  unsigned outside = 0;     ///< not complemented
};

/// Loads the tile that begins at sample x and row y, complemented for the window; parts are `down` rows
/// apart.
template <class Rule, int kPitch>
__device__ void load_tile(const TileJob& job, int plane, int y, int x, int down, unsigned* tile) {
  using W = typename Rule::W;
  constexpr int kCount = kLanes<W>;
  constexpr unsigned kWords = kPitch / kCount;
  const bool whole = job.in.pixels.words && x >= 0 && x + kPitch <= job.in.samples && y >= 0 &&
                     y + (kCount - 1) * down + job.in_down <= job.in.rows;
  const unsigned all = kWords * static_cast<unsigned>(job.in_down);
  if (whole) {
    const unsigned* corner = job.in.pixels.line<const unsigned>(plane, y) + x / kCount;
    const std::ptrdiff_t row = job.in.pixels.row / 4, part = down * row;
#pragma unroll 4
    for (unsigned at = threadIdx.x; at < all; at += kTileThreads) {
      const unsigned* from = corner + static_cast<std::ptrdiff_t>(at / kWords) * row + at % kWords;
      unsigned lanes[kCount];
#pragma unroll
      for (int k = 0; k < kCount; ++k)
        lanes[k] = word_of<Rule>(job.in, __ldg(from + k * part)) ^ job.complement;
      put_transposed<W>(tile + at * kCount, lanes);
    }
  } else {
#pragma unroll 1
    for (unsigned at = threadIdx.x; at < all; at += kTileThreads) {
      const auto r = static_cast<int>(at / kWords), c = static_cast<int>(at % kWords);
      unsigned lanes[kCount];
#pragma unroll
      for (int k = 0; k < kCount; ++k)
        lanes[k] = word_from<Rule>(job.in, plane, y + r + k * down, (x >> (kCount / 2)) + c, job.outside) ^
                   job.complement;
      put_transposed<W>(tile + at * kCount, lanes);
    }
  }
}

/// Replaces the maxima over runs by those over runs of twice the length, in place. A row belongs to one
/// warp, which reads ahead of what it writes.
template <class W, int kPitch>
__device__ void double_runs(unsigned* tile, int rows, int shift, int pixel) {
  using R = RunningMaximum<W>;
  constexpr int kAtOnce = kPitch <= 192 ? (kPitch + 31) / 32 : 5;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  // Behind it runs would leave the tile.
  const int results = kPitch - 2 * shift + pixel;
  for (int r = warp; r < rows; r += static_cast<int>(kTileThreads) / 32) {
    unsigned* row = tile + r * kPitch + lane;
#pragma unroll 1
    for (int begin = 0; begin < results; begin += 32 * kAtOnce, row += 32 * kAtOnce) {
      unsigned words[kAtOnce];
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) {
        if (begin + 32 * k + lane >= results) continue;
        R run(row[32 * k]);
        run.take(R(row[32 * k + shift]));
        words[k] = run.word();
      }
      __syncwarp();
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k)
        if (begin + 32 * k + lane < results) row[32 * k] = words[k];
      __syncwarp();
    }
  }
}

/// Adds one TileRuns of kRows rows to half of a thread's results.
template <int kRows, int kPitch, class R>
__device__ void take_runs(R* best, const unsigned* first, const unsigned* second) {
  constexpr int kResults = kTileOutputs / 2;
  R row[kResults + kRows - 1];
#pragma unroll
  for (int k = 0; k < kResults + kRows - 1; ++k) {
    row[k] = R(first[k * kPitch]);
    if constexpr (kRows == 1)
      best[k].take(row[k], R(second[k * kPitch]));
    else
      row[k].take(R(second[k * kPitch]));
  }
  if constexpr (kRows == 2) {
#pragma unroll
    for (int k = 0; k < kResults; ++k) best[k].take(row[k], row[k + 1]);
  } else if constexpr (kRows == 4) {
#pragma unroll
    for (int k = 0; k < kResults + 2; ++k) row[k].take(row[k + 1]);
#pragma unroll
    for (int k = 0; k < kResults; ++k) best[k].take(row[k], row[k + 2]);
  }
}

/// Takes the maxima of a thread's results with all runs of the element, while those of each level lie in the
/// tile. `corner` is the thread's first word in it.
template <class W, int kPitch>
__device__ void take_element(const TileJob& job, unsigned* tile, const unsigned* corner,
                             RunningMaximum<W> (&best)[kTileOutputs]) {
  constexpr int kHalf = kTileOutputs / 2;
  int at = 0;
#pragma unroll 1
  for (int level = 0;; ++level) {
#pragma unroll 1
    for (; at < job.level_ends[level]; ++at) {
      const TileRuns runs = job.runs[at];
      const unsigned *first = corner + runs.first, *second = corner + runs.second;
#pragma unroll
      for (int half = 0; half < 2; ++half, first += kHalf * kPitch, second += kHalf * kPitch) {
        if (half * kHalf >= job.outputs) break;
        if (runs.rows == 4)
          take_runs<4, kPitch>(best + half * kHalf, first, second);
        else if (runs.rows == 2)
          take_runs<2, kPitch>(best + half * kHalf, first, second);
        else
          take_runs<1, kPitch>(best + half * kHalf, first, second);
      }
    }
    __syncthreads();
    if (level + 1 == job.levels) return;
    double_runs<W, kPitch>(tile, job.in_down, job.pixel << level, job.pixel);
    __syncthreads();
  }
}

/// Applies a window of any shape whose rows fit into a tile.
template <class Rule, int kPitch>
__global__ void __launch_bounds__(kTileThreads, 2) window_tile(const __grid_constant__ TileJob job) {
  using W = typename Rule::W;
  constexpr int kCount = kLanes<W>;
  unsigned* tile = &block_shared<unsigned>();
  const BlockPlace block = place_of_block(job.grid);
  const int down = kTileRows * job.outputs;
  const int x0 = block.x * kTileAcross, y0 = block.y * down * kCount;
  load_tile<Rule, kPitch>(job, block.plane, y0 + job.top, x0 + job.left, down, tile);
  const int column = static_cast<int>(threadIdx.x) % kTileAcross;
  const int first_row = static_cast<int>(threadIdx.x) / kTileAcross * job.outputs;
  RunningMaximum<W> best[kTileOutputs];
#pragma unroll
  for (int k = 0; k < kTileOutputs; ++k)
    best[k] = RunningMaximum<W>(broadcast<W>(std::numeric_limits<W>::min()));
  __syncthreads();
  take_element<W, kPitch>(job, tile, tile + first_row * kPitch + column, best);
#pragma unroll
  for (int k = 0; k < kTileOutputs; ++k)
    if (k < job.outputs) {
      const unsigned word = best[k].word() ^ job.complement;
      tile[(first_row + k) * kTileAcross + column] = job.settle ? settled_word<Rule>(word) : word;
    }
  __syncthreads();
  constexpr int kWords = kTileAcross / kCount;
#pragma unroll 2
  for (int word = static_cast<int>(threadIdx.x); word < kWords * down;
       word += static_cast<int>(kTileThreads)) {
    unsigned lanes[kCount];
    get_transposed<W>(tile + word * kCount, lanes);
    const int x = x0 / kCount + word % kWords;
    if (x * kCount < job.to.lines.samples)
      store_words<Rule>(job.to, block.plane, y0 + word / kWords, down, job.to.lines.rows, x, lanes);
  }
}

}  // namespace contorno::morphology_cuda
