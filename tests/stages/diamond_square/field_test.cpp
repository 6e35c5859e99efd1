// Diamond-Square against the definition, worked out cell by cell in another way, and what follows from it:
// equal bits for any number of threads and any vectors, windows that fit together, textures that tile.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <tuple>

#include "base/error.h"
#include "stages/diamond_square/field.h"
#include "stages/shared/philox.h"
#include "tests/allocation_counter.h"
#include "tests/stages/compare_images.h"
#include "tests/stages/harness.h"

using namespace contorno;
using namespace contorno::test;

namespace {

std::uint32_t word_of(std::uint64_t seed, std::uint32_t row, std::uint32_t col, std::uint32_t level,
                      std::uint32_t channel = 0) {
  return philox({{row, col, level, channel}}, philox_key(seed)).word[0];
}

/// The loops of the paper on the whole field, in place, with the random numbers that the definition asks for.
std::vector<std::uint8_t> serial_field(int n, std::uint64_t seed) {
  const int last = 1 << n, side = last + 1;
  std::vector<std::uint8_t> field(static_cast<std::size_t>(side) * side);
  const auto cell = [&](int row, int col) -> std::uint8_t& {
    return field[static_cast<std::size_t>(row) * side + col];
  };
  for (const int row : {0, last})
    for (const int col : {0, last})
      cell(row, col) = static_cast<std::uint8_t>(word_of(seed, row, col, 0) >> 24);
  std::uint32_t level = 1;
  for (int size = last, m = 256; size > 1; size /= 2, m /= 2, ++level) {
    const int half = size / 2;
    const int low = m / 2 > 0 ? -(m / 2) : -1, high = m / 2 > 0 ? m / 2 : 1;
    const auto set = [&](int row, int col, std::vector<std::pair<int, int>> around) {
      const std::uint64_t u = word_of(seed, row, col, level);
      double sum = low + static_cast<double>(u * static_cast<std::uint64_t>(high - low) >> 32);
      int count = 0;
      for (const auto& [r, c] : around)
        if (r >= 0 && c >= 0 && r <= last && c <= last) sum += cell(r, c), ++count;
      cell(row, col) = static_cast<std::uint8_t>(std::clamp(std::floor(sum / count), 0.0, 255.0));
    };
    for (int i = 0; i < last; i += size)
      for (int j = 0; j < last; j += size)
        set(i + half, j + half, {{i, j}, {i, j + size}, {i + size, j}, {i + size, j + size}});
    for (int i = 0; i <= last; i += half)
      for (int j = i % size == 0 ? half : 0; j <= last; j += size)
        set(i, j, {{i - half, j}, {i + half, j}, {i, j - half}, {i, j + half}});
  }
  return field;
}

/// Any domain, by recursion from the cell that is asked for to the corners; knows nothing of grids.
class Definition {
 public:
  explicit Definition(const DiamondSquarePlan& plan, std::uint64_t seed, std::uint32_t channel)
      : plan_(plan), seed_(seed), channel_(channel), size_(std::int64_t{1} << plan.params.exponent) {}

  double at(std::int64_t row, std::int64_t col) {
    if (plan_.params.domain == DiamondSquareDomain::Cyclic) row = wrapped(row), col = wrapped(col);
    const auto [found, fresh] = known_.try_emplace({row, col}, 0.0);
    if (!fresh) return found->second;
    const double height = work_out(row, col);
    return known_[{row, col}] = height;
  }

 private:
  std::int64_t wrapped(std::int64_t v) const { return ((v % size_) + size_) % size_; }
  bool inside(std::int64_t v) const {
    return plan_.params.domain != DiamondSquareDomain::Finite || (v >= 0 && v <= size_);
  }
  double work_out(std::int64_t row, std::int64_t col) {
    std::int64_t half = 1;  // the largest step on whose grid both coordinates lie
    while (half < size_ && row % (2 * half) == 0 && col % (2 * half) == 0) half *= 2;
    const auto r = static_cast<std::uint32_t>(row), c = static_cast<std::uint32_t>(col);
    const ElementType type = plan_.format.type;
    if (half == size_) {
      const std::uint32_t word = word_of(seed_, r, c, 0, channel_);
      const std::vector<double>& given = plan_.params.corners;
      if (type == ElementType::F32)
        return given.empty() ? static_cast<float>(word >> 8) / 16777216.0F
                             : static_cast<float>(corner_of(row, col));
      const int bits = type == ElementType::U8 ? 8 : 16;
      return given.empty() ? word >> (32 - bits) : std::floor(corner_of(row, col) * ((1 << bits) - 1) + 0.5);
    }
    const bool diamond = row % (2 * half) != 0 && col % (2 * half) != 0;
    std::vector<double> around;
    const std::vector<std::pair<int, int>> offsets =
        diamond ? std::vector<std::pair<int, int>>{{-1, -1}, {-1, 1}, {1, -1}, {1, 1}}
                : std::vector<std::pair<int, int>>{{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
    int count = 0;
    for (const auto& [dr, dc] : offsets) {
      const std::int64_t nr = row + dr * half, nc = col + dc * half;
      const bool there = inside(nr) && inside(nc);
      around.push_back(there ? at(nr, nc) : 0.0);
      count += there ? 1 : 0;
    }
    int level = plan_.params.exponent;
    for (std::int64_t step = half; step > 1; step /= 2) --level;
    const std::uint32_t word = word_of(seed_, r, c, static_cast<std::uint32_t>(level), channel_);
    return type == ElementType::F32 ? float_height(around, count, word, level)
                                    : integer_height(around, count, word, level);
  }
  double corner_of(std::int64_t row, std::int64_t col) const {
    return plan_.params.corners[(row != 0 ? 2U : 0U) + (col != 0 ? 1U : 0U)];
  }
  double shrunk(int level) const { return std::pow(2.0, -plan_.params.roughness * (level - 1)); }
  double integer_height(const std::vector<double>& around, int count, std::uint32_t word, int level) const {
    const int bits = plan_.format.type == ElementType::U8 ? 8 : 16;
    const bool unbiased = plan_.params.range == DiamondSquareRange::Unbiased;
    std::int64_t most = static_cast<std::int64_t>(
        std::floor((1 << bits) / 2 * plan_.params.amplitude * shrunk(level) + 1e-9));
    if (most == 0) most = 1;
    const std::uint64_t values = static_cast<std::uint64_t>(2 * most + (unbiased ? 1 : 0));
    const std::int64_t noise =
        plan_.params.amplitude == 0 ? 0 : static_cast<std::int64_t>(word * values >> 32) - most;
    double sum = static_cast<double>(noise);
    for (const double v : around) sum += v;
    if (unbiased) sum += count / 2;
    return std::clamp(std::floor(sum / count), 0.0, (1 << bits) - 1.0);
  }
  double float_height(const std::vector<double>& around, int count, std::uint32_t word, int level) const {
    const auto spread = static_cast<float>(plan_.params.amplitude * shrunk(level));
    const float noise = static_cast<float>(word >> 8) * 0x1p-24F * spread + -spread / 2;
    const auto f = [&](std::size_t i) { return static_cast<float>(around[i]); };
    const float sum = ((f(0) + f(1)) + (f(2) + f(3))) + noise;
    return std::clamp(sum / static_cast<float>(count), 0.0F, 1.0F);
  }

  const DiamondSquarePlan& plan_;
  std::uint64_t seed_;
  std::uint32_t channel_;
  std::int64_t size_;
  std::map<std::pair<std::int64_t, std::int64_t>, double> known_;
};

double sample(const TestImage& image, int x, int y, int channel) {
  switch (image.view.format.type) {
    case ElementType::U8:
      return image.at<std::uint8_t>(x, y, channel);
    case ElementType::U16:
      return image.at<std::uint16_t>(x, y, channel);
    default:
      return static_cast<double>(image.at<float>(x, y, channel));
  }
}

/// Samples that differ from the definition.
int differences(const DiamondSquareParams& params, const ImageFormat& format, Simd simd, int threads,
                std::size_t row_extra = 0) {
  const TestImage image(format, row_extra, row_extra);
  const DiamondSquare field(params, format, threads, simd);
  field.generate(params.seed, image.view);
  CHECK(image.memory.intact());
  int wrong = 0;
  for (int c = 0; c < format.channels; ++c) {
    Definition definition(field.plan(), params.seed, static_cast<std::uint32_t>(c));
    for (int y = 0; y < format.height; ++y)
      for (int x = 0; x < format.width; ++x)
        if (sample(image, x, y, c) != definition.at(params.row + y, params.col + x)) ++wrong;
  }
  return wrong;
}

ImageFormat grey(int width, int height, ElementType type = ElementType::U8) {
  return {.width = width, .height = height, .channels = 1, .type = type};
}

std::vector<Simd> simds() {
  std::vector<Simd> list{Simd::Portable};
  if (best_simd() != Simd::Portable) list.push_back(Simd::Avx2);
  if (best_simd() == Simd::Avx512) list.push_back(Simd::Avx512);
  return list;
}

}  // namespace

TEST_CASE("Philox gives the known answers, and its row form the same words") {
  const PhiloxWords zeros = philox({}, {});
  CHECK(zeros.word[0] == 0x6627e8d5U);
  CHECK(zeros.word[1] == 0xe169c58dU);
  CHECK(zeros.word[2] == 0xbc57ac4cU);
  CHECK(zeros.word[3] == 0x9b00dbd8U);
  const PhiloxWords ones = philox({{~0U, ~0U, ~0U, ~0U}}, {~0U, ~0U});
  CHECK(ones.word[0] == 0x408f276dU);
  CHECK(ones.word[1] == 0x41c83b0eU);
  CHECK(ones.word[2] == 0xa20bc7c6U);
  CHECK(ones.word[3] == 0x6d5451fdU);
  const PhiloxWords pi =
      philox({{0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U}}, {0xa4093822U, 0x299f31d0U});
  CHECK(pi.word[0] == 0xd16cfe09U);
  CHECK(pi.word[1] == 0x94fdccebU);
  CHECK(pi.word[2] == 0x5001e420U);
  CHECK(pi.word[3] == 0x24126ea1U);
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    const std::uint32_t a = random.bits(), b = random.bits(), c = random.bits(), d = random.bits();
    const PhiloxKey key{random.bits(), random.bits()};
    REQUIRE(PhiloxRow(key, a, c, d)(b) == philox({{a, b, c, d}}, key).word[0]);
  }
}

TEST_CASE("diamond square is the serial algorithm bit for bit, for any number of threads and any vectors") {
  for (const int n : {1, 2, 3, 5, 6, 7, 8, 10})
    for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{0x123456789abcdef0}}) {
      const int side = (1 << n) + 1;
      const std::vector<std::uint8_t> expected = serial_field(n, seed);
      for (const Simd simd : simds())
        for (const int threads : {1, 2, 3}) {
          INFO("exponent ", n, ", ", name_of(simd), ", threads ", threads);
          const TestImage image(grey(side, side), threads == 2 ? 13 : 0);
          DiamondSquare(DiamondSquareParams{.seed = seed}, image.view.format, threads, simd)
              .generate(seed, image.view);
          int wrong = 0;
          for (int y = 0; y < side; ++y)
            wrong +=
                std::memcmp(image.view.row<std::uint8_t>(y), &expected[static_cast<std::size_t>(y) * side],
                            static_cast<std::size_t>(side)) != 0
                    ? 1
                    : 0;
          CHECK(wrong == 0);
          CHECK(image.memory.intact());
        }
    }
}

TEST_CASE("diamond square follows its definition for every type, domain, range and roughness") {
  const DiamondSquareParams some{.seed = 77, .exponent = 7};
  for (const ElementType type : {ElementType::U8, ElementType::U16, ElementType::F32})
    for (const DiamondSquareDomain domain :
         {DiamondSquareDomain::Finite, DiamondSquareDomain::Cyclic, DiamondSquareDomain::Endless})
      for (const DiamondSquareRange range : {DiamondSquareRange::Paper, DiamondSquareRange::Unbiased})
        for (const Simd simd : simds()) {
          INFO(name_of(type), " domain ", static_cast<int>(domain), " range ", static_cast<int>(range), " ",
               name_of(simd));
          DiamondSquareParams params = some;
          params.domain = domain, params.range = range;
          CHECK(differences(params, grey(129, 101, type), simd, 2, 4) == 0);
          params.roughness = 0.5, params.amplitude = 4;
          CHECK(differences(params, grey(67, 33, type), simd, 1) == 0);
        }
}

TEST_CASE("windows of any size and place are parts of the same field") {
  for (const ElementType type : {ElementType::U8, ElementType::F32})
    for (const auto& [row, col, width, height] :
         {std::tuple(0, 0, 1, 1), std::tuple(512, 512, 1, 1), std::tuple(511, 0, 3, 2),
          std::tuple(64, 127, 2, 130), std::tuple(31, 255, 257, 5), std::tuple(1, 1, 511, 63)}) {
      INFO(name_of(type), " at ", row, ", ", col, " of ", width, "x", height);
      CHECK(differences({.seed = 5, .exponent = 9, .row = row, .col = col}, grey(width, height, type),
                        best_simd(), 2) == 0);
    }
  for (const auto& [row, col] :
       {std::pair(-1, -1), std::pair(-65, 63), std::pair(1000000, -2000000), std::pair(-64, 128)})
    for (const DiamondSquareDomain domain : {DiamondSquareDomain::Endless, DiamondSquareDomain::Cyclic}) {
      INFO("domain ", static_cast<int>(domain), " at ", row, ", ", col);
      CHECK(differences({.seed = 9, .exponent = 6, .domain = domain, .row = row, .col = col}, grey(70, 66),
                        best_simd(), 3) == 0);
    }
}

TEST_CASE("a window wider than a tile has no seams") {
  const TestImage whole(grey(2300, 140));
  diamond_square({.seed = 4, .exponent = 12, .row = 1000, .col = 700}, whole.view, 2);
  int wrong = 0;
  for (const int left : {0, 323, 324, 325, 1347, 1348, 1349, 2200}) {
    const TestImage part(grey(100, 70));
    diamond_square({.seed = 4, .exponent = 12, .row = 1040, .col = 700 + left}, part.view);
    for (int y = 0; y < 70; ++y)
      for (int x = 0; x < 100; ++x)
        if (part.at<std::uint8_t>(x, y) != whole.at<std::uint8_t>(left + x, 40 + y)) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a cyclic field tiles: what follows its last row and column is its first") {
  const TestImage twice(grey(128, 128, ElementType::U16));
  diamond_square({.seed = 21, .exponent = 6, .domain = DiamondSquareDomain::Cyclic}, twice.view);
  int wrong = 0, largest_step = 0;
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 64; ++x) {
      const int height = twice.at<std::uint16_t>(x, y);
      if (height != twice.at<std::uint16_t>(x + 64, y) || height != twice.at<std::uint16_t>(x, y + 64))
        ++wrong;
      largest_step = std::max(largest_step, std::abs(height - twice.at<std::uint16_t>(x + 1, y)));
    }
  CHECK(wrong == 0);
  int seam = 0;
  for (int y = 0; y < 64; ++y)
    seam = std::max(seam, std::abs(twice.at<std::uint16_t>(63, y) - twice.at<std::uint16_t>(64, y)));
  CHECK(seam <= largest_step);
}

TEST_CASE("given corners are kept, channels are fields of their own in either layout") {
  const std::vector<double> corners{0, 1, 0.25, 0.75};
  for (const ElementType type : {ElementType::U8, ElementType::U16, ElementType::F32}) {
    CHECK(differences({.seed = 2, .exponent = 5, .corners = corners}, grey(33, 33, type), best_simd(), 1) ==
          0);
    CHECK(differences({.seed = 2, .exponent = 5, .domain = DiamondSquareDomain::Cyclic, .corners = {0.5}},
                      grey(40, 33, type), best_simd(), 1) == 0);
    for (const Layout layout : {Layout::Planar, Layout::Interleaved})
      CHECK(differences({.seed = 8, .exponent = 8},
                        {.width = 201, .height = 67, .channels = 3, .type = type, .layout = layout},
                        best_simd(), 3, 8) == 0);
  }
}

TEST_CASE("without the paper's bias heights do not drift") {
  double mean[2] = {0, 0};
  for (const DiamondSquareRange range : {DiamondSquareRange::Paper, DiamondSquareRange::Unbiased}) {
    const TestImage image(grey(1025, 1025));
    diamond_square({.seed = 1, .range = range, .corners = {0.5, 0.5, 0.5, 0.5}}, image.view, 2);
    double sum = 0;
    for (int y = 0; y < 1025; ++y)
      for (int x = 0; x < 1025; ++x) sum += image.at<std::uint8_t>(x, y);
    mean[range == DiamondSquareRange::Paper ? 0 : 1] = sum / (1025.0 * 1025.0);
  }
  CHECK(mean[0] < mean[1] - 2);
}

TEST_CASE("diamond square allocates nothing once it is made") {
  const TestImage image(grey(1500, 300));
  const DiamondSquare field({.seed = 1}, image.view.format, 2);
  field.generate(1, image.view);
  const std::uint64_t before = allocations();
  field.generate(2, image.view);
  CHECK(allocations() == before);
}

TEST_CASE("diamond square refuses what it cannot make and says what is allowed") {
  const auto refused = [](const DiamondSquareParams& params, const ImageFormat& format) -> std::string {
    try {
      plan_diamond_square(params, format);
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::BadConfig);
      return error.what();
    }
    return "";
  };
  CHECK(refused({}, grey(3, 3, ElementType::F16)).find("uint8, uint16 and float32") != std::string::npos);
  CHECK(refused({.exponent = 17}, grey(3, 3)).find("1 to 16") != std::string::npos);
  CHECK(refused({.exponent = 3}, grey(10, 9)).find("0 to 8") != std::string::npos);
  CHECK(refused({.exponent = 3, .row = -1}, grey(2, 2)).find("endless") != std::string::npos);
  CHECK(refused({.corners = {0.5}}, grey(3, 3)).find("allowed are 4") != std::string::npos);
  CHECK(refused({.domain = DiamondSquareDomain::Endless, .corners = {0.5}}, grey(3, 3)).find("no corners") !=
        std::string::npos);
  CHECK(refused({}, grey(3, 3)).empty());
}

TEST_CASE("the Diamond-Square stage makes the same field on every backend") {
  for (const char* type : {"uint8", "uint16", "float32"})
    for (const auto& [width, height] :
         {std::pair(1.0, 1.0), std::pair(33.0, 17.0), std::pair(1000.0, 300.0)}) {
      StageHarness harness(diamond_square_stage(), {{"number_type", std::string(type)},
                                                    {"size", std::vector<double>{width, height}},
                                                    {"seed", std::int64_t{12}}});
      harness.threads(2).run({});
      const TestImage expected(harness.image().format);
      diamond_square({.seed = 12}, expected.view);
      CHECK(same_image(harness.image(), expected.view));
    }
  StageHarness colours(diamond_square_stage(),
                       {{"fields", std::int64_t{3}}, {"size", std::vector<double>{200, 100}}});
  colours.output_row_extra(7).run({});
  CHECK(colours.image().format.layout == Layout::Interleaved);
}
