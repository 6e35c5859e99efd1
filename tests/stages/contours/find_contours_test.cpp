#include "stages/contours/find_contours.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "base/error.h"
#include "stages/contours/cpu/assemble.h"
#include "stages/contours/cpu/mark_samples.h"
#include "stages/contours/cpu/search.h"
#include "stages/contours/stage.h"
#include "tests/stages/harness.h"

using namespace contorno;
using namespace contorno::test;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Field {
  int width = 0, height = 0;
  std::vector<double> values;
  ImageView view() {
    return {values.data(), {width, height, 1, ElementType::F64, Layout::Interleaved, {}}, 8 * width, 0};
  }
};

using Contour = std::vector<PointD>;
std::vector<Contour> contours_of(Field field, FindContoursOptions options) {
  const FoundContours found = find_contours(field.view(), options);
  std::vector<Contour> all;
  for (std::size_t i = 0; i < found.count(); ++i)
    all.emplace_back(found.contour(i).begin(), found.contour(i).end());
  return all;
}

template <class T>
double as_probability(T value) {
  return value_of(value, std::is_same_v<T, std::uint8_t> ? probability_scale(ElementType::U8)
                                                         : probability_scale(ElementType::U16));
}
template <>
double as_probability(float value) {
  return static_cast<double>(value);
}
template <>
double as_probability(Half value) {
  return static_cast<double>(half_to_float(value));
}

template <class T>
constexpr ElementType kTypeOf = std::is_same_v<T, std::uint8_t>    ? ElementType::U8
                                : std::is_same_v<T, std::uint16_t> ? ElementType::U16
                                : std::is_same_v<T, Half>          ? ElementType::F16
                                                                   : ElementType::F32;

template <class T>
T random_sample(Random& random) {
  if constexpr (std::is_same_v<T, float>)
    return random.below(30) == 0 ? NAN : static_cast<float>(random.unit());
  if constexpr (std::is_same_v<T, Half>)
    return Half{static_cast<std::uint16_t>(random.below(40) == 0 ? 0x7e00 : 0x3700 + random.below(0x300))};
  if constexpr (std::is_integral_v<T>) return static_cast<T>(random.bits());
}

/// Levels that samples of each type hit, just miss, or never reach.
std::vector<double> levels_for(int classes) {
  std::vector<double> levels = {0.5, 128.0 / 255, 0.3, std::nextafter(0.5, 1), 20000.0 / 65535,
                                1.5, -0.5,        0.75};
  std::vector<double> result;
  for (int k = 0; k < classes; ++k) result.push_back(levels[static_cast<std::size_t>(k) % levels.size()]);
  return result;
}

std::vector<ClassSpec> classes_at(const std::vector<double>& levels) {
  std::vector<ClassSpec> classes;
  for (const double level : levels)
    classes.push_back({.name = "c" + std::to_string(classes.size()), .level = level});
  return classes;
}

/// Runs both stages on a random map and compares with find_contours on the same values as float64.
template <class T>
void compare_stages(int width, int height, int channels, Layout layout, int threads,
                    std::uint64_t first_capacity, std::size_t row_extra) {
  CAPTURE(width);
  CAPTURE(height);
  CAPTURE(channels);
  CAPTURE(static_cast<int>(layout));
  CAPTURE(static_cast<int>(kTypeOf<T>));
  Random random(static_cast<std::uint64_t>(width * 1000 + height * 10 + channels));
  TestImage map({width, height, channels, kTypeOf<T>, layout, {}}, row_extra, row_extra);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int k = 0; k < channels; ++k) map.at<T>(x, y, k) = random_sample<T>(random);
  const std::vector<double> levels = levels_for(channels);
  StageHarness stage(contours_stage(), {}, classes_at(levels));
  stage.threads(threads).first_capacity(first_capacity).run({map.view});
  const auto& got = std::get<ContoursView>(stage.value());

  std::uint32_t contour = 0;
  for (int k = 0; k < channels; ++k) {
    REQUIRE(got.class_begin[k] == contour);
    if (width < 2 || height < 2) continue;
    Field field{width, height, {}};
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) field.values.push_back(as_probability(map.at<T>(x, y, k)));
    for (const Contour& expected :
         contours_of(field, {.level = levels[static_cast<std::size_t>(k)], .simd = Simd::Portable})) {
      REQUIRE(contour < got.counts->contours);
      const auto points = got.contour(contour++);
      REQUIRE(points.size() == expected.size());
      for (std::size_t i = 0; i < points.size(); ++i)
        REQUIRE(points[i] == Point{static_cast<float>(expected[i].row), static_cast<float>(expected[i].col)});
    }
  }
  CHECK(got.counts->contours == contour);
  CHECK(got.class_begin[channels] == contour);
  CHECK(got.offsets[contour] == got.counts->points);
}

template <class T>
void compare_all() {
  for (const Layout layout : {Layout::Planar, Layout::Interleaved})
    for (const int channels : {1, 2, 3, 8, 11, 70})
      for (const auto& [width, height] :
           {std::pair{1, 1}, {1, 9}, {9, 1}, {2, 2}, {63, 5}, {64, 7}, {65, 4}, {131, 67}})
        compare_stages<T>(width, height, channels, layout, 1 + channels % 3, 0, channels % 2 == 0 ? 16 : 0);
}

}  // namespace

TEST_CASE("the stages give the contours of find_contours for float32 maps of any layout") {
  compare_all<float>();
}
TEST_CASE("the stages give the contours of find_contours for float16 maps of any layout") {
  compare_all<Half>();
}
TEST_CASE("the stages give the contours of find_contours for uint8 maps of any layout") {
  compare_all<std::uint8_t>();
}
TEST_CASE("the stages give the contours of find_contours for uint16 maps of any layout") {
  compare_all<std::uint16_t>();
}

TEST_CASE("a frame with more points than planned says what it needs and is found whole") {
  for (const std::uint64_t capacity : {1, 100, 5000})
    compare_stages<float>(131, 67, 3, Layout::Planar, 2, capacity, 0);
}

TEST_CASE("all instruction sets give the same crossings, bit for bit") {
  for (const ElementType type :
       {ElementType::U8, ElementType::U16, ElementType::F16, ElementType::F32, ElementType::F64})
    for (const int channels : {1, 3, 8, 65}) {
      const ImageFormat format{77, 5, channels, type, Layout::Interleaved, {}};
      TestImage map(format);
      Random random(7);
      for (std::size_t i = 0; i < map.memory.size(); ++i)
        map.memory.data()[i] = static_cast<std::byte>(random.bits());
      std::vector<std::vector<std::byte>> blocks;
      for (const Simd simd : {Simd::Portable, Simd::Avx2, Simd::Avx512}) {
        if (simd > best_simd()) continue;
        blocks.emplace_back(crossings_bytes(format));
        SampleMarker(format, levels_for(channels), probability_scale(type), simd)
            .mark(map.view, blocks.back().data(), 1);
      }
      for (const auto& block : blocks) CHECK(block == blocks[0]);
    }
}

TEST_CASE("min_points leaves out short contours and keeps the others as they are") {
  Random random(5);
  const auto map = filled_image<float>({90, 80, 2, ElementType::F32, Layout::Planar, {}},
                                       [&](int, int, int) { return random.unit(); });
  const auto classes = classes_at({0.5, 0.8});
  StageHarness all(contours_stage(), {}, classes),
      some(contours_stage(), {{"min_points", std::int64_t{9}}}, classes);
  all.run({map.view});
  some.threads(3).run({map.view});
  const auto &a = std::get<ContoursView>(all.value()), &b = std::get<ContoursView>(some.value());
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < a.counts->contours; ++i) {
    if (a.contour(i).size() < 9) continue;
    REQUIRE(kept < b.counts->contours);
    CHECK(a.closed[i] == b.closed[kept]);
    CHECK(std::ranges::equal(a.contour(i), b.contour(kept++)));
  }
  CHECK(kept == b.counts->contours);
  CHECK(kept > 10);
  CHECK(kept < a.counts->contours);
}

TEST_CASE("bands and threads do not change the contours, dropped ones included") {
  Random random(11);
  Field field{70, 60, {}};
  for (int i = 0; i < field.width * field.height; ++i) field.values.push_back(random.below(3));
  for (const double level : {0.5, 1.0})
    for (const Orientation orientation : {Orientation::Low, Orientation::High}) {
      const FindContoursOptions whole{.level = level, .positive_orientation = orientation};
      const auto expected = contours_of(field, whole);
      for (const int band_rows : {1, 2, 7, 58}) {
        FindContoursOptions options = whole;
        options.band_rows = band_rows;
        options.threads = 3;
        CHECK(contours_of(field, options) == expected);
      }
    }
}

TEST_CASE("find_contours passes no cell with NaN or a masked sample, and joins ends that meet on a sample") {
  const Field corner{3, 3, {1, 0, 0, 0, 0, 0, 0, 0, 0}};
  CHECK(contours_of(corner, {.level = 0.5}) == std::vector<Contour>{{{0, 0.5}, {0.5, 0}}});
  Field holed = corner;
  holed.values[4] = kNaN;
  CHECK(contours_of(holed, {.level = 0.5}).empty());
  std::uint8_t use[9] = {1, 1, 1, 1, 0, 1, 1, 1, 1};
  const ImageView mask{use, {3, 3, 1, ElementType::U8, Layout::Interleaved, {}}, 3, 0};
  CHECK(contours_of(corner, {.level = 0.5, .mask = mask}).empty());
}

TEST_CASE("find_contours sees NaN at a level that no float reaches") {
  float samples[4] = {std::numeric_limits<float>::infinity(), 0, std::numeric_limits<float>::quiet_NaN(), 0};
  const ImageView image{samples, {2, 2, 1, ElementType::F32, Layout::Interleaved, {}}, 8, 0};
  CHECK(find_contours(image, {.level = 1e300}).count() == 0);
  samples[2] = 0;
  const FoundContours found = find_contours(image, {.level = 1e300});
  REQUIRE(found.count() == 1);
  CHECK(found.contour(0).size() == 2);
}

TEST_CASE("find_contours finds nothing at a level that is NaN or infinite") {
  const Field corner{3, 3, {1, 0, 0, 0, 0, 0, 0, 0, 0}};
  for (const double level : {kNaN, HUGE_VAL, -HUGE_VAL}) CHECK(contours_of(corner, {.level = level}).empty());
}

TEST_CASE("find_contours takes the middle of the range without wrapping around when the level is absent") {
  std::uint8_t samples[4] = {100, 240, 100, 240};
  const ImageView image{samples, {2, 2, 1, ElementType::U8, Layout::Interleaved, {}}, 2, 0};
  CHECK(find_contours(image).level == 170);
}

TEST_CASE("find_contours refuses images and masks that do not fit") {
  Field row{5, 1, {1, 2, 3, 4, 5}};
  CHECK_THROWS_WITH_AS(find_contours(row.view()),
                       "the image has 1 rows and 5 columns, allowed 2 to 65536 each", Error);
  Field square{2, 2, {1, 2, 3, 4}};
  std::uint8_t use[3] = {1, 1, 1};
  const ImageView mask{use, {3, 1, 1, ElementType::U8, Layout::Interleaved, {}}, 3, 0};
  CHECK_THROWS_AS(find_contours(square.view(), {.mask = mask}), Error);
}

TEST_CASE("contours refuses maps that do not have one channel a class") {
  const auto map =
      filled_image<float>({4, 4, 3, ElementType::F32, Layout::Planar, {}}, [](int, int, int) { return 0; });
  StageHarness stage(contours_stage(), {}, classes_at({0.5, 0.5}));
  CHECK_THROWS_WITH_AS(
      stage.run({map.view}),
      "the maps have 3 channels (4x4x3 float32 planar), but the graph declares 2 classes; declare "
      "one class a channel",
      Error);
}

TEST_CASE("a thread keeps the memory of its last search; searches at the same time have their own") {
  std::byte* kept = nullptr;
  {
    const KeptBlock first(5000);
    kept = first.data();
    std::memset(kept, 1, 5000);
  }
  const KeptBlock again(4000), other(4000);
  CHECK(again.data() == kept);
  CHECK(other.data() != kept);
}
