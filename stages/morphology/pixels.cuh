// Images in memory as the kernels of morphology see them: reading and storing a word of samples, and the
// kernel that puts a border around an image (pad_image). Internal.
//
// pad_image is no loop of Thrust, which takes 2.3 us instead of 1.8 for 511 x 95 pixels on an H200, though
// 13.0 instead of 14.8 for 1920 x 1080 (for_each_number, cuda/thrust.cuh).
#pragma once

#include "cuda/resident.cuh"
#include "stages/morphology/lanes.cuh"

namespace contorno::morphology_cuda {

inline constexpr unsigned kPadThreads = 256;

/// The blocks of a kernel: `wide` side by side, in `high` rows, for each of `planes`.
struct Grid {
  unsigned wide = 1, high = 1, planes = 1;

  unsigned blocks() const { return wide * high * planes; }
};
/// A block's place in its grid.
struct BlockPlace {
  int x = 0, y = 0, plane = 0;
};
__device__ inline BlockPlace place_of_block(const Grid& grid) {
  const unsigned row = blockIdx.x / grid.wide, plane = grid.planes == 1 ? 0 : row / grid.high;
  return {static_cast<int>(blockIdx.x - row * grid.wide), static_cast<int>(row - plane * grid.high),
          static_cast<int>(plane)};
}

/// Whether a result is made of what an earlier pass stored in the output.
CONTORNO_HD constexpr bool reads_output(PassResult result) {
  return result == PassResult::MinusOutput || result == PassResult::OutputAndComplement;
}

/// An image in memory, for kernels.
struct Pixels {
  char* data = nullptr;
  std::ptrdiff_t row = 0, plane = 0;  ///< bytes
  bool words = false;                 ///< rows begin at multiples of four bytes

  template <class S>
  __device__ S* line(int plane_index, int y) const {
    return reinterpret_cast<S*>(data + plane_index * plane + y * row);
  }
};

/// Rows of samples, in an image or in memory between kernels.
struct Lines {
  Pixels pixels;
  int samples = 0, rows = 0;
  bool between = false;  ///< between kernels: whole words, and floats as OrderedFloat keys
};

/// A word of `lines` as it lies in memory, as kernels compute with it: float32 samples of an image become
/// keys.
template <class Rule>
__device__ unsigned word_of(const Lines& lines, unsigned word) {
  if constexpr (Rule::kFloat)
    return lines.between ? word : static_cast<unsigned>(Rule::load(__uint_as_float(word)));
  else
    return word;
}

/// Word x of row `y`: the samples from x * kLanes on, with `outside` where there are none.
template <class Rule>
__device__ unsigned word_from(const Lines& lines, int plane, int y, int x, unsigned outside) {
  using S = typename Rule::Stored;
  using W = typename Rule::W;
  constexpr int kCount = kLanes<W>;
  if (y < 0 || y >= lines.rows || x < 0 || x * kCount >= lines.samples) return outside;
  if (lines.pixels.words && (x + 1) * kCount <= lines.samples)
    return word_of<Rule>(lines, __ldg(lines.pixels.line<const unsigned>(plane, y) + x));
  unsigned word = 0;
  for (int lane = 0; lane < kCount; ++lane) {
    const int s = x * kCount + lane;
    word |= s < lines.samples ? in_lane<W>(Rule::load(lines.pixels.line<const S>(plane, y)[s]), lane)
                              : in_lane<W>(lane_of<W>(outside, lane), lane);
  }
  return word;
}

/// The `count` words x of row `y` and those below it, where some cannot be read whole. Not inlined, so that
/// its length counts once for all kernels.
template <class Rule>
__device__ __noinline__ void words_from(const Lines& lines, int plane, int y, int x, unsigned outside,
                                        unsigned* words, int count) {
#pragma unroll 4
  for (int k = 0; k < count; ++k) words[k] = word_from<Rule>(lines, plane, y + k, x, outside);
}

/// Where the results of a pass go, and what is made of them.
struct Target {
  Lines lines;
  Pixels source;  ///< the image itself
  PassResult result = PassResult::Store;
  bool keeps_alpha = false;

  /// Whether word x of a row is stored whole and does not depend on what is stored there or in the image.
  template <class Rule>
  __device__ bool takes_words(int x) const {
    return lines.between || (lines.pixels.words && !keeps_alpha && result == PassResult::Store &&
                             (x + 1) * kLanes<typename Rule::W> <= lines.samples);
  }
};

/// Stores word x of row y sample by sample, with what PassResult and alpha ask for.
template <class Rule>
__device__ void store_samples(const Target& to, int plane, int y, int x, unsigned word) {
  using S = typename Rule::Stored;
  using W = typename Rule::W;
  constexpr int kCount = kLanes<W>;
  const bool reads_before = reads_output(to.result);
  if constexpr (!Rule::kFloat) {
    if (to.source.words && to.lines.pixels.words && (x + 1) * kCount <= to.lines.samples) {
      const unsigned source = to.source.line<const unsigned>(plane, y)[x];
      unsigned* at = to.lines.pixels.line<unsigned>(plane, y) + x;
      const unsigned before = reads_before ? *at : 0;
      unsigned result = 0;
      for (int lane = 0; lane < kCount; ++lane) {
        const W f = lane_of<W>(source, lane);
        const W value = Rule::result(to.result, lane_of<W>(word, lane), f, lane_of<W>(before, lane));
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
    const S value = Rule::result(to.result, lane_of<W>(word, lane), source, reads_before ? *at : S{});
    *at = to.keeps_alpha && s % 4 == 3 ? source : value;
  }
}

/// store_words sample by sample. Not inlined, so that its length counts once for all kernels.
template <class Rule>
__device__ __noinline__ void store_by_samples(const Target& to, int plane, int y, int step, int end, int x,
                                              const unsigned* words, int count) {
#pragma unroll 1
  for (int k = 0; k < count; ++k)
    if (static_cast<unsigned>(y + k * step) < static_cast<unsigned>(end))
      store_samples<Rule>(to, plane, y + k * step, x, words[k]);
}

/// Stores words[k] as word x of the rows y + k * step, of those that lie in 0 .. end - 1.
template <class Rule, int kWords>
__device__ void store_words(const Target& to, int plane, int y, int step, int end, int x,
                            const unsigned (&words)[kWords]) {
  const Pixels& pixels = to.lines.pixels;
  if (to.takes_words<Rule>(x)) {
    char* at = reinterpret_cast<char*>(pixels.line<unsigned>(plane, y) + x);
#pragma unroll
    for (int k = 0; k < kWords; ++k, at += step * pixels.row) {
      unsigned word = words[k];
      if constexpr (Rule::kFloat) {
        if (!to.lines.between) word = __float_as_uint(Rule::store(static_cast<int>(word)));
      }
      if (static_cast<unsigned>(y + k * step) < static_cast<unsigned>(end))
        *reinterpret_cast<unsigned*>(at) = word;
    }
  } else {
    unsigned in_memory[kWords];
#pragma unroll
    for (int k = 0; k < kWords; ++k) in_memory[k] = words[k];
    store_by_samples<Rule>(to, plane, y, step, end, x, in_memory, kWords);
  }
}

struct PadJob {
  Pixels in, out;
  int width = 0, height = 0, planes = 1;  ///< the output's size in pixels; its planes
  int in_width = 0, in_height = 0, left = 0, top = 0;
  int pixel = 1;  ///< samples
  MorphologyBorder border = MorphologyBorder::Replicate;
};

/// Copies the image with the pixels of its border around it; a thread a pixel.
template <class S>
__global__ void __launch_bounds__(kPadThreads) pad_image(const PadJob job) {
  const long long index = static_cast<long long>(blockIdx.x) * kPadThreads + threadIdx.x;
  const long long area = static_cast<long long>(job.width) * job.height;
  if (index >= area * job.planes) return;
  const int plane = static_cast<int>(index / area), x = static_cast<int>(index % area % job.width),
            y = static_cast<int>(index % area / job.width);
  const int u = border_position(x - job.left, job.in_width, job.border);
  const int v = border_position(y - job.top, job.in_height, job.border);
  const S* from = job.in.line<const S>(plane, v) + static_cast<std::ptrdiff_t>(u) * job.pixel;
  S* to = job.out.line<S>(plane, y) + static_cast<std::ptrdiff_t>(x) * job.pixel;
  for (int c = 0; c < job.pixel; ++c) to[c] = from[c];
}

}  // namespace contorno::morphology_cuda
