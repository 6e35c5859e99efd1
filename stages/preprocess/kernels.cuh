// The kernels of preprocess: copy_rows where samples are only cropped, convert_pixels where the width stays,
// resample_tiles otherwise. A block works on a part of one output row. Where no output channel depends on two
// input channels, each plane is worked on by itself.
#pragma once

#include "cuda/launch.cuh"
#include "stages/preprocess/stage.h"

namespace contorno::preprocess_cuda {

inline constexpr unsigned kThreads = 256;
inline constexpr int kColumns = 1024;  // column sums in shared memory at a time

/// Distances in bytes; `plane` is that between planes that are worked on by themselves.
struct Steps {
  std::ptrdiff_t row = 0, pixel = 0, channel = 0, plane = 0;
};

struct Job {
  const char* in = nullptr;
  char* out = nullptr;
  Steps from, to;
  int width = 0, height = 0, planes = 1;  ///< the output's size; planes that are worked on one by one
  int tile = static_cast<int>(kThreads);  ///< output pixels a block
  int tiles_x = 1;
  int crop_x = 0, crop_y = 0;
  std::size_t row_bytes = 0;  ///< bytes of an output row, for copies
  AxisTaps horizontal, vertical;
  FinishPixel finish;
  bool mixes = false;
  const float* gains = nullptr;
  const float* biases = nullptr;
  bool words_in = false, words_out = false;  ///< pixels are aligned words of four bytes
};

/// The part of an output row that a block works on.
struct Piece {
  int x0, y, plane;
  const char* in;
  char* out;

  __device__ Piece(const Job& job, unsigned block) {
    const auto tiles = static_cast<unsigned>(job.tiles_x), height = static_cast<unsigned>(job.height);
    x0 = static_cast<int>(block % tiles) * job.tile;
    y = static_cast<int>(block / tiles % height);
    plane = static_cast<int>(block / tiles / height);
    in = job.in + plane * job.from.plane;
    out = job.out + plane * job.to.plane + y * job.to.row;
  }
};

/// Copies rows by `Unit`s, of which rows, pitches and addresses are multiples; here Job::tile counts units.
template <class Unit>
__global__ void __launch_bounds__(kThreads) copy_rows(const Job job) {
  const Piece piece(job, blockIdx.x);
  const auto unit = static_cast<std::size_t>(piece.x0) + threadIdx.x;
  if (unit >= job.row_bytes / sizeof(Unit)) return;
  const char* row = piece.in + (piece.y + job.crop_y) * job.from.row + job.crop_x * job.from.pixel;
  reinterpret_cast<Unit*>(piece.out)[unit] = reinterpret_cast<const Unit*>(row)[unit];
}

template <class In, int kChannels>
__device__ void load_pixel(const Job& job, const char* at, float* pixel) {
  if constexpr (sizeof(In) == 1 && kChannels == 4) {
    if (job.words_in) {
      const unsigned word = *reinterpret_cast<const unsigned*>(at);
      for (int c = 0; c < kChannels; ++c) pixel[c] = static_cast<float>(static_cast<In>(word >> (8 * c)));
      return;
    }
  }
  for (int c = 0; c < kChannels; ++c)
    pixel[c] = float_of(*reinterpret_cast<const In*>(at + c * job.from.channel));
}

/// Resample::column for all channels of a pixel at once.
template <class In, int kChannels>
__device__ void sum_column(const Job& job, const Piece& piece, int x, float* sum) {
  const int first = job.vertical.first[piece.y], count = job.vertical.count[piece.y];
  const float* weight = job.vertical.weights + static_cast<std::ptrdiff_t>(piece.y) * job.vertical.stride;
  const char* at = piece.in + first * job.from.row + x * job.from.pixel;
  float pixel[kChannels];
  load_pixel<In, kChannels>(job, at, pixel);
  for (int c = 0; c < kChannels; ++c) sum[c] = weight[0] * pixel[c];
  for (int j = 1; j < count; ++j) {
    load_pixel<In, kChannels>(job, at + j * job.from.row, pixel);
    for (int c = 0; c < kChannels; ++c) sum[c] = sum[c] + weight[j] * pixel[c];
  }
}

/// `pixel` has room for kMaxPixelChannels.
template <class Out, int kChannels>
__device__ void store_pixel(const Job& job, const Piece& piece, int x, float* pixel) {
  char* at = piece.out + x * job.to.pixel;
  int channels = kChannels;
  if (job.mixes) {
    job.finish(pixel, pixel);
    channels = job.finish.channels_out;
  } else {
    for (int c = 0; c < kChannels; ++c)
      pixel[c] = finish_one(pixel[c], job.gains[piece.plane + c], job.biases[piece.plane + c]);
  }
  if constexpr (sizeof(Out) == 1) {
    if (job.words_out) {
      unsigned word = 0;
      for (int c = 0; c < 4; ++c) word |= static_cast<unsigned>(stored<Out>(pixel[c])) << (8 * c);
      *reinterpret_cast<unsigned*>(at) = word;
      return;
    }
  }
  for (int c = 0; c < kMaxPixelChannels; ++c)
    if (c < channels) *reinterpret_cast<Out*>(at + c * job.to.channel) = stored<Out>(pixel[c]);
}

template <class In, class Out, int kChannels>
__global__ void __launch_bounds__(kThreads) convert_pixels(const Job job) {
  const Piece piece(job, blockIdx.x);
  const int x = piece.x0 + static_cast<int>(threadIdx.x);
  if (x >= job.width) return;
  float pixel[kMaxPixelChannels] = {};
  sum_column<In, kChannels>(job, piece, job.crop_x + x, pixel);
  store_pixel<Out, kChannels>(job, piece, x, pixel);
}

/// Computes the sums down the columns once for all pixels of a part, then the sums along the row. Columns are
/// taken in chunks that fit into shared memory, however many of them a pixel covers.
template <class In, class Out, int kChannels>
__global__ void __launch_bounds__(kThreads) resample_tiles(const Job job) {
  float* sums = &block_shared<float>();
  const Piece piece(job, blockIdx.x);
  const int thread = static_cast<int>(threadIdx.x);
  const int pixels = job.width - piece.x0 < job.tile ? job.width - piece.x0 : job.tile;
  const int last = piece.x0 + pixels - 1;
  const int from = job.horizontal.first[piece.x0],
            to = job.horizontal.first[last] + job.horizontal.count[last];
  const int x = piece.x0 + (thread < pixels ? thread : 0);
  const int first = job.horizontal.first[x], count = thread < pixels ? job.horizontal.count[x] : 0;
  const float* weight = job.horizontal.weights + static_cast<std::ptrdiff_t>(x) * job.horizontal.stride;
  float pixel[kMaxPixelChannels] = {};
  int tap = 0;
  for (int begin = from; begin < to; begin += kColumns) {
    const int end = begin + kColumns < to ? begin + kColumns : to;
    __syncthreads();  // before sums that were read in the last round are written over
    for (int column = begin + thread; column < end; column += static_cast<int>(kThreads))
      sum_column<In, kChannels>(job, piece, column, sums + (column - begin) * kChannels);
    __syncthreads();
    for (; tap < count && first + tap < end; ++tap) {
      const float* sum = sums + (first + tap - begin) * kChannels;
      for (int c = 0; c < kChannels; ++c)
        pixel[c] = tap == 0 ? weight[0] * sum[c] : pixel[c] + weight[tap] * sum[c];
    }
  }
  if (thread < pixels) store_pixel<Out, kChannels>(job, piece, x, pixel);
}

}  // namespace contorno::preprocess_cuda
