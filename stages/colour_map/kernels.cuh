// The kernel of a colour map: a thread a pixel. It is no loop of Thrust, which takes 3.2 us instead of 2.4
// for 511 x 95 pixels on an H200 (for_each_number, cuda/thrust.cuh).
#pragma once

#include "cuda/launch.cuh"
#include "stages/colour_map/stage.h"
#include "stages/shared/sample_value.h"

namespace contorno::colour_map_cuda {

inline constexpr unsigned kThreads = 256;

struct Job {
  Plane plane;
  unsigned char* out = nullptr;
  std::ptrdiff_t out_pitch = 0;
  ColourTable table;
  unsigned blocks_x = 1;  ///< blocks a row
};

template <class T>
__global__ void __launch_bounds__(kThreads) colour_pixels(const Job job) {
  const int y = static_cast<int>(blockIdx.x / job.blocks_x);
  const int x = static_cast<int>(blockIdx.x % job.blocks_x * kThreads + threadIdx.x);
  if (x < job.plane.width)
    job.table(job.plane.at<T>(y, x), job.out + y * job.out_pitch + static_cast<std::ptrdiff_t>(x) * 3);
}

}  // namespace contorno::colour_map_cuda
