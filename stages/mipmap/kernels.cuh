// The kernels of mipmap. halve_tiles makes up to six levels in one pass, where each level is exactly half of
// the one before: a block of 256 threads works on 64 x 64 pixels. filter_levels makes one level with any
// filter and ratio or, as a single block, several small levels one after the other. copy_boxes copies or
// clears a part of an image.
#pragma once

#include <span>

#include "cuda/launch.cuh"
#include "stages/mipmap/rules.h"

namespace contorno::mipmap_cuda {

inline constexpr unsigned kThreads = 256;
inline constexpr int kTile = 64;  // px of the image, each side
inline constexpr int kTileLevels = 6;
inline constexpr int kSteps = 18;  // levels in one launch of filter_levels

/// A level in device memory.
struct Level {
  char* data = nullptr;
  std::ptrdiff_t row = 0, plane = 0;
  int width = 0, height = 0;
  bool aligned = false;  ///< rows and planes begin at multiples of the bytes that halve_tiles moves at a time

  template <class T>
  __device__ T* at(int y, int in_plane) const {
    return reinterpret_cast<T*>(data + in_plane * plane + y * row);
  }
};

inline bool divides(std::size_t unit, const ImageView& image) {
  const auto size = static_cast<std::ptrdiff_t>(unit);
  return reinterpret_cast<std::uintptr_t>(image.data) % unit == 0 && image.row_pitch % size == 0 &&
         (image.format.planes() == 1 || image.plane_pitch % size == 0);
}
inline Level level_of(const ImageView& image, std::size_t unit = 1) {
  return {static_cast<char*>(image.data),
          image.row_pitch,
          image.plane_pitch,
          image.format.width,
          image.format.height,
          divides(unit, image)};
}

// One pass
// -----------------------------------------------------------------------------------------------------

struct TilesJob {
  Level in, out[kTileLevels];
  int levels = 1, tiles_x = 1, tiles_y = 1;
};

/// The largest power of two that divides `bytes`, at most 16.
constexpr int unit_of(int bytes) {
  int unit = 1;
  while (unit < 16 && bytes % (2 * unit) == 0) unit *= 2;
  return unit;
}
template <int kBytes>
struct UnitOf;
template <>
struct UnitOf<1> {
  using Type = unsigned char;
};
template <>
struct UnitOf<2> {
  using Type = unsigned short;
};
template <>
struct UnitOf<4> {
  using Type = unsigned;
};
template <>
struct UnitOf<8> {
  using Type = uint2;
};
template <>
struct UnitOf<16> {
  using Type = uint4;
};

/// `kCount` neighbouring samples of a row, aligned so that they are moved in few instructions.
template <class T, int kCount>
struct alignas(unit_of(kCount* static_cast<int>(sizeof(T)))) Run {
  T v[kCount];
};

template <class T, int kCount>
__device__ void move(Run<T, kCount>* to, const Run<T, kCount>* from) {
  constexpr int kBytes = kCount * static_cast<int>(sizeof(T)), kUnit = unit_of(kBytes);
  using Unit = typename UnitOf<kUnit>::Type;
#pragma unroll
  for (int i = 0; i < kBytes / kUnit; ++i)
    reinterpret_cast<Unit*>(to)[i] = reinterpret_cast<const Unit*>(from)[i];
}

/// Four pixels of row `y` from `x` on; zeros where there is no image.
template <class T, int kC>
__device__ void load_four(const Level& in, int plane, int x, int y, Run<T, 4 * kC>* pixels) {
  if (y < in.height && x < in.width) {
    const T* from = in.at<const T>(y, plane) + static_cast<std::ptrdiff_t>(x) * kC;
    if (in.aligned && x + 4 <= in.width) return move(pixels, reinterpret_cast<const Run<T, 4 * kC>*>(from));
    const int count = min(4, in.width - x) * kC;
#pragma unroll
    for (int i = 0; i < 4 * kC; ++i) pixels->v[i] = i < count ? from[i] : T{};
    return;
  }
#pragma unroll
  for (int i = 0; i < 4 * kC; ++i) pixels->v[i] = T{};
}

/// Stores the pixels, as far as they are inside the level.
template <int kPixels, class T, int kCount>
__device__ void store(const Level& out, int plane, int x, int y, const Run<T, kCount>& pixels) {
  if (y >= out.height || x >= out.width) return;
  constexpr int kC = kCount / kPixels;
  T* to = out.at<T>(y, plane) + static_cast<std::ptrdiff_t>(x) * kC;
  if (out.aligned && x + kPixels <= out.width) return move(reinterpret_cast<Run<T, kCount>*>(to), &pixels);
  const int count = min(kPixels, out.width - x) * kC;
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    if (i < count) to[i] = pixels.v[i];
}

template <class Rule>
inline constexpr bool kFourBytes = false;
template <>
inline constexpr bool kFourBytes<WholeRule<std::uint8_t, 4, Weighing::Plain, false>> = true;

/// Rule::halve. Pixels of four plain bytes are added as words: the even bytes and the odd bytes each have 16
/// bits for their sums.
template <class Rule, class T>
__device__ void halve(const Rule& rule, const T* a, const T* b, const T* c, const T* d, T* out) {
  if constexpr (kFourBytes<Rule>) {
    constexpr unsigned kEven = 0x00FF00FFU, kHalf = 0x00020002U;
    const auto word = [](const T* pixel) { return *reinterpret_cast<const unsigned*>(pixel); };
    const unsigned words[] = {word(a), word(b), word(c), word(d)};
    unsigned even = kHalf, odd = kHalf;
#pragma unroll
    for (const unsigned one : words) even += one & kEven, odd += one >> 8 & kEven;
    *reinterpret_cast<unsigned*>(out) = (even >> 2 & kEven) | (odd >> 2 & kEven) << 8;
  } else {
    rule.halve(a, b, c, d, out);
  }
}

/// The pixels of level 2 and later ones, which threads hand on to the next level; two arrays in turns.
template <class Rule>
struct TilesShared {
  Run<typename Rule::Stored, Rule::kChannels> pixels[2][16][16];
};

/// The arguments of halve_tiles; views[0] is the image, the others are its levels.
template <class Rule>
TilesJob tiles_job(std::span<const ImageView> views) {
  constexpr int kPixel = Rule::kChannels * static_cast<int>(sizeof(typename Rule::Stored));
  TilesJob job;
  job.in = level_of(views[0], static_cast<std::size_t>(unit_of(4 * kPixel)));
  job.levels = static_cast<int>(views.size()) - 1;
  for (std::size_t level = 1; level < views.size(); ++level)
    job.out[level - 1] =
        level_of(views[level], static_cast<std::size_t>(unit_of((level == 1 ? 2 : 1) * kPixel)));
  job.tiles_x = (views[0].format.width + kTile - 1) / kTile;
  job.tiles_y = (views[0].format.height + kTile - 1) / kTile;
  return job;
}

template <class Rule>
__global__ void __launch_bounds__(kThreads) halve_tiles(const TilesJob job, const Rule rule) {
  using T = typename Rule::Stored;
  constexpr int kC = Rule::kChannels;
  auto& shared = block_shared<TilesShared<Rule>>();
  const auto tiles = static_cast<unsigned>(job.tiles_x * job.tiles_y);
  const auto plane = static_cast<int>(blockIdx.x / tiles);
  const auto tile = static_cast<int>(blockIdx.x % tiles);
  const int tile_x = tile % job.tiles_x, tile_y = tile / job.tiles_x;
  const int thread = static_cast<int>(threadIdx.x);
  // A warp takes 32 x 16 px: rows of 8 threads with 4 x 4 px each.
  const int x = thread / 32 % 2 * 8 + thread % 8, y = thread / 64 * 4 + thread % 32 / 8;
  const int left = tile_x * kTile + 4 * x, top = tile_y * kTile + 4 * y;

  Run<T, 4 * kC> rows[4];
#pragma unroll
  for (int r = 0; r < 4; ++r) load_four<T, kC>(job.in, plane, left, top + r, &rows[r]);
  Run<T, 2 * kC> first[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const T *upper = rows[2 * r].v + 2 * i * kC, *lower = rows[2 * r + 1].v + 2 * i * kC;
      halve(rule, upper, upper + kC, lower, lower + kC, first[r].v + i * kC);
    }
    store<2>(job.out[0], plane, left / 2, top / 2 + r, first[r]);
  }
  if (job.levels == 1) return;
  Run<T, kC>& second = shared.pixels[0][y][x];
  halve(rule, first[0].v, first[0].v + kC, first[1].v, first[1].v + kC, second.v);
  store<1>(job.out[1], plane, left / 4, top / 4, second);

  for (int level = 2, side = 8; level < job.levels; ++level, side /= 2) {
    __syncthreads();
    if (thread < side * side) {
      const int u = thread % side, v = thread / side;
      const auto& from = shared.pixels[level % 2];
      Run<T, kC>& pixel = shared.pixels[1 - level % 2][v][u];
      halve(rule, from[2 * v][2 * u].v, from[2 * v][2 * u + 1].v, from[2 * v + 1][2 * u].v,
            from[2 * v + 1][2 * u + 1].v, pixel.v);
      store<1>(job.out[level], plane, tile_x * side + u, tile_y * side + v, pixel);
    }
  }
}

// Any ratio and filter
// -------------------------------------------------------------------------------------------

struct FilterStep {
  Level in, out, kept;  ///< kept.data may be null
  MipmapTaps across, down;
};
struct FilterJob {
  FilterStep steps[kSteps];
  int count = 0, planes = 1;
  int step = 1;  ///< samples from pixel to pixel, where a pixel has one sample
};

template <class Rule>
__device__ void filter_pixel(const FilterStep& step, const Rule& rule, std::ptrdiff_t pixel, int plane, int x,
                             int y) {
  using Total = typename Rule::Total;
  using Column = typename Rule::Column;
  constexpr int kTerms = Rule::kTerms;
  const std::ptrdiff_t first_x = static_cast<std::ptrdiff_t>(x) * step.across.stride;
  const std::ptrdiff_t first_y = static_cast<std::ptrdiff_t>(y) * step.down.stride;
  Total sums[kTerms] = {};
  for (int i = 0; i < step.across.count[x]; ++i) {
    const int column = step.across.index[first_x + i];
    Column down[kTerms] = {};
    for (int j = 0; j < step.down.count[y]; ++j) {
      Column terms[kTerms];
      rule.load(step.in.at<const typename Rule::Sample>(step.down.index[first_y + j], plane) + column * pixel,
                terms);
      const auto weight = Rule::weight(step.down, first_y + j);
      for (int k = 0; k < kTerms; ++k)
        down[k] = j == 0 ? weight * terms[k] : static_cast<Column>(down[k] + weight * terms[k]);
    }
    const auto weight = static_cast<Total>(Rule::weight(step.across, first_x + i));
    for (int k = 0; k < kTerms; ++k) sums[k] = i == 0 ? weight * down[k] : sums[k] + weight * down[k];
  }
  auto* out = step.out.at<typename Rule::Stored>(y, plane) + x * pixel;
  float* kept = step.kept.data == nullptr ? nullptr : step.kept.at<float>(y, plane) + x * pixel;
  rule.finish(sums, Rule::whole_weight(step.across, step.down), out, kept);
}

/// Makes the levels of job.steps. A grid of several blocks makes a single level; one block makes each level
/// after the one before.
template <class Rule>
__global__ void __launch_bounds__(kThreads) filter_levels(const FilterJob job, const Rule rule) {
  for (int one = 0; one < job.count; ++one) {
    if (one > 0) __syncthreads();
    const FilterStep& step = job.steps[one];
    const auto width = static_cast<unsigned>(step.out.width);
    const unsigned pixels = width * static_cast<unsigned>(step.out.height);
    for (int plane = 0; plane < job.planes; ++plane)
      for (unsigned t = blockIdx.x * kThreads + threadIdx.x; t < pixels; t += gridDim.x * kThreads)
        filter_pixel(step, rule, Rule::kChannels == 1 ? job.step : Rule::kChannels, plane,
                     static_cast<int>(t % width), static_cast<int>(t / width));
  }
}

// Copies
// -------------------------------------------------------------------------------------------------------

struct CopyJob {
  const char* from = nullptr;  ///< null: clears
  char* to = nullptr;
  std::ptrdiff_t from_row = 0, from_plane = 0, to_row = 0, to_plane = 0;
  unsigned units = 0, rows = 0, planes = 1, blocks_x = 1;
};

template <class Unit>
__global__ void __launch_bounds__(kThreads) copy_boxes(const CopyJob job) {
  const unsigned unit = blockIdx.x % job.blocks_x * kThreads + threadIdx.x, line = blockIdx.x / job.blocks_x;
  const auto row = static_cast<std::ptrdiff_t>(line % job.rows),
             plane = static_cast<std::ptrdiff_t>(line / job.rows);
  if (unit >= job.units) return;
  auto* to = reinterpret_cast<Unit*>(job.to + row * job.to_row + plane * job.to_plane) + unit;
  *to = job.from == nullptr
            ? Unit{}
            : reinterpret_cast<const Unit*>(job.from + row * job.from_row + plane * job.from_plane)[unit];
}

}  // namespace contorno::mipmap_cuda
