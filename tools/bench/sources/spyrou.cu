// Spyrou's two kernels (cudaMeanshift1 and the one after it), with the points in global memory or in shared.
#include <cmath>

#include "tools/bench/sources/device.cuh"
#include "tools/bench/sources/spyrou.h"

namespace contorno::sources {
namespace {

/// Each thread works on one pair of a climbing point and a point, and adds to the sums by atomics. With
/// kShared it first copies its point into a piece of shared memory of its own.
template <bool kShared>
__global__ void add_pairs(const float* x, const float* y, float* numerator, float* denominator, int count,
                          int dims, float sigma) {
  extern __shared__ float pieces[];
  const int i = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count || j >= count) return;
  const float* point = x + static_cast<std::size_t>(j) * dims;
  if (kShared) {
    float* piece = pieces + static_cast<std::size_t>(threadIdx.y * blockDim.x + threadIdx.x) * dims;
    for (int d = 0; d < dims; ++d) piece[d] = point[d];
    point = piece;
  }
  float square = 0;
  for (int d = 0; d < dims; ++d) {
    const float difference = y[static_cast<std::size_t>(i) * dims + d] - point[d];
    square += difference * difference;
  }
  if (!(sqrtf(square) < sigma * sigma)) return;
  const float weight = expf(-square / (2 * sigma * sigma));
  atomicAdd(&denominator[i], weight);
  for (int d = 0; d < dims; ++d)
    atomicAdd(&numerator[static_cast<std::size_t>(i) * dims + d], weight * point[d]);
}

/// A thread a coordinate.
__global__ void step(float* y, const float* numerator, const float* denominator, float* norm, int count,
                     int dims) {
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int col = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= count || col >= dims) return;
  const std::size_t at = static_cast<std::size_t>(row) * dims + col;
  const float below = denominator[row] > 0 ? denominator[row] : 1;
  const float next = numerator[at] / below;
  atomicAdd(norm, (next - y[at]) * (next - y[at]));
  y[at] = next;
}

}  // namespace

SpyrouResult spyrou_cuda(const SpyrouInput& input, bool shared) {
  const std::size_t size = input.points.size();
  const DeviceArray<float> x(input.points), y(input.points);
  DeviceArray<float> numerator(size), denominator(static_cast<std::size_t>(input.count)), norm(1);
  const unsigned side = static_cast<unsigned>(input.block);
  const unsigned rows = blocks_for(static_cast<std::size_t>(input.count), side);
  const dim3 block(side, side), pairs(rows, rows),
      coordinates(blocks_for(static_cast<std::size_t>(input.dims), side), rows);
  const std::size_t pieces =
      shared ? std::size_t{side} * side * static_cast<std::size_t>(input.dims) * sizeof(float) : 0;
  SpyrouResult result;
  DeviceClock clock;
  clock.start();
  for (float found = INFINITY; found >= input.eps && result.iterations < input.most_iterations;
       ++result.iterations) {
    numerator.clear(), denominator.clear(), norm.clear();
    if (shared)
      add_pairs<true><<<pairs, block, pieces>>>(x.get(), y.get(), numerator.get(), denominator.get(),
                                                input.count, input.dims, input.sigma);
    else
      add_pairs<false><<<pairs, block>>>(x.get(), y.get(), numerator.get(), denominator.get(), input.count,
                                         input.dims, input.sigma);
    need(cudaDeviceSynchronize());
    step<<<coordinates, block>>>(y.get(), numerator.get(), denominator.get(), norm.get(), input.count,
                                 input.dims);
    need(cudaDeviceSynchronize());
    found = std::sqrt(norm.read()[0]);
  }
  result.seconds = clock.stop();
  result.points = y.read();
  return result;
}

}  // namespace contorno::sources
