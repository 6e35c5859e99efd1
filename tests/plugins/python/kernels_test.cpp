// The kernels that put samples and points in order and number contours, run on the host by the emulator.
// Needs no device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include "plugins/python/device/gather.cuh"

#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <vector>

using namespace contorno;
using namespace contorno::python;

namespace {

template <class Kernel>
void run(const Kernel& kernel) {
  emulated::run_grid(3, 64, 0, false, kernel);
}

/// Two columns out of five of every second row, from the last row on.
template <class T>
StridedSamples strided(const std::vector<T>& values, std::int64_t rows) {
  const auto size = static_cast<std::int64_t>(sizeof(T));
  return {.data = values.data() + (rows - 1) * 10 + 1,
          .sides = {1, 1, rows, 2},
          .strides = {0, 0, -10 * size, 2 * size},
          .item_bytes = static_cast<int>(size)};
}
template <class T>
const T& at(const std::vector<T>& values, std::int64_t rows, std::int64_t row, int column) {
  return values[static_cast<std::size_t>((rows - 1 - row) * 10 + 1 + 2 * column)];
}

template <class T>
std::vector<T> numbers(std::int64_t rows) {
  std::vector<T> values(static_cast<std::size_t>(rows * 10));
  std::uint64_t seed = 5;
  for (T& value : values) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    value =
        static_cast<T>(static_cast<double>(seed >> 11) / (std::numeric_limits<T>::is_integer ? 1e9 : 7e3));
  }
  return values;
}

template <class T>
void check_floats() {
  const std::int64_t rows = 300;
  const std::vector<T> values = numbers<T>(rows);
  const StridedSamples from = strided(values, rows);
  std::vector<float> to(static_cast<std::size_t>(2 * rows), 77);
  run([&] { gather<T, float, Cast>(from, to.data(), 2 * rows); });
  for (std::int64_t row = 0; row < rows; ++row)
    for (int column = 0; column < 2; ++column)
      CHECK(to[static_cast<std::size_t>(2 * row + column)] ==
            static_cast<float>(at(values, rows, row, column)));
}

}  // namespace

TEST_CASE("numbers of any type and strides become float32 in C order") {
  check_floats<std::int8_t>();
  check_floats<std::uint16_t>();
  check_floats<std::int32_t>();
  check_floats<std::uint32_t>();
  check_floats<std::int64_t>();
  check_floats<std::uint64_t>();
  check_floats<float>();
  check_floats<double>();
  const std::vector<Half> halves{{0x3c00}, {0xc000}, {0x0001}, {0x7c00}};  // 1, -2, the smallest, infinity
  const StridedSamples from{.data = halves.data(), .sides = {1, 1, 2, 2}, .strides = {0, 0, 4, 2}};
  std::vector<float> to(4);
  run([&] { gather<Half, float, Cast>(from, to.data(), 4); });
  CHECK(to == std::vector<float>{1, -2, 0x1p-24F, std::numeric_limits<float>::infinity()});
}

TEST_CASE("contours are picked out of points of any strides, whole and in the order that is told") {
  const std::int64_t rows = 500;
  const std::vector<double> values = numbers<double>(rows);
  // One is taken twice, some have no points, the last one ends with the points.
  const std::vector<std::uint32_t> from_begin{40, 7, 7, 300, 499, 0, 0}, lengths{9, 3, 3, 0, 1, 200, 0};
  std::vector<std::uint32_t> to_begin{0};
  for (const std::uint32_t length : lengths) to_begin.push_back(to_begin.back() + length);
  std::vector<double> to(2 * to_begin.back() + 2, 77);
  const PickedContours picked{.from_begin = from_begin.data(),
                              .to_begin = to_begin.data(),
                              .contours = static_cast<unsigned>(lengths.size()),
                              .points = to_begin.back()};
  run([&] { gather_picked(strided(values, rows), picked, to.data()); });
  std::size_t place = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    for (std::uint32_t point = 0; point < lengths[i]; ++point)
      for (int column = 0; column < 2; ++column)
        CHECK(to[place++] == at(values, rows, from_begin[i] + point, column));
  CHECK(to[place] == 77);
}

TEST_CASE("contours have the frame, the plane and the level of theirs, also beside planes that have none") {
  constexpr int kFrames = 4, kPlanes = 3, kLevels = 5;
  std::vector<std::uint32_t> begin{0};
  std::vector<std::int32_t> frames, planes, levels;
  for (int frame = 0; frame < kFrames; ++frame)
    for (int plane = 0; plane < kPlanes; ++plane)
      for (int level = 0; level < kLevels; ++level) {
        const std::uint32_t count = (7U * begin.size() + begin.back()) % 4;
        begin.push_back(begin.back() + count);
        frames.insert(frames.end(), count, frame);
        planes.insert(planes.end(), count, plane);
        levels.insert(levels.end(), count, level);
      }
  std::vector<std::int32_t> got[3];
  for (std::vector<std::int32_t>& one : got) one.assign(frames.size() + 1, 77);
  run([&] {
    fill_ids(begin.data(), kFrames * kPlanes * kLevels, {.planes = kPlanes, .levels = kLevels}, frames.size(),
             {.classes = got[0].data(), .frames = got[1].data(), .levels = got[2].data()});
  });
  for (std::vector<std::int32_t>* one : {&frames, &planes, &levels}) one->push_back(77);
  CHECK(got[0] == planes);
  CHECK(got[1] == frames);
  CHECK(got[2] == levels);
}
