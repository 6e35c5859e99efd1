// A. Albertini's kernels for Diamond-Square (3.2.3 and 3.3), written anew from equations 4 to 12 and
// fragments 16 to 19. Random numbers are of cuRAND's device functions, since its host library need not be
// there: XORWOW, with as many states as a generator of the host library has.
#include <curand_kernel.h>

#include <algorithm>

#include "tools/bench/sources/albertini.h"
#include "tools/bench/sources/device.cuh"

namespace contorno::sources {
namespace {

constexpr unsigned kStates = 4096, kStateBlock = 256;

/// Seeded: a seed a state, which costs little, in place of one sequence that is cut into parts.
__global__ void make_states(curandState* states, unsigned long long seed, bool seeded) {
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  if (seeded)
    curand_init(seed + at, 0, 0, &states[at]);
  else
    curand_init(seed, at, 0, &states[at]);
}

__global__ void draw(curandState* states, unsigned* numbers, std::size_t count) {
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  curandState state = states[at];
  for (std::size_t i = at; i < count; i += kStates) numbers[i] = curand(&state);
  states[at] = state;
}

struct Step {
  int size = 0;               ///< cells between the corners of a square
  int side = 0;               ///< side of the matrix
  int rows = 0, columns = 0;  ///< threads
  int least = 0, most = 0;    ///< range of the random number, without `most`
  bool limited = false;  ///< sums are limited, and each thread has a random number of its own: for a check
};

__device__ std::uint8_t mean(int sum, int count, bool limited) {
  if (limited) sum = min(max(sum, 0), 256 * count - 1);
  return static_cast<std::uint8_t>(sum / count);
}

/// The thesis takes random[x * gridDim.x + y], so that neighbours share numbers.
__device__ int noise(const unsigned* random, const Step& step, int x, int y) {
  const unsigned at =
      static_cast<unsigned>(step.limited ? x * step.columns + y : x * static_cast<int>(gridDim.x) + y);
  return step.least + static_cast<int>(random[at] % static_cast<unsigned>(step.most - step.least));
}

__global__ void diamond_step(std::uint8_t* matrix, const unsigned* random, Step step) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= step.rows || y >= step.columns) return;
  const std::size_t side = static_cast<std::size_t>(step.side);
  const std::size_t row = static_cast<std::size_t>(x) * step.size,
                    col = static_cast<std::size_t>(y) * step.size;
  const int sum = matrix[row * side + col] + matrix[row * side + col + step.size] +
                  matrix[(row + step.size) * side + col] + matrix[(row + step.size) * side + col + step.size];
  matrix[(row + step.size / 2) * side + col + step.size / 2] =
      mean(sum + noise(random, step, x, y), 4, step.limited);
}

template <bool kConditions>
__global__ void square_step(std::uint8_t* matrix, const unsigned* random, Step step) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= step.rows || y >= step.columns) return;
  const int half = step.size / 2, side = step.side;
  const int row = x * step.size * (y % 2 == 0) + y * half * (y % 2 != 0);
  const int col = (y * half + half) * (y % 2 == 0) + x * step.size * (y % 2 != 0);
  const auto at = [&](int r, int c) {
    return static_cast<int>(matrix[static_cast<std::size_t>(r) * side + c]);
  };
  int sum = 0, count = 0;
  if (kConditions) {
    if (row != 0) sum += at(row - half, col), ++count;
    if (row != side - 1) sum += at(row + half, col), ++count;
    if (col != 0) sum += at(row, col - half), ++count;
    if (col != side - 1) sum += at(row, col + half), ++count;
  } else {
    int there = row != 0;
    sum += at(row - half * there, col) * there, count += there;
    there = row != side - 1;
    sum += at(row + half * there, col) * there, count += there;
    there = col != 0;
    sum += at(row, col - half * there) * there, count += there;
    there = col != side - 1;
    sum += at(row, col + half * there) * there, count += there;
  }
  matrix[static_cast<std::size_t>(row) * side + col] =
      mean(sum + noise(random, step, x, y), count, step.limited);
}

/// Random numbers on the device: a generator, or what a check gives.
class Numbers {
 public:
  Numbers(std::size_t most, bool seeded) : states_(kStates), numbers_(most), seeded_(seeded) {}
  void create(unsigned long long seed) {
    make_states<<<kStates / kStateBlock, kStateBlock>>>(states_.get(), seed, seeded_);
  }
  void generate(std::size_t count) {
    draw<<<kStates / kStateBlock, kStateBlock>>>(states_.get(), numbers_.get(), count);
  }
  DeviceArray<unsigned>& array() { return numbers_; }
  const unsigned* get(std::size_t from) const { return numbers_.get() + from; }

 private:
  DeviceArray<curandState> states_;
  DeviceArray<unsigned> numbers_;
  bool seeded_;
};

/// What the noise of a check is in the units of the kernels' random numbers.
std::vector<unsigned> given_numbers(const Step& step, const NoiseOf& noise, int level, bool diamonds) {
  std::vector<unsigned> given;
  const int half = step.size / 2;
  for (int x = 0; x < step.rows; ++x)
    for (int y = 0; y < step.columns; ++y) {
      int row = x * step.size + half, col = y * step.size + half;
      if (!diamonds) {
        row = y % 2 == 0 ? x * step.size : y * half;
        col = y % 2 == 0 ? y * half + half : x * step.size;
      }
      given.push_back(static_cast<unsigned>(noise(row, col, level) - step.least));
    }
  return given;
}

}  // namespace

std::vector<std::uint8_t> heights_on_device(int exponent, HeightsVersion version, const NoiseOf& noise) {
  const int last = 1 << exponent, side = last + 1;
  const std::size_t cells = static_cast<std::size_t>(side) * static_cast<std::size_t>(side);
  std::vector<std::uint8_t> image(cells);
  unsigned corner = 1;
  for (const int row : {0, last})
    for (const int col : {0, last}) {
      corner = corner * 214013U + 2531011U;
      image[static_cast<std::size_t>(row) * static_cast<std::size_t>(side) + static_cast<std::size_t>(col)] =
          static_cast<std::uint8_t>(noise ? noise(row, col, 0) : static_cast<int>(corner >> 16 & 255U));
    }
  DeviceArray<std::uint8_t> matrix(image);
  const bool once = version == HeightsVersion::OneGenerator;
  // A step needs at most a number a thread; all together one a cell and those of threads beside the matrix.
  Numbers numbers(once ? 2 * cells : cells, once);
  if (once && !noise) numbers.create(1), numbers.generate(cells);
  std::size_t used = 0;
  int level = 1;
  for (int size = last, max = 256; size > 1; size /= 2, max /= 2, ++level)
    for (const bool diamonds : {true, false}) {
      const int squares = last / size;
      const Step step{.size = size,
                      .side = side,
                      .rows = diamonds ? squares : squares + 1,
                      .columns = diamonds ? squares : 2 * squares,
                      .least = max / 2 > 0 ? -max / 2 : -1,
                      .most = max / 2 > 0 ? max / 2 : 1,
                      .limited = static_cast<bool>(noise)};
      const std::size_t threads =
          static_cast<std::size_t>(step.rows) * static_cast<std::size_t>(step.columns);
      if (noise)
        numbers.array().set(given_numbers(step, noise, level, diamonds));
      else if (!once)
        numbers.create(static_cast<unsigned long long>(2 * level + (diamonds ? 0 : 1))),
            numbers.generate(threads);
      const unsigned* random = numbers.get(noise || !once ? 0 : used);
      const dim3 block(static_cast<unsigned>(std::min(step.rows, diamonds ? 16 : 9)),
                       static_cast<unsigned>(std::min(step.columns, 16)));
      const dim3 grid(blocks_for(static_cast<std::size_t>(step.rows), block.x),
                      blocks_for(static_cast<std::size_t>(step.columns), block.y));
      if (diamonds)
        diamond_step<<<grid, block>>>(matrix.get(), random, step);
      else if (version == HeightsVersion::Conditions)
        square_step<true><<<grid, block>>>(matrix.get(), random, step);
      else
        square_step<false><<<grid, block>>>(matrix.get(), random, step);
      need(cudaDeviceSynchronize());
      used = std::min(used + threads, cells - 1);
    }
  return matrix.read();
}

}  // namespace contorno::sources
