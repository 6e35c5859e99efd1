// A. Albertini's tables 1 to 3 and graphs 1 to 5: Diamond-Square.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>

#include "base/memory.h"
#include "pipeline/graph/applied.h"
#include "stages/diamond_square/field.h"
#include "stages/diamond_square/rules.h"
#include "tools/bench/sources/albertini.h"
#include "tools/bench/sources/records.h"

namespace contorno::sources {
namespace {

/// rand() of Microsoft's library, with which the thesis was compiled: each thread has a state of its own.
thread_local std::uint32_t rand_state = 1;

int own_rand() {
  rand_state = rand_state * 214013U + 2531011U;
  return static_cast<int>(rand_state >> 16 & 0x7FFFU);
}

class Heights {
 public:
  Heights(int exponent, const NoiseOf& noise)
      : last_(1 << exponent),
        size_(last_ + 1),
        noise_(noise),
        image_(static_cast<std::size_t>(size_) * static_cast<std::size_t>(size_)) {}

  std::vector<std::uint8_t> execute(int threads) {
    for (const int row : {0, last_})
      for (const int col : {0, last_})
        at(row, col) = static_cast<std::uint8_t>(noise_ ? noise_(row, col, 0) : own_rand() % 256);
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
      rand_state = static_cast<std::uint32_t>(omp_get_thread_num() + 1) * 1583020800U;
      int level = 1;
      for (int size = last_, max = 256; size > 1; size /= 2, max /= 2, ++level) {
        const int half = size / 2;
#pragma omp for
        for (int row = 0; row < last_; row += size)
          for (int col = 0; col < last_; col += size) diamond_step(row, col, half, max, level);
#pragma omp for
        for (int row = 0; row < size_; row += half) {
          const bool on_grid = row % size == 0;
          for (int col = on_grid ? half : 0; col < (on_grid ? last_ : size_); col += size)
            square_step(row, col, half, max, level);
        }
      }
    }
    return std::move(image_);
  }

 private:
  std::uint8_t& at(int row, int col) {
    return image_[static_cast<std::size_t>(row) * static_cast<std::size_t>(size_) +
                  static_cast<std::size_t>(col)];
  }
  int noise(int row, int col, int max, int level) const {
    if (noise_) return noise_(row, col, level);
    const int least = max / 2 > 0 ? -max / 2 : -1, most = max / 2 > 0 ? max / 2 : 1;
    return least + own_rand() % (most - least);
  }
  std::uint8_t mean(int sum, int count) const {
    if (noise_) sum = std::clamp(sum, 0, 256 * count - 1);
    return static_cast<std::uint8_t>(sum / std::max(count, 1));
  }
  void diamond_step(int row, int col, int half, int max, int level) {
    const int sum =
        at(row, col) + at(row, col + 2 * half) + at(row + 2 * half, col) + at(row + 2 * half, col + 2 * half);
    at(row + half, col + half) = mean(sum + noise(row + half, col + half, max, level), 4);
  }
  void square_step(int row, int col, int half, int max, int level) {
    int sum = 0, count = 0;
    if (row - half >= 0) sum += at(row - half, col), ++count;
    if (row + half < size_) sum += at(row + half, col), ++count;
    if (col - half >= 0) sum += at(row, col - half), ++count;
    if (col + half < size_) sum += at(row, col + half), ++count;
    at(row, col) = mean(sum + noise(row, col, max, level), count);
  }

  int last_, size_;
  const NoiseOf& noise_;
  std::vector<std::uint8_t> image_;
};

}  // namespace

std::vector<std::uint8_t> heights_on_host(int exponent, int threads, const NoiseOf& noise) {
  return Heights(exponent, noise).execute(threads);
}

namespace {

ImageFormat square(int exponent) {
  return {.width = (1 << exponent) + 1, .height = (1 << exponent) + 1, .channels = 1};
}

/// contorno's field, and its random numbers for the authors' variants.
struct ContornoHeights {
  explicit ContornoHeights(int exponent)
      : params{.seed = 7, .exponent = exponent},
        plan(plan_diamond_square(params, square(exponent))),
        memory(packed_bytes(square(exponent)), MemoryKind::Host) {
    generate(1);
  }
  void generate(int threads) const {
    diamond_square(params, packed_view(memory.data(), square(params.exponent)), threads);
  }
  NoiseOf noise() const {
    return [this](int row, int col, int level) -> int {
      const std::uint32_t word = philox({{static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(col),
                                          static_cast<std::uint32_t>(level), 0}},
                                        philox_key(params.seed))
                                     .word[0];
      if (level == 0) return corner_height<std::uint8_t>(word);
      return noise_of<std::uint8_t>(word, plan.levels[static_cast<std::size_t>(level - 1)]);
    };
  }
  bool is(const std::vector<std::uint8_t>& heights) const {
    const ImageView view = packed_view(memory.data(), square(params.exponent));
    const auto side = static_cast<std::size_t>(view.format.width);
    for (std::size_t row = 0; row < side; ++row)
      if (!std::equal(heights.begin() + static_cast<std::ptrdiff_t>(row * side),
                      heights.begin() + static_cast<std::ptrdiff_t>((row + 1) * side),
                      view.row<std::uint8_t>(static_cast<int>(row))))
        return false;
    return true;
  }

  DiamondSquareParams params;
  DiamondSquarePlan plan;
  Block memory;
};

std::string side_text(int exponent) {
  return fmt::format("{0}x{0}", (1 << exponent) + 1);
}

void measure_threads(Records& records, int exponent, const Options& options) {
  for (int threads = 1; threads <= (options.small ? 2 : 10); ++threads)
    records.time(side_text(exponent), fmt::format("OpenMP, p = {}", threads),
                 seconds_of(options.runs, [&] { heights_on_host(exponent, threads); }));
}

void measure_size(Records& records, int exponent, const Options& options, [[maybe_unused]] bool device) {
  const std::string size = side_text(exponent);
  const ContornoHeights field(exponent);
  const int all = omp_get_num_procs();
  const std::string agreed = "contorno's field, with its random numbers and limits";
  records.check(size, "serial", field.is(heights_on_host(exponent, 1, field.noise())), agreed);
  records.check(size, "OpenMP", field.is(heights_on_host(exponent, 3, field.noise())), agreed);
  records.time(size, "serial", seconds_of(options.runs, [&] { heights_on_host(exponent, 1); }));
  records.time(size, "OpenMP", seconds_of(options.runs, [&] { heights_on_host(exponent, all); }),
               {{"threads", all}});
  records.time(size, "contorno, 1 thread", seconds_of(options.runs, [&] { field.generate(1); }));
  records.time(size, "contorno, all threads", seconds_of(options.runs, [&] { field.generate(all); }),
               {{"threads", all}});
#if CONTORNO_HAVE_CUDA
  if (!device) return;
  const std::pair<HeightsVersion, const char*> versions[] = {
      {HeightsVersion::Conditions, "CUDA, first version"},
      {HeightsVersion::Products, "CUDA, second version"},
      {HeightsVersion::OneGenerator, "CUDA, third version"}};
  for (const auto& [version, name] : versions) {
    records.check(size, name, field.is(heights_on_device(exponent, version, field.noise())), agreed);
    records.time(size, name,
                 seconds_of(options.runs, [&, version = version] { heights_on_device(exponent, version); }));
  }
  ParamSet params(diamond_square_stage().params);
  const double side = (1 << exponent) + 1;
  params.set("size", std::vector<double>{side, side});
  params.set("seed", std::int64_t{7});
  AppliedStage stage(diamond_square_stage(), params, Backend::Cuda, 0);
  stage.plan({});
  stage.run();
  const auto& made = std::get<ImageView>(stage.output(0));
  std::vector<std::uint8_t> heights;
  for (int row = 0; row < made.format.height; ++row)
    heights.insert(heights.end(), made.row<std::uint8_t>(row),
                   made.row<std::uint8_t>(row) + made.format.width);
  records.check(size, "contorno, CUDA", field.is(heights), "the field of the CPU");
  records.time(size, "contorno, CUDA", seconds_of(options.runs, [&] { stage.run(); }));
#endif
}

}  // namespace

void measure_heights(Records& records, const Options& options, bool device) {
  if (options.small) {
    measure_threads(records, 4, options);
    return measure_size(records, 5, options, device);
  }
  measure_threads(records, 8, options);
  measure_threads(records, 13, options);
  for (int exponent = 9; exponent <= 13; ++exponent) measure_size(records, exponent, options, device);
}

}  // namespace contorno::sources
