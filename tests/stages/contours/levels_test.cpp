// Several levels of a map: each has the contours that it has alone. On the CPU by groups of any size, and as
// stages on both backends.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "stages/contours/cpu/level_search.h"
#include "stages/contours/cpu/search.h"
#include "stages/contours/stage.h"
#include "tests/stages/harness.h"

using namespace contorno;
using namespace contorno::test;

namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

/// A plane's contours, as they lie in memory.
struct Found {
  std::vector<PointD> points;
  std::vector<std::uint32_t> offsets;
  std::vector<std::uint8_t> closed;
};

/// Bits, so that NaN are equal to themselves.
Comparison same(const Found& a, const Found& b) {
  Comparison found = compare_values("offsets", a.offsets.size(), b.offsets.size());
  if (found) found = compare_values("contours", a.closed.size(), b.closed.size());
  if (found) found = compare_values("points", a.points.size(), b.points.size());
  if (found) found = compare_lists("offsets", a.offsets.data(), b.offsets.data(), a.offsets.size());
  if (found) found = compare_lists("closed", a.closed.data(), b.closed.data(), a.closed.size());
  return found ? compare_lists("points (row, column)", a.points.data(), b.points.data(), a.points.size(),
                               [](std::ostream& text, const PointD& point) {
                                 text << "(" << point.row << ", " << point.col << ")";
                               })
               : found;
}

Found part(const Found& all, std::uint32_t begin, std::uint32_t end) {
  Found one;
  one.points.assign(all.points.begin() + all.offsets[begin], all.points.begin() + all.offsets[end]);
  for (std::uint32_t i = begin; i <= end; ++i) one.offsets.push_back(all.offsets[i] - all.offsets[begin]);
  one.closed.assign(all.closed.begin() + begin, all.closed.begin() + end);
  return one;
}

EmitTarget target_of(Found& found, Orientation orientation) {
  return {.exact_points = found.points.data(),
          .offsets = found.offsets.data(),
          .closed = found.closed.data(),
          .orientation = orientation};
}

struct Options {
  AssemblyOptions assembly;
  ImageView mask;
  Simd simd = best_simd();
  int group_planes = 0;
};

/// The contours of all planes by one search that reads the map once.
std::vector<Found> search_levels(const ImageView& map, const std::vector<LevelPlane>& planes,
                                 const Options& options) {
  const LevelSearch search(map.format, planes, options.assembly, options.simd, options.group_planes);
  constexpr std::uint64_t kContours = 1 << 16, kPoints = 1 << 19;
  const Guarded memory(search.memory_bytes()), scratch(search.scratch_bytes(kContours, kPoints));
  search.read(map, options.mask, memory.data());
  std::vector<Found> all;
  for (int group = 0; group < search.groups(); ++group) {
    search.mark(group, map, memory.data());
    const AssemblyCounts counts = search.link(group, memory.data(), scratch.data(), kContours, kPoints);
    REQUIRE(!counts.lost);
    Found found{std::vector<PointD>(counts.points), std::vector<std::uint32_t>(counts.contours + 1),
                std::vector<std::uint8_t>(counts.contours)};
    std::vector<std::uint32_t> begin(static_cast<std::size_t>(search.group_planes(group)) + 1);
    search.emit(group, memory.data(), scratch.data(), kContours, kPoints, {},
                target_of(found, options.assembly.positive_orientation), begin.data());
    for (std::size_t k = 0; k + 1 < begin.size(); ++k) all.push_back(part(found, begin[k], begin[k + 1]));
  }
  CHECK(memory.intact());
  CHECK(scratch.intact());
  return all;
}

/// Those of one plane by a search for it alone, which reads every sample.
Found search_one(const ImageView& map, const LevelPlane& plane, const Options& options) {
  std::vector<double> levels(static_cast<std::size_t>(map.format.channels), kNoNumber);
  levels[static_cast<std::size_t>(plane.channel)] = plane.level;
  AssemblyOptions alone = options.assembly;
  alone.threads = 1, alone.band_rows = 0;
  const ContourSearch search(map, levels, {.assembly = alone, .mask = options.mask, .simd = Simd::Portable});
  Found found{std::vector<PointD>(search.points()), std::vector<std::uint32_t>(search.contours() + 1),
              std::vector<std::uint8_t>(search.contours())};
  std::vector<std::uint32_t> begin(levels.size() + 1);
  search.emit(target_of(found, options.assembly.positive_orientation), begin.data());
  return found;
}

enum class Kind : std::uint8_t { Noise, Ties, Waves, Steps, Ramp };

double value_of_kind(Kind kind, int x, int y, Random& random) {
  switch (kind) {
    case Kind::Noise:
      return random.unit();
    case Kind::Ties:
      return static_cast<double>(random.below(5)) / 4;
    case Kind::Waves:
      return 0.5 + 0.5 * std::sin(x * 0.031) * std::cos(y * 0.047);
    case Kind::Steps:  // plateaus that end at words and rows
      return static_cast<double>((x / 64 + y / 8) % 5) / 4;
    case Kind::Ramp:
      return (x + 0.01 * y) / 400;
  }
  return 0;
}

TestImage map_of(Kind kind, int width, int height, int channels, ElementType type, Layout layout,
                 Random& random) {
  TestImage map({width, height, channels, type, layout, {}}, 8 * random.below(3));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int k = 0; k < channels; ++k) {
        double value = value_of_kind(kind, x, y, random);
        if (random.below(80) == 0) value = random.below(3) == 0 ? HUGE_VAL : kNoNumber;
        const double whole = std::isfinite(value) ? value : 0;
        if (type == ElementType::U8) map.at<std::uint8_t>(x, y, k) = static_cast<std::uint8_t>(whole * 255);
        if (type == ElementType::U16)
          map.at<std::uint16_t>(x, y, k) = static_cast<std::uint16_t>(whole * 65535);
        if (type == ElementType::F16)
          map.at<Half>(x, y, k) =
              Half{static_cast<std::uint16_t>(std::isfinite(value) ? 0x3000 + value * 0xc00 : 0x7e00)};
        if (type == ElementType::F32) map.at<float>(x, y, k) = static_cast<float>(value);
        if (type == ElementType::F64) map.at<double>(x, y, k) = value;
      }
  return map;
}

constexpr std::array kKinds{Kind::Noise, Kind::Ties, Kind::Waves, Kind::Steps, Kind::Ramp};
constexpr std::array kTypes{ElementType::U8, ElementType::U16, ElementType::F16, ElementType::F32,
                            ElementType::F64};

std::vector<ClassSpec> classes_with(const std::vector<std::vector<double>>& levels) {
  std::vector<ClassSpec> classes;
  for (const std::vector<double>& one : levels) {
    ClassSpec spec{.name = "class " + std::to_string(classes.size()), .level = one.front()};
    if (one.size() > 1) spec.levels = one;
    classes.push_back(std::move(spec));
  }
  return classes;
}

}  // namespace

TEST_CASE("each of several levels has the contours that it has alone, bit for bit") {
  Random random(17);
  for (int round = 0; round < 120; ++round) {
    const Kind kind = kKinds[static_cast<std::size_t>(round) % kKinds.size()];
    const ElementType type = kTypes[static_cast<std::size_t>(round / 5) % kTypes.size()];
    const int width = 2 + static_cast<int>(random.below(round % 4 == 0 ? 700 : 140)),
              height = 2 + static_cast<int>(random.below(90)), channels = 1 + round % 3;
    const TestImage map = map_of(kind, width, height, channels, type,
                                 round % 2 == 0 ? Layout::Planar : Layout::Interleaved, random);
    std::vector<LevelPlane> planes;
    for (int k = 0; k < channels; ++k)
      for (const double level :
           {0.75, 0.5, 0.0, 0.25, 0.3 + 0.1 * k, 1.0, kNoNumber, HUGE_VAL, -HUGE_VAL, 0.25, 7.0})
        planes.push_back({k, level});
    TestImage mask({width, height, 1, ElementType::U8, Layout::Interleaved, {}}, 3);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) mask.at<std::uint8_t>(x, y) = random.below(20) != 0;
    Options options{.assembly = {.fully_connected = round % 2 == 1 ? Connectivity::High : Connectivity::Low,
                                 .positive_orientation = round % 7 < 3 ? Orientation::High : Orientation::Low,
                                 .min_points = round % 4 == 3 ? 6U : 0U,
                                 .scale = probability_scale(type),
                                 .threads = 1 + round % 3,
                                 .band_rows = round % 5 == 0 ? 7 : 0},
                    .mask = {},
                    .simd = round % 3 == 0 ? Simd::Portable : best_simd(),
                    .group_planes = round % 4 == 1   ? 3
                                    : round % 4 == 2 ? 1
                                                     : 0};
    if (round % 3 == 1) options.mask = mask.view;
    CAPTURE(round);
    const std::vector<Found> found = search_levels(map.view, planes, options);
    REQUIRE(found.size() == planes.size());
    for (std::size_t i = 0; i < planes.size(); ++i) {
      CAPTURE(planes[i].level);
      CHECK(same(found[i], search_one(map.view, planes[i], options)));
    }
  }
}

TEST_CASE("a thousand levels of a ramp and of a wave have the contours that they have alone") {
  Random random(3);
  for (const Kind kind : {Kind::Ramp, Kind::Waves}) {
    const TestImage map = map_of(kind, 400, 60, 1, ElementType::F32, Layout::Planar, random);
    std::vector<LevelPlane> planes;
    // On the ramp 160 of them a word: more than there is room to keep the bits of.
    for (int i = 0; i < 1000; ++i) planes.push_back({0, i / 1000.0});
    const Options options{.assembly = {.threads = 3}, .mask = {}, .group_planes = 300};
    const std::vector<Found> found = search_levels(map.view, planes, options);
    for (std::size_t i = 0; i < planes.size(); i += 7)
      CHECK(same(found[i], search_one(map.view, planes[i], options)));
  }
}

TEST_CASE("maps of one row, one column or one value have no contours at any level") {
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 9}, {9, 1}, {8, 8}}) {
    const TestImage map = filled_image<float>({width, height, 1, ElementType::F32, Layout::Planar, {}},
                                              [](int, int, int) { return 0.5; });
    for (const Found& found : search_levels(map.view, {{0, 0.25}, {0, 0.5}, {0, 0.75}}, {}))
      CHECK(found.closed.empty());
  }
}

TEST_CASE("the stages give a class's levels one after the other, and each contour says its own") {
  Random random(23);
  for (const ElementType type : {ElementType::F32, ElementType::U8, ElementType::F16})
    for (const Layout layout : {Layout::Planar, Layout::Interleaved})
      for (const std::uint64_t capacity : {0, 50}) {
        const TestImage map = map_of(Kind::Ties, 131, 67, 3, type, layout, random);
        const std::vector<std::vector<double>> levels{{0.25, 0.5, 0.6}, {0.5}, {-1, 0.1, 0.2, 0.75, 2}};
        StageHarness stage(contours_stage(), {{"min_points", std::int64_t{4}}}, classes_with(levels));
        stage.threads(2).first_capacity(capacity).run({map.view});
        const auto& got = std::get<ContoursView>(stage.value());
        const double* const level_of = got.column(Attribute::Level);
        REQUIRE(level_of != nullptr);
        std::uint32_t contour = 0;
        for (int k = 0; k < 3; ++k) {
          CHECK(got.class_begin[k] == contour);
          for (const double level : levels[static_cast<std::size_t>(k)]) {
            const Options options{.assembly = {.min_points = 4, .scale = probability_scale(type)},
                                  .mask = {}};
            const Found want = search_one(map.view, {k, level}, options);
            for (std::size_t i = 0; i < want.closed.size(); ++i, ++contour) {
              REQUIRE(contour < got.counts->contours);
              CHECK(level_of[contour] == level);
              CHECK(got.closed[contour] == want.closed[i]);
              const auto points = got.contour(contour);
              REQUIRE(points.size() == want.offsets[i + 1] - want.offsets[i]);
              for (std::size_t n = 0; n < points.size(); ++n) {
                const PointD& point = want.points[want.offsets[i] + n];
                const Point wanted{static_cast<float>(point.row), static_cast<float>(point.col)};
                REQUIRE(std::memcmp(&points[n], &wanted, sizeof(Point)) == 0);
              }
            }
          }
        }
        CHECK(got.class_begin[3] == contour);
        CHECK(got.counts->contours == contour);
        CHECK(contour > 100);
      }
}

TEST_CASE("classes of one level each give contours without the attribute") {
  Random random(2);
  const TestImage map = map_of(Kind::Noise, 30, 20, 1, ElementType::F32, Layout::Planar, random);
  StageHarness stage(contours_stage(), {}, classes_with({{0.5}}));
  stage.run({map.view});
  CHECK(std::get<ContoursView>(stage.value()).column(Attribute::Level) == nullptr);
}
