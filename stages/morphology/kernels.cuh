// What the kernels of morphology share: images in memory (Pixels), the kernel that puts a border around them
// (pad_image), and the kernel that brings rows of an image into words of strips (lanes.cuh) and back, and
// applies a run along the rows on the way (window_rows). Internal.
#pragma once

#include "stages/morphology/line.cuh"

namespace contorno::morphology_cuda {

// Measured on an H200: many small blocks, so that some load while others compute.
inline constexpr unsigned kLineThreads = 256;
inline constexpr unsigned kTermThreads = 256;

/// Threads that a multiprocessor of any device runs at the same time.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr unsigned kResidentThreads = 1024;
#else
inline constexpr unsigned kResidentThreads = 1536;
#endif
/// For launch bounds: `wanted` blocks on a multiprocessor, or as many as fit.
constexpr unsigned blocks_sharing(unsigned threads, unsigned wanted) {
  return wanted * threads <= kResidentThreads ? wanted : kResidentThreads / threads;
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

enum class Place { Image, Words };

/// The arguments of window_rows: a run along rows, from an image or words to an image or words.
struct RowsJob {
  Strips strips;  ///< of the input
  Pixels image;   ///< input, if that is an image
  const unsigned* in = nullptr;
  unsigned* out = nullptr;
  int first = 0, length = 1;      ///< the window: pixels first .. first + length - 1 from the result's
  int columns = 0;                ///< pixels of a result row
  int segment = 0, segments = 1;  ///< pixels of a result row that a block makes
  int taken = 0;                  ///< words of the line in shared memory
  unsigned outside = 0;           ///< value beyond the ends of input rows
  unsigned next_outside = 0;      ///< value of output lanes whose row is not in the image
  // Only for output to an image: how values are stored, and where the image begins on the strips.
  Pixels target, source;
  int target_width = 0, target_height = 0, crop_x = 0, crop_y = 0;
  bool keeps_alpha = false;
};

/// Loads words of row `row` of the strips from an image: samples first_sample .. first_sample + count - 1.
template <class Rule>
__device__ void load_strips(const RowsJob& job, int plane, int row, int first_sample, int count,
                            unsigned* line) {
  using S = typename Rule::Stored;
  using W = typename Rule::W;
  const int samples = job.strips.samples();
  const auto one = [&](int s) {
    unsigned word = 0;
    for (int lane = 0; lane < kLanes<W>; ++lane) {
      const int y = row + lane * job.strips.strip;
      const bool inside = s >= 0 && s < samples && y < job.strips.height;
      word |= inside ? in_lane<W>(Rule::load(job.image.line<const S>(plane, y)[s]), lane)
                     : in_lane<W>(lane_of<W>(job.outside, lane), lane);
    }
    line[s - first_sample] = word;
  };
  const int thread = static_cast<int>(threadIdx.x);
  if constexpr (sizeof(W) == 1) {
    if (job.image.words && all_inside<W>(job.strips, row)) {
      const int last = first_sample + count;
      const int quads_from = first_sample >> 2, quads_to = (last + 3) >> 2;
      for (int quad = quads_from + thread; quad < quads_to; quad += static_cast<int>(kLineThreads)) {
        const int s = 4 * quad;
        if (s >= first_sample && s + 4 <= last && s >= 0 && s + 4 <= samples) {
          unsigned words[4];
          for (int lane = 0; lane < 4; ++lane)
            words[lane] = job.image.line<const unsigned>(plane, row + lane * job.strips.strip)[quad];
          transpose<W>(words);
          *reinterpret_cast<uint4*>(line + (s - first_sample)) =
              uint4{words[0], words[1], words[2], words[3]};
        } else {
          for (int k = 0; k < 4; ++k)
            if (s + k >= first_sample && s + k < last) one(s + k);
        }
      }
      return;
    }
  }
  for (int i = thread; i < count; i += static_cast<int>(kLineThreads)) one(first_sample + i);
}

/// Stores the results `line` of row `row` of the strips in an image: samples first_sample .. first_sample +
/// count - 1.
template <class Rule, PassResult kResult>
__device__ void store_strips(const RowsJob& job, int plane, int row, int first_sample, int count,
                             const unsigned* line) {
  using S = typename Rule::Stored;
  using W = typename Rule::W;
  const int thread = static_cast<int>(threadIdx.x), pixel = job.strips.pixel;
  if constexpr (sizeof(W) == 1 && kResult == PassResult::Store) {
    if (job.target.words && !job.keeps_alpha && job.crop_x == 0 && job.crop_y == 0 && first_sample % 4 == 0 &&
        row + 3 * job.strips.strip < job.target_height) {
      for (int quad = thread; quad < count >> 2; quad += static_cast<int>(kLineThreads)) {
        unsigned words[4];
        for (int k = 0; k < 4; ++k) words[k] = line[4 * quad + k];
        transpose<W>(words);
        for (int lane = 0; lane < 4; ++lane)
          job.target.line<unsigned>(plane, row + lane * job.strips.strip)[(first_sample >> 2) + quad] =
              words[lane];
      }
      for (int i = (count & ~3) + thread; i < count; i += static_cast<int>(kLineThreads))
        for (int lane = 0; lane < 4; ++lane)
          job.target.line<S>(plane, row + lane * job.strips.strip)[first_sample + i] =
              lane_of<W>(line[i], lane);
      return;
    }
  }
  for (int i = thread; i < count; i += static_cast<int>(kLineThreads)) {
    const int s = first_sample + i - job.crop_x * pixel;
    if (s < 0 || s >= job.target_width * pixel) continue;
    for (int lane = 0; lane < kLanes<W>; ++lane) {
      const int y = row + lane * job.strips.strip - job.crop_y;
      if (y < 0 || y >= job.target_height) continue;
      S* to = job.target.line<S>(plane, y) + s;
      const S source = job.source.line<const S>(plane, y)[s];
      const S before =
          kResult == PassResult::MinusOutput || kResult == PassResult::OutputAndComplement ? *to : S{};
      const S value = Rule::template result<kResult>(lane_of<W>(line[i], lane), source, before);
      *to = job.keeps_alpha && s % 4 == 3 ? source : value;
    }
  }
}

/// Each block makes one segment of one row of words.
template <class Rule, Extreme kExtreme, Place kFrom, Place kTo, PassResult kResult>
__global__ void __launch_bounds__(kLineThreads, blocks_sharing(kLineThreads, 6))
    window_rows(const RowsJob job) {
  using W = typename Rule::W;
  unsigned* shared = &block_shared<unsigned>();
  const int block = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  const int segment = block % job.segments, row = block / job.segments % job.strips.strip;
  const int plane = block / job.segments / job.strips.strip;
  const int pixel = job.strips.pixel, x = segment * job.segment;
  const int columns = min(job.segment, job.columns - x);
  const int first_sample = (x + job.first) * pixel, count = (columns + job.length - 1) * pixel;
  // So that quads of samples are quads of words in shared memory.
  unsigned* line = shared + (first_sample & 3);
  if constexpr (kFrom == Place::Image) {
    load_strips<Rule>(job, plane, row, first_sample, count, line);
  } else {
    const unsigned* in = job.in + plane * static_cast<std::ptrdiff_t>(job.strips.words()) +
                         static_cast<std::ptrdiff_t>(row) * job.strips.samples();
    for (int i = thread; i < count; i += static_cast<int>(kLineThreads)) {
      const int s = first_sample + i;
      line[i] = s >= 0 && s < job.strips.samples() ? in[s] : job.outside;
    }
  }
  __syncthreads();
  const unsigned* result =
      window_along<W, kExtreme>(line, shared + job.taken, pixel, columns + job.length - 1, job.length, thread,
                                static_cast<int>(kLineThreads));
  if constexpr (kTo == Place::Image) {
    store_strips<Rule, kResult>(job, plane, row, x * pixel, columns * pixel, result);
  } else {
    const auto pitch = static_cast<std::ptrdiff_t>(job.columns) * pixel;
    unsigned* out =
        job.out + (static_cast<std::ptrdiff_t>(plane) * job.strips.strip + row) * pitch + x * pixel;
    const bool plain = all_inside<W>(job.strips, row);
    for (int i = thread; i < columns * pixel; i += static_cast<int>(kLineThreads))
      out[i] = plain ? result[i] : clipped<W>(job.strips, row, result[i], job.next_outside);
  }
}

struct PadJob {
  Pixels in, out;
  int width = 0, height = 0, planes = 1;  ///< of the output, in pixels
  int in_width = 0, in_height = 0, left = 0, top = 0;
  int pixel_bytes = 1;
  MorphologyBorder border = MorphologyBorder::Replicate;
};

/// Copies the image with the pixels of its border around it; a thread a pixel.
__global__ void __launch_bounds__(kTermThreads) pad_image(const PadJob job) {
  const long long index = static_cast<long long>(blockIdx.x) * kTermThreads + threadIdx.x;
  const long long area = static_cast<long long>(job.width) * job.height;
  if (index >= area * job.planes) return;
  const int plane = static_cast<int>(index / area), x = static_cast<int>(index % area % job.width),
            y = static_cast<int>(index % area / job.width);
  const int u = border_position(x - job.left, job.in_width, job.border);
  const int v = border_position(y - job.top, job.in_height, job.border);
  const char* from = job.in.line<const char>(plane, v) + static_cast<std::ptrdiff_t>(u) * job.pixel_bytes;
  char* to = job.out.line<char>(plane, y) + static_cast<std::ptrdiff_t>(x) * job.pixel_bytes;
  for (int b = 0; b < job.pixel_bytes; ++b) to[b] = from[b];
}

}  // namespace contorno::morphology_cuda
