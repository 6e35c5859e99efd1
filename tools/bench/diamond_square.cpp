// Diamond-Square beside A. Albertini's serial algorithm, taking turns: medians and their ratio.
//   tools/bench/diamond-square [EXPONENT [ROUNDS [THREADS]]]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "base/memory.h"
#include "cuda/device.h"
#include "cuda/stream.h"
#include "stages/diamond_square/cuda.h"
#include "stages/diamond_square/field.h"
#include "tools/bench/conditions.h"

namespace {

using Clock = std::chrono::steady_clock;

/// Albertini, ch. 3, fragments 9 to 12: one thread, rand(), every cell through a function that looks for its
/// neighbours.
class SerialDiamondSquare {
 public:
  explicit SerialDiamondSquare(int exponent)
      : last_((1 << exponent)),
        size_(last_ + 1),
        image_(static_cast<std::size_t>(size_) * static_cast<std::size_t>(size_)) {}

  const std::vector<std::uint8_t>& execute() {
    for (const int row : {0, last_})
      for (const int column : {0, last_}) at(row, column) = static_cast<std::uint8_t>(std::rand() % 256);
    diamond_square(last_, 256);
    return image_;
  }

 private:
  std::uint8_t& at(int row, int column) {
    return image_[static_cast<std::size_t>(row) * static_cast<std::size_t>(size_) +
                  static_cast<std::size_t>(column)];
  }

  static int random_value(int max_value) {
    int min = -1, max = 1;
    if (max_value / 2 > 0) min = -max_value / 2, max = max_value / 2;
    return min + std::rand() % (max - min);
  }

  void diamond_square(int matrix_size, int max_value) {
    if (matrix_size <= 1) return;
    const int half = matrix_size / 2;
    for (int i = 0; i < last_; i += matrix_size)
      for (int j = 0; j < last_; j += matrix_size) diamond_step(i, j, half, max_value);
    for (int i = 0; i < size_; i += half) {
      const bool on_grid = i % matrix_size == 0;
      const int end = on_grid ? last_ : size_;
      for (int j = on_grid ? half : 0; j < end; j += matrix_size) square_step(i, j, half, max_value);
    }
    diamond_square(half, max_value / 2);
  }

  void diamond_step(int row, int column, int adding, int max_value) {
    const int size = 2 * adding;
    int value =
        at(row, column) + at(row, column + size) + at(row + size, column) + at(row + size, column + size);
    value += random_value(max_value);
    at(row + adding, column + adding) = static_cast<std::uint8_t>(value / 4);
  }

  void square_step(int row, int column, int adding, int max_value) {
    int value = 0, count = 0;
    if (row - adding >= 0) value += at(row - adding, column), ++count;
    if (row + adding < size_) value += at(row + adding, column), ++count;
    if (column - adding >= 0) value += at(row, column - adding), ++count;
    if (column + adding < size_) value += at(row, column + adding), ++count;
    value += random_value(max_value);
    at(row, column) = static_cast<std::uint8_t>(value / std::max(count, 1));
  }

  int last_, size_;
  std::vector<std::uint8_t> image_;
};

double milliseconds(Clock::time_point from) {
  return std::chrono::duration<double, std::milli>(Clock::now() - from).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

struct Contender {
  std::string name;
  contorno::DiamondSquare field;
  contorno::ImageView view;
  std::vector<std::byte> memory;
  std::vector<double> times;
};

Contender make_contender(std::string name, contorno::DiamondSquareParams params, contorno::ElementType type,
                         int threads, contorno::Simd simd) {
  const int side = (1 << params.exponent) + 1;
  const contorno::ImageFormat format{.width = side, .height = side, .channels = 1, .type = type};
  Contender contender{std::move(name), contorno::DiamondSquare(params, format, threads, simd), {}, {}, {}};
  contender.memory.resize(contorno::packed_bytes(format));
  contender.view = contorno::packed_view(contender.memory.data(), format);
  return contender;
}

#if CONTORNO_HAVE_CUDA
/// Device time of one field, by events around many.
double device_milliseconds(const contorno::DiamondSquareParams& params, contorno::ElementType type,
                           int rounds) {
  using namespace contorno;
  constexpr int kFields = 20;
  const int side = (1 << params.exponent) + 1;
  const ImageFormat format{.width = side, .height = side, .channels = 1, .type = type};
  const DiamondSquareOnDevice field(params, format);
  const Block memory(packed_bytes(format), MemoryKind::Device);
  const ImageView view = packed_view(memory.data(), format);
  const Stream stream = Stream::create();
  const Event start = Event::create(), end = Event::create();
  std::vector<double> times;
  for (int round = 0; round <= rounds; ++round) {
    start.record(stream.get());
    for (std::uint64_t i = 0; i < kFields; ++i) field.generate(i, view, stream.get());
    end.record(stream.get());
    stream.synchronize();
    if (round > 0) times.push_back(Event::elapsed_us(start, end) * 1e-3 / kFields);
  }
  return median(times);
}
#endif

}  // namespace

int main(int argc, char** argv) {
  using namespace contorno;
  fmt::print("{}\n", conditions_line());
  const int exponent = argc > 1 ? std::atoi(argv[1]) : 13, rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  const int threads = argc > 3 ? std::atoi(argv[3]) : 2;
  const DiamondSquareParams params{.seed = 1, .exponent = exponent};
  std::vector<Contender> contenders;
  contenders.push_back(
      make_contender("uint8, 1 thread, portable", params, ElementType::U8, 1, Simd::Portable));
  if (best_simd() != Simd::Portable)
    contenders.push_back(make_contender("uint8, 1 thread, avx2", params, ElementType::U8, 1, Simd::Avx2));
  contenders.push_back(make_contender("uint8, 1 thread", params, ElementType::U8, 1, best_simd()));
  contenders.push_back(make_contender(fmt::format("uint8, {} threads", threads), params, ElementType::U8,
                                      threads, best_simd()));
  contenders.push_back(make_contender(fmt::format("uint16, {} threads", threads), params, ElementType::U16,
                                      threads, best_simd()));
  contenders.push_back(make_contender(fmt::format("float32, {} threads", threads), params, ElementType::F32,
                                      threads, best_simd()));
  SerialDiamondSquare paper(exponent);
  std::vector<double> paper_times;
  for (int round = 0; round < rounds; ++round) {
    auto start = Clock::now();
    paper.execute();
    paper_times.push_back(milliseconds(start));
    for (Contender& contender : contenders) {
      start = Clock::now();
      contender.field.generate(static_cast<std::uint64_t>(round), contender.view);
      contender.times.push_back(milliseconds(start));
    }
  }
  const double reference = median(paper_times), cells = std::pow((1 << exponent) + 1, 2);
  fmt::print("{0} x {0} cells, medians of {1}, {2}\n", (1 << exponent) + 1, rounds, name_of(best_simd()));
  fmt::print("{:28} {:9.2f} ms\n", "Albertini's, 1 thread, rand()", reference);
  for (const Contender& contender : contenders)
    fmt::print("{:28} {:9.2f} ms {:6.2f} ns a cell {:7.1f} times as fast\n", contender.name,
               median(contender.times), median(contender.times) * 1e6 / cells,
               reference / median(contender.times));
#if CONTORNO_HAVE_CUDA
  if (!device_report().available) return 0;
  for (const ElementType type : {ElementType::U8, ElementType::U16, ElementType::F32}) {
    const double time = device_milliseconds(params, type, rounds);
    fmt::print("{:28} {:9.3f} ms {:6.4f} ns a cell {:7.1f} times as fast\n",
               fmt::format("{}, {}", name_of(type), device_report().devices[0].name), time,
               time * 1e6 / cells, reference / time);
  }
#endif
  return 0;
}
