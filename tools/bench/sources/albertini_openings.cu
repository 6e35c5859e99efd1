// A. Albertini's kernels for openings (4.2.3), written anew from equation 31, fragment 27 and the text: a
// thread a cell of the channels, cells around the image included, in blocks of 22 x 22.
#include "tools/bench/sources/albertini.h"
#include "tools/bench/sources/device.cuh"

namespace contorno::sources {
namespace {

struct Shape {
  int width = 0, height = 0;   ///< of the image
  int size_x = 0, size_y = 0;  ///< size with the cells around the image
  int first_x = 0, first_y = 0;
};

__device__ int thread_x() {
  return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}
__device__ int thread_y() {
  return static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
}

__global__ void split_channels(const std::uint8_t* image, std::uint8_t* red, std::uint8_t* green,
                               std::uint8_t* blue, Shape shape, int ghost) {
  const int x = thread_x(), y = thread_y();
  if (x >= shape.size_x || y >= shape.size_y) return;
  const bool inside = x >= shape.first_x && x < shape.width + shape.first_x && y >= shape.first_y &&
                      y < shape.height + shape.first_y;
  const int img = inside ? 1 : 0, halo = inside ? 0 : 1;
  const int at = ((y - shape.first_y) * shape.width + x - shape.first_x) * img, index = y * shape.size_x + x;
  red[index] = static_cast<std::uint8_t>(image[4 * at] * img + ghost * halo);
  green[index] = static_cast<std::uint8_t>(image[4 * at + 1] * img + ghost * halo);
  blue[index] = static_cast<std::uint8_t>(image[4 * at + 2] * img + ghost * halo);
}

__global__ void set_default(std::uint8_t* red, std::uint8_t* green, std::uint8_t* blue, Shape shape,
                            std::uint8_t value) {
  const int x = thread_x(), y = thread_y();
  if (x >= shape.size_x || y >= shape.size_y) return;
  const int index = y * shape.size_x + x;
  red[index] = value, green[index] = value, blue[index] = value;
}

template <bool kErosion>
__global__ void neighbourhood(const std::uint8_t* in, std::uint8_t* out, Shape shape, const int* offsets,
                              int count) {
  const int x = thread_x(), y = thread_y();
  if (x < shape.first_x || x >= shape.width + shape.first_x || y < shape.first_y ||
      y >= shape.height + shape.first_y)
    return;
  const int index = y * shape.size_x + x;
  int found = kErosion ? 255 : 0;
  for (int i = 0; i < count; ++i) {
    const int value = in[index + offsets[i]];
    found = kErosion ? min(found, value) : max(found, value);
  }
  out[index] = static_cast<std::uint8_t>(found);
}

__global__ void compose_image(std::uint8_t* image, const std::uint8_t* red, const std::uint8_t* green,
                              const std::uint8_t* blue, Shape shape) {
  const int x = thread_x(), y = thread_y();
  if (x < shape.first_x || x >= shape.width + shape.first_x || y < shape.first_y ||
      y >= shape.height + shape.first_y)
    return;
  const int at = (y - shape.first_y) * shape.width + x - shape.first_x, index = y * shape.size_x + x;
  image[4 * at] = red[index], image[4 * at + 1] = green[index], image[4 * at + 2] = blue[index];
}

}  // namespace

std::vector<std::uint8_t> opening_on_device(const Pixels& image, int side) {
  const Shape shape{.width = image.width,
                    .height = image.height,
                    .size_x = image.width + side - 1,
                    .size_y = image.height + side - 1,
                    .first_x = (side - 1) / 2,
                    .first_y = (side - 1) / 2};
  std::vector<int> erosion, dilation;
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      erosion.push_back((y - side / 2) * shape.size_x + x - side / 2);
      dilation.push_back((side - 1 - y - side / 2) * shape.size_x + side - 1 - x - side / 2);
    }
  const std::size_t cells = static_cast<std::size_t>(shape.size_x) * static_cast<std::size_t>(shape.size_y);
  const DeviceArray<std::uint8_t> pixels(image.rgba), red(cells), green(cells), blue(cells), red_out(cells),
      green_out(cells), blue_out(cells);
  const DeviceArray<int> erosion_offsets(erosion), dilation_offsets(dilation);
  const dim3 block(22, 22), grid(blocks_for(static_cast<std::size_t>(shape.size_x), 22),
                                 blocks_for(static_cast<std::size_t>(shape.size_y), 22));
  const int count = side * side;
  split_channels<<<grid, block>>>(pixels.get(), red.get(), green.get(), blue.get(), shape, 255);
  set_default<<<grid, block>>>(red_out.get(), green_out.get(), blue_out.get(), shape, 0);
  for (const auto& [channel, out] :
       {std::pair{red.get(), red_out.get()}, {green.get(), green_out.get()}, {blue.get(), blue_out.get()}}) {
    neighbourhood<true><<<grid, block>>>(channel, out, shape, erosion_offsets.get(), count);
    neighbourhood<false><<<grid, block>>>(out, channel, shape, dilation_offsets.get(), count);
  }
  compose_image<<<grid, block>>>(pixels.get(), red.get(), green.get(), blue.get(), shape);
  need(cudaGetLastError());
  need(cudaDeviceSynchronize());
  return pixels.read();
}

}  // namespace contorno::sources
