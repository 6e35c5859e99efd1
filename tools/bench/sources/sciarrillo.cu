// A. Sciarrillo's kernels, chapter 5 of the thesis, written anew from its text.
#include <chrono>
#include <numeric>

#include "tools/bench/sources/device.cuh"
#include "tools/bench/sources/sciarrillo.h"

namespace contorno::sources {
namespace {

constexpr unsigned kPart = 64;       // elements of the exclusive scan that are scanned together
constexpr unsigned kReduced = 512;   // elements that a block of `reduce` adds up
constexpr unsigned kScanned = 2048;  // elements that prescan_small takes at most

struct Cell {
  double upper_left, upper_right, lower_left, lower_right;
  int code;
};

__device__ Cell cell_at(const double* image, double level, int row, int col, int width) {
  Cell cell{image[row * width + col], image[row * width + col + 1], image[(row + 1) * width + col],
            image[(row + 1) * width + col + 1], 0};
  if (cell.upper_left > level) cell.code += 1;
  if (cell.upper_right > level) cell.code += 2;
  if (cell.lower_left > level) cell.code += 4;
  if (cell.lower_right > level) cell.code += 8;
  return cell;
}

__global__ void required_memory(const double* image, double level, int width, int height, int* needed) {
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int col = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= height || col >= width) return;
  int count = 0;
  if (row < height - 1 && col < width - 1) {
    const int code = cell_at(image, level, row, col, width).code;
    if (code == 6 || code == 9)
      count = 2;
    else if (code != 0 && code != 15)
      count = 1;
  }
  needed[row * width + col] = count;
}

/// A block's sum, halving the number of threads that work in each step.
__global__ void reduce(const int* needed, int* sums, int count) {
  __shared__ int part[kReduced];
  const unsigned local = threadIdx.x, global = blockIdx.x * kReduced + local;
  part[local] = global < static_cast<unsigned>(count) ? needed[global] : 0;
  __syncthreads();
  for (unsigned size = kReduced / 2; size > 0; size /= 2) {
    if (local < size) part[local] += part[local + size];
    __syncthreads();
  }
  if (local == 0) sums[blockIdx.x] = part[0];
}

/// The work-efficient scan of Harris, Sengupta and Owens on kCount elements in shared memory, by half as many
/// threads. Returns the sum to thread 0.
template <unsigned kCount>
__device__ int scan_shared(int* part) {
  const unsigned local = threadIdx.x;
  unsigned offset = 1;
  for (unsigned pairs = kCount / 2; pairs > 0; pairs /= 2, offset *= 2) {
    __syncthreads();
    if (local < pairs) part[offset * (2 * local + 2) - 1] += part[offset * (2 * local + 1) - 1];
  }
  __syncthreads();
  int sum = 0;
  if (local == 0) sum = part[kCount - 1], part[kCount - 1] = 0;
  for (unsigned pairs = 1; pairs < kCount; pairs *= 2) {
    offset /= 2;
    __syncthreads();
    if (local < pairs) {
      const unsigned a = offset * (2 * local + 1) - 1, b = offset * (2 * local + 2) - 1;
      const int left = part[a];
      part[a] = part[b];
      part[b] += left;
    }
  }
  __syncthreads();
  return sum;
}

/// Scans each part of 64 elements by itself, and leaves its sum in `sums`.
__global__ void prescan(const int* needed, int* positions, int* sums, int count) {
  __shared__ int part[kPart];
  const unsigned first = blockIdx.x * kPart + 2 * threadIdx.x;
  for (unsigned i = 0; i < 2; ++i)
    part[2 * threadIdx.x + i] = first + i < static_cast<unsigned>(count) ? needed[first + i] : 0;
  const int sum = scan_shared<kPart>(part);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
  for (unsigned i = 0; i < 2; ++i)
    if (first + i < static_cast<unsigned>(count)) positions[first + i] = part[2 * threadIdx.x + i];
}

/// One block scans the sums of all parts.
__global__ void prescan_small(int* sums, int count) {
  __shared__ int part[kScanned];
  for (unsigned i = threadIdx.x; i < kScanned; i += blockDim.x)
    part[i] = i < static_cast<unsigned>(count) ? sums[i] : 0;
  scan_shared<kScanned>(part);
  for (unsigned i = threadIdx.x; i < static_cast<unsigned>(count); i += blockDim.x) sums[i] = part[i];
}

__global__ void add(int* positions, const int* sums, int count) {
  const unsigned at = blockIdx.x * kPart + threadIdx.x;
  if (at < static_cast<unsigned>(count)) positions[at] += sums[blockIdx.x];
}

__device__ double fraction(double from, double to, double level) {
  return to == from ? 0 : (level - from) / (to - from);
}

__global__ void marching_squares(const double* image, double level, int width, int height,
                                 const int* positions, double* x1, double* y1, double* x2, double* y2) {
  struct Place {
    double x, y;
  };
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int col = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= height - 1 || col >= width - 1) return;
  const Cell cell = cell_at(image, level, row, col, width);
  if (cell.code == 0 || cell.code == 15) return;
  const Place top{static_cast<double>(row), col + fraction(cell.upper_left, cell.upper_right, level)};
  const Place bottom{row + 1.0, col + fraction(cell.lower_left, cell.lower_right, level)};
  const Place left{row + fraction(cell.upper_left, cell.lower_left, level), static_cast<double>(col)};
  const Place right{row + fraction(cell.upper_right, cell.lower_right, level), col + 1.0};
  int at = positions[row * width + col];
  const auto write = [&](const Place& from, const Place& to) {
    x1[at] = from.x, y1[at] = from.y, x2[at] = to.x, y2[at] = to.y;
    ++at;
  };
  switch (cell.code) {
    case 1:
      write(top, left);
      break;
    case 2:
      write(right, top);
      break;
    case 3:
      write(right, left);
      break;
    case 4:
      write(left, bottom);
      break;
    case 5:
      write(top, bottom);
      break;
    case 6:
      write(left, top), write(right, bottom);
      break;
    case 7:
      write(right, bottom);
      break;
    case 8:
      write(bottom, right);
      break;
    case 9:
      write(top, right), write(bottom, left);
      break;
    case 10:
      write(bottom, top);
      break;
    case 11:
      write(bottom, left);
      break;
    case 12:
      write(left, right);
      break;
    case 13:
      write(top, right);
      break;
    default:
      write(left, top);
      break;
  }
}

__global__ void saxpy_kernel(float a, const float* x, const float* y, float* out, std::size_t count) {
  const std::size_t at = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (at < count) out[at] = a * x[at] + y[at];
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

FourArrays segments_on_device(const Field& field, KernelTimes* times) {
  const auto start = std::chrono::steady_clock::now();
  const int count = field.width * field.height;
  const unsigned parts = blocks_for(static_cast<std::size_t>(count), kPart);
  const unsigned reduced = blocks_for(static_cast<std::size_t>(count), kReduced);
  if (parts > kScanned) throw std::runtime_error("prescan_small takes at most 131,072 samples");
  const DeviceArray<double> image(field.values);
  DeviceArray<int> needed(static_cast<std::size_t>(count)), positions(static_cast<std::size_t>(count));
  DeviceArray<int> sums(parts), partial(reduced);
  const dim3 block(16, 16), grid(blocks_for(static_cast<std::size_t>(field.width), 16),
                                 blocks_for(static_cast<std::size_t>(field.height), 16));
  DeviceClock clock;
  clock.start();
  required_memory<<<grid, block>>>(image.get(), field.level, field.width, field.height, needed.get());
  need(cudaDeviceSynchronize());
  reduce<<<reduced, kReduced>>>(needed.get(), partial.get(), count);
  const std::vector<int> partials = partial.read();
  const auto total = static_cast<std::size_t>(std::accumulate(partials.begin(), partials.end(), 0));
  DeviceArray<double> x1(total), y1(total), x2(total), y2(total);
  prescan<<<parts, kPart / 2>>>(needed.get(), positions.get(), sums.get(), count);
  need(cudaDeviceSynchronize());
  prescan_small<<<1, kScanned / 2>>>(sums.get(), static_cast<int>(parts));
  need(cudaDeviceSynchronize());
  add<<<parts, kPart>>>(positions.get(), sums.get(), count);
  need(cudaDeviceSynchronize());
  marching_squares<<<grid, block>>>(image.get(), field.level, field.width, field.height, positions.get(),
                                    x1.get(), y1.get(), x2.get(), y2.get());
  const double kernels = clock.stop();
  FourArrays found{x1.read(), y1.read(), x2.read(), y2.read()};
  if (times != nullptr) *times = {.whole = seconds_since(start), .kernels = kernels};
  return found;
}

KernelTimes saxpy() {
  constexpr unsigned kThreads = 512, kBlocks = 32768;
  constexpr std::size_t kCount = std::size_t{kThreads} * kBlocks;
  const auto start = std::chrono::steady_clock::now();
  const std::vector<float> host_x(kCount, 1.5F), host_y(kCount, 2.0F);
  const DeviceArray<float> x(host_x), y(host_y), out(kCount);
  DeviceClock clock;
  clock.start();
  saxpy_kernel<<<kBlocks, kThreads>>>(2.0F, x.get(), y.get(), out.get(), kCount);
  const double kernels = clock.stop();
  if (out.read()[kCount - 1] != 5.0F) throw std::runtime_error("a x + y is wrong");
  return {.whole = seconds_since(start), .kernels = kernels};
}

}  // namespace contorno::sources
