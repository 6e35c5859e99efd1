// The kernel of classify: each block makes the maps of one tile. It computes the probabilities of the tile
// and of a margin as wide as the smoothing in shared memory, for as many classes at a time as fit, and
// smooths them along x, then along y. Outside of the image the samples of its edge are repeated.
#pragma once

#include "cuda/launch.cuh"
#include "stages/classify/stage.h"

namespace contorno::classify_cuda {

inline constexpr unsigned kThreads = 256;
inline constexpr int kTile = 32;
inline constexpr std::size_t kSharedBytes = 112 * 1024;  // two blocks fit a multiprocessor of sm_90

struct Job {
  ClassifyPixel pixel;
  const ClassifyClass* classes = nullptr;
  const float* weights = nullptr;  ///< 2 * radius + 1
  int class_count = 0, rest_class = -1, radius = 0;
  int group = 1;  ///< classes at a time
  bool ranges = false;

  int width = 0, height = 0, channels = 0, tiles_x = 0, tiles_y = 0;
  const unsigned char* in = nullptr;
  unsigned char* out = nullptr;
  std::ptrdiff_t in_pitch = 0, out_pitch = 0, out_plane_pitch = 0;
  bool words = false;  ///< pixels are aligned words

  CONTORNO_HD int side() const { return kTile + 2 * radius; }
};

/// Where the parts of the shared memory begin, in floats.
struct Parts {
  int decode = 0, weights = 256, planes = 256 + 2 * kMaxSmooth + 1, lines = 0, end = 0;

  CONTORNO_HD Parts(int radius, int group) {
    const int side = kTile + 2 * radius;
    lines = planes + group * side * side;
    end = lines + (radius > 0 ? 2 * side * kTile : 0);
  }
};

struct Rgb {
  std::uint8_t red, green, blue;
};

__device__ inline Rgb load(const Job& job, int x, int y) {
  const unsigned char* at = job.in + y * job.in_pitch + x * job.channels;
  if (job.words) {
    const unsigned word = *reinterpret_cast<const unsigned*>(at);
    return {static_cast<std::uint8_t>(word), static_cast<std::uint8_t>(word >> 8U),
            static_cast<std::uint8_t>(word >> 16U)};
  }
  if (job.channels == 1) return {at[0], at[0], at[0]};
  return {at[0], at[1], at[2]};
}

/// Writes the probabilities of a pixel for the classes [first, last), `step` floats apart.
__device__ inline void classify(const Job& job, const ClassifyPixel& pixel, Rgb rgb, int first, int last,
                                float* probabilities, int step) {
  const Triple place = pixel.place(rgb.red, rgb.green, rgb.blue);
  const Triple hsv = job.ranges ? ClassifyPixel::hsv(rgb.red, rgb.green, rgb.blue) : Triple{};
  float total = job.rest_class >= 0 ? 0.0F : pixel.rest_weight;
  for (int k = 0; k < job.class_count; ++k) {
    const float weight =
        k == job.rest_class ? pixel.rest_weight : pixel.weight(pixel.nearest(job.classes[k], place, hsv));
    if (k >= first && k < last) probabilities[(k - first) * step] = weight;
    total = total + weight;
  }
  for (int k = 0; k < last - first; ++k) probabilities[k * step] = probabilities[k * step] / total;
}

/// The sum of 2 * radius + 1 weighted samples that lie `step` apart.
__device__ inline float smoothed(const float* samples, int step, const float* weights, int radius) {
  float sum = weights[0] * samples[0];
  for (int j = 1; j <= 2 * radius; ++j) sum = sum + weights[j] * samples[j * step];
  return sum;
}

template <class T>
__device__ void store(const Job& job, int x, int y, int k, float value) {
  if (x >= job.width || y >= job.height) return;
  T* row = reinterpret_cast<T*>(job.out + k * job.out_plane_pitch + y * job.out_pitch);
  if constexpr (sizeof(T) == 1)
    row[x] = to_probability_byte(value);
  else
    row[x] = value;
}

template <class T>
__global__ void __launch_bounds__(kThreads) classify_tiles(const Job job) {
  float* shared = &block_shared<float>();
  const Parts parts(job.radius, job.group);
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(kThreads);
  const int x0 = static_cast<int>(blockIdx.x) % job.tiles_x * kTile;
  const int y0 = static_cast<int>(blockIdx.x) / job.tiles_x * kTile;
  const int side = job.side(), area = side * side;
  float* weights = shared + parts.weights;
  float* planes = shared + parts.planes;
  for (int i = thread; i < 256; i += threads) shared[parts.decode + i] = job.pixel.decode[i];
  if (thread <= 2 * job.radius) weights[thread] = job.weights[thread];
  ClassifyPixel pixel = job.pixel;
  pixel.decode = shared + parts.decode;

  for (int first = 0; first < job.class_count; first += job.group) {
    const int last = first + job.group < job.class_count ? first + job.group : job.class_count;
    __syncthreads();  // the tables are there; the planes of the last group have been read
    for (int i = thread; i < area; i += threads) {
      const int wanted_x = x0 - job.radius + i % side, wanted_y = y0 - job.radius + i / side;
      const int x = wanted_x > 0 ? (wanted_x < job.width ? wanted_x : job.width - 1) : 0;
      const int y = wanted_y > 0 ? (wanted_y < job.height ? wanted_y : job.height - 1) : 0;
      classify(job, pixel, load(job, x, y), first, last, planes + i, area);
    }
    __syncthreads();
    for (int k = first; k < last; ++k) {
      const float* plane = planes + (k - first) * area;
      // Two buffers take turns, so that one barrier a class is enough.
      float* lines = shared + parts.lines + (k - first) % 2 * side * kTile;
      if (job.radius > 0) {
        for (int i = thread; i < side * kTile; i += threads)
          lines[i] = smoothed(plane + i / kTile * side + i % kTile, 1, weights, job.radius);
        __syncthreads();
      }
      for (int i = thread; i < kTile * kTile; i += threads)
        store<T>(job, x0 + i % kTile, y0 + i / kTile, k,
                 job.radius > 0 ? smoothed(lines + i, kTile, weights, job.radius) : plane[i]);
    }
  }
}

}  // namespace contorno::classify_cuda
