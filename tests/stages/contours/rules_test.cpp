// The rules of contours against their definitions, in numbers: what is computed fast on one backend or the
// other must say of every sample what the definition says.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "stages/contours/rules/crossing_point.h"
#include "stages/contours/rules/keep_contour.h"
#include "stages/contours/rules/level_test.h"
#include "stages/contours/rules/sample_node.h"

using namespace contorno;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("a float is above highest_low exactly when it is above the level") {
  std::vector<double> levels = {0,
                                -0.0,
                                0.5,
                                1.0 / 3,
                                std::nextafter(0.5, 1),
                                std::nextafter(0.5, 0),
                                1e-46,
                                -1e-46,
                                1e-40,
                                -1e-40,
                                16777217,
                                3.4028235e38,
                                1e300,
                                -1e300,
                                kInfinity,
                                -kInfinity,
                                kNaN};
  std::mt19937_64 random(3);
  for (int i = 0; i < 20000; ++i) {
    double level = 0;
    do
      level = std::bit_cast<double>(random() >> 3 & 0x4FFFFFFFFFFFFFFFULL);  // exponents of floats among them
    while (!std::isfinite(level));
    levels.push_back(i % 2 == 0 ? level : static_cast<double>(static_cast<float>(random() % 1000) * 0.001F));
  }
  constexpr float kFloatInfinity = std::numeric_limits<float>::infinity();
  for (const double level : levels) {
    CAPTURE(level);
    const float low = highest_low<float>(level);
    float near = static_cast<float>(level);
    for (int step = 0; step < 3; ++step) near = std::nextafter(near, -kFloatInfinity);
    for (int step = 0; step < 7; ++step, near = std::nextafter(near, kFloatInfinity))
      REQUIRE((near > low) == (static_cast<double>(near) > level));
    for (const float v : {0.0F, -0.0F, kFloatInfinity, -kFloatInfinity, std::numeric_limits<float>::max(),
                          -std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min()})
      REQUIRE((v > low) == (static_cast<double>(v) > level));
    REQUIRE((0.25 > highest_low<double>(level)) == (0.25 > level));
  }
}

TEST_CASE("an integer is above highest_low exactly when its value is above the level") {
  for (const int most : {255, 65535})
    for (const double divisor : {1.0, 255.0, 65535.0, 0.1, 7.0}) {
      std::vector<double> levels = {0,   -0.5,  0.5,   1,     127.5,     128,        254.999, 255,
                                    256, 65535, 65536, 1e300, kInfinity, -kInfinity, kNaN};
      for (const int v : {0, 1, 77, 128, 254, 255, 20000, 65534, 65535})
        for (const double level :
             {v / divisor, std::nextafter(v / divisor, kInfinity), std::nextafter(v / divisor, -kInfinity)})
          levels.push_back(level);
      for (const double level : levels) {
        CAPTURE(level);
        const int low = highest_low(most, {divisor}, level);
        REQUIRE(low >= -1);
        REQUIRE(low <= most);
        int wrong = 0;
        for (int v = 0; v <= most; ++v) wrong += (v > low) != (v / divisor > level) ? 1 : 0;
        REQUIRE(wrong == 0);
      }
    }
}

TEST_CASE("no crossing point between safe samples falls on one of them") {
  std::mt19937_64 random(9);
  const auto between = [&](double low, double high) {  // near the ends, mostly
    const double t = std::generate_canonical<double, 53>(random);
    return low * std::pow(high / low, t < 0.3 ? t * t : (t > 0.7 ? 1 - (1 - t) * (1 - t) : t));
  };
  const auto check = [&]<class T>(T level) {
    CAPTURE(level);
    const SafeDistances<T> safe = safe_distances(std::max(T{1}, std::abs(level)));
    CHECK(safe.near < safe.far);
    for (int i = 0; i < 4000; ++i) {
      const T above = i % 4 == 0 ? safe.near : static_cast<T>(between(safe.near, safe.far));
      const T below = i % 4 == 1 ? safe.near : static_cast<T>(between(safe.near, safe.far));
      T a = level + above, b = level - below;
      if (i % 2 == 0) std::swap(a, b);
      const auto outside = [&](T v) {
        return !(std::abs(v - level) >= safe.near && std::abs(v - level) <= safe.far);
      };
      if (outside(a) || outside(b)) continue;
      const double first = kMaxSide - 2;
      const double from = static_cast<double>(a), to = static_cast<double>(b);
      const double point = first + crossing_fraction(static_cast<double>(level), from, to);
      REQUIRE(point > first);
      REQUIRE(point < first + 1);
    }
  };
  for (const float level : {0.0F, 0.5F, -3.0F, 1000.0F / 7, 65535.0F, 1e20F, 3e38F}) check(level);
  for (const double level : {0.0, 0.5, -3.0, 1000.0 / 7, 1e20, 1e300, 1e308, -1.7e308}) check(level);
}

TEST_CASE("both cells of an edge cross it at the same point") {
  for (const double level : {0.0, 0.1, 0.5, 1.0 / 3})
    for (const auto& [a, b] :
         {std::pair{-1.0, 1.0}, {1.0, -0.7}, {level, 1.0}, {2.0, level}, {-1e-17, 1.0}}) {
      const PointD under = crossing_point(edge_of_side(4, 7, kBottom), level, a, b);
      CHECK(under == crossing_point(edge_of_side(5, 7, kTop), level, a, b));
      CHECK(under == PointD{5, 7 + (level - a) / (b - a)});
      const PointD right = crossing_point(edge_of_side(4, 7, kRight), level, a, b);
      CHECK(right == crossing_point(edge_of_side(4, 8, kLeft), level, a, b));
      CHECK(right == PointD{4 + (level - a) / (b - a), 8});
    }
}

TEST_CASE("a point links by its sample if it falls on one, by nothing if it is not a number") {
  CHECK(node_of({5, 7.25}, true) == NodeKind::Edge);
  CHECK(node_of({5, 7}, true) == NodeKind::Sample);
  CHECK(node_of({5, 8}, true) == NodeKind::Sample);
  CHECK(node_of({5, kNaN}, true) == NodeKind::None);
  CHECK(node_of({4.5, 7}, false) == NodeKind::Edge);
  CHECK(node_of({4, 7}, false) == NodeKind::Sample);
  CHECK(node_of({kNaN, 7}, false) == NodeKind::None);
}

TEST_CASE("segments around a sample pair in raster order, whatever arrives and leaves") {
  for (int fields = 0; fields < 6561; ++fields) {  // 3^8: a segment has no end there, leaves or arrives
    int kind[kAroundSample];
    unsigned ends = 0;
    for (int k = 0, rest = fields; k < kAroundSample; ++k, rest /= 3) {
      kind[k] = rest % 3;
      ends |= kind[k] == 1 ? leaving_end(k) : (kind[k] == 2 ? arriving_end(k) : 0U);
    }
    int after[kAroundSample], before[kAroundSample], start = -1, end = -1;
    std::fill_n(after, kAroundSample, -1);
    std::fill_n(before, kAroundSample, -1);
    const auto pair = [&](int arriving, int leaving) {
      after[arriving] = leaving, before[leaving] = arriving;
    };
    for (int k = 0; k < kAroundSample; ++k) {
      if (kind[k] == 2 && start >= 0)
        pair(k, std::exchange(start, -1));
      else if (kind[k] == 2)
        end = k;
      else if (kind[k] == 1 && end >= 0)
        pair(std::exchange(end, -1), k);
      else if (kind[k] == 1)
        start = k;
    }
    CAPTURE(fields);
    for (int k = 0; k < kAroundSample; ++k) {
      REQUIRE(neighbour_at_sample<true>(ends, k) == after[k]);
      REQUIRE(neighbour_at_sample<false>(ends, k) == before[k]);
    }
  }
}

TEST_CASE("a contour is kept if it has at least min_points points") {
  CHECK(points_of(4) == 5);
  for (const std::uint64_t min_points : {0, 1, 2}) CHECK(keep_contour<std::uint64_t>(1, min_points));
  CHECK_FALSE(keep_contour(1U, 3U));
  CHECK(keep_contour(4U, 5U));
  CHECK_FALSE(keep_contour(4U, 6U));
}
