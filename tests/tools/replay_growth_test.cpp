// Comparing records where contours are made to be slow to compare: what is compared is counted, and grows no
// faster than a sort does; and what is found is what plain loops over all pairs find.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>
#include <numbers>
#include <string>
#include <tuple>
#include <vector>

#include "tools/replay/box_pairs.h"
#include "tools/replay/line_distance.h"

namespace contorno {
namespace {

using Line = std::vector<Point>;

Point at(double x, double y) {
  return {static_cast<float>(y), static_cast<float>(x)};
}

/// Teeth as long as they are many.
Line comb(int points) {
  Line line;
  const int teeth = points / 2;
  for (int i = 0; i < teeth; ++i)
    for (const int end : {0, 1}) line.push_back(at(i, (i + end) % 2 == 0 ? 0 : teeth));
  return line;
}
Line spiral(int points) {
  Line line;
  for (int i = 0; i < points; ++i) {
    const double angle = std::sqrt(i) * 2;
    line.push_back(at(angle * std::cos(angle), angle * std::sin(angle)));
  }
  return line;
}
Line circle(int points, double radius) {
  Line line;
  for (int i = 0; i < points; ++i) {
    const double angle = 2 * std::numbers::pi * i / points;
    line.push_back(at(radius * std::cos(angle), radius * std::sin(angle)));
  }
  line.push_back(line.front());
  return line;
}
Line column(int points) {
  Line line;
  for (int i = 0; i < points; ++i) line.push_back(at(7, i * 7919 % points));
  return line;
}
Line moved(Line line, double by, double factor = 1) {
  for (Point& point : line) point = at((point.col + by) * factor, (point.row + by / 3) * factor);
  return line;
}

struct Family {
  std::string name;
  std::function<std::pair<Line, Line>(int)> lines;
};

std::vector<Family> families() {
  return {
      {"a comb", [](int n) { return std::pair(comb(n), moved(comb(n), 0.25)); }},
      {"a comb beside another", [](int n) { return std::pair(comb(n), moved(comb(n), 3.0 * n)); }},
      {"a spiral", [](int n) { return std::pair(spiral(n), moved(spiral(n), 0.5)); }},
      {"a spiral the other way round",
       [](int n) {
         Line other = spiral(n);
         std::reverse(other.begin(), other.end());
         return std::pair(spiral(n), moved(other, 0.5));
       }},
      {"one circle in another", [](int n) { return std::pair(circle(n, 3), circle(n, 900)); }},
      {"points at the centre of a circle", [](int n) { return std::pair(circle(n, 1e-3), circle(n, 900)); }},
      {"points that are all equal", [](int n) { return std::pair(Line(n, at(5, 5)), Line(n, at(9, 8))); }},
      {"one column", [](int n) { return std::pair(column(n), moved(column(n), 0.5)); }},
      {"huge coordinates",
       [](int n) { return std::pair(moved(spiral(n), 1, 1e30), moved(spiral(n), 1.5, 1e30)); }},
      {"a long line and a point", [](int n) { return std::pair(comb(n), Line{at(1, 2)}); }}};
}

/// Every point with every segment.
double plain_distance(const Line& one, const Line& other) {
  const auto one_way = [](const Line& points, const Line& line) {
    long double largest = 0;
    for (const Point& point : points) {
      long double nearest = std::numeric_limits<long double>::infinity();
      for (std::size_t i = 0; i + 1 < std::max<std::size_t>(line.size(), 2); ++i) {
        const Point &a = line[i], &b = line[std::min(i + 1, line.size() - 1)];
        const long double row = b.row - static_cast<long double>(a.row),
                          col = b.col - static_cast<long double>(a.col);
        const long double to_row = point.row - static_cast<long double>(a.row),
                          to_col = point.col - static_cast<long double>(a.col);
        const long double length = row * row + col * col;
        const long double along =
            length > 0 ? std::clamp((to_row * row + to_col * col) / length, 0.0L, 1.0L) : 0.0L;
        nearest = std::min(nearest, std::hypot(to_row - along * row, to_col - along * col));
      }
      largest = std::max(largest, nearest);
    }
    return largest;
  };
  return static_cast<double>(std::max(one_way(one, other), one_way(other, one)));
}

/// What n log n is allowed to be.
double allowed(int points, double each) {
  return each * points * std::log2(points);
}

/// Boxes as contours have them.
std::vector<ContourBox> boxes_of(int count, const std::function<std::array<double, 4>(int)>& sides) {
  std::vector<ContourBox> boxes;
  for (int i = 0; i < count; ++i) {
    const auto [left, top, right, bottom] = sides(i);
    const Line line{at(left, top), at(right, bottom)};
    boxes.emplace_back(line, i % 5 != 0);
  }
  return boxes;
}

struct BoxFamily {
  std::string name;
  std::function<std::array<double, 4>(int place, int count, double moved)> sides;
};

std::vector<BoxFamily> box_families() {
  return {{"nested",
           [](int i, int n, double by) {
             return std::array{by - i, by - i, n + by + i, n + by + i};
           }},
          {"all equal",
           [](int, int, double) {
             return std::array{1.0, 2.0, 3.0, 4.0};
           }},
          {"one column",
           [](int i, int n, double by) {
             return std::array{by, i * 7919 % n * 0.01, 9 + by, i * 7919 % n * 0.01 + 3};
           }},
          {"one that all are near to",
           [](int i, int, double by) {
             return std::array{by * (1 + i * 0.001), 0.0, 9 + by, 9.0};
           }},
          {"huge coordinates", [](int i, int, double by) {
             return std::array{1e30 * i, by, 1e30 * i + 1e25, 9 + by};
           }}};
}

}  // namespace

TEST_CASE("the distance of two lines is that of all points from all segments, however the lines run") {
  for (const Family& family : families()) {
    INFO(family.name);
    const auto [one, other] = family.lines(150);
    const double wanted = plain_distance(one, other);
    CHECK(distance_between(one, other) == doctest::Approx(wanted).epsilon(1e-6));
    CHECK(distance_between(other, one) == doctest::Approx(wanted).epsilon(1e-6));
  }
  // A line that is just the other, with some points more on it.
  CHECK(distance_between(Line{at(0, 0), at(8, 0)}, Line{at(0, 0), at(2, 0), at(5, 0), at(8, 0)}) == 0);
  CHECK(std::isinf(distance_between(Line{}, Line{at(1, 1)})));
  CHECK(std::isinf(distance_between(Line{at(std::nan(""), 1), at(0, 0)}, Line{at(0, 0), at(1, 1)})));
}

TEST_CASE("the distance of two lines takes no more comparisons than a sort") {
  for (const Family& family : families())
    for (const int points : {1000, 8000, 64000}) {
      INFO(family.name, " of ", points, " points");
      const auto [one, other] = family.lines(points);
      std::uint64_t compared = 0;
      distance_between(one, other, &compared);
      INFO("comparisons: ", compared);
      CHECK(static_cast<double>(compared) < allowed(points, 16));
    }
}

TEST_CASE("boxes are paired from the least difference to the greatest, as of a list of all pairs") {
  for (const BoxFamily& family : box_families())
    for (const double reach : {0.0, 0.3, 8.0, 1e9}) {
      INFO(family.name, ", reach ", reach);
      const int count = 90;
      const auto before = boxes_of(count, [&](int i) { return family.sides(i, count, 0); });
      const auto after = boxes_of(count - 7, [&](int i) { return family.sides(i, count, 0.25); });
      std::vector<std::tuple<double, std::uint32_t, std::uint32_t>> all;
      for (std::uint32_t i = 0; i < before.size(); ++i)
        for (std::uint32_t j = 0; j < after.size(); ++j) {
          double difference = 0;
          for (std::size_t k = 0; k < 4; ++k)
            difference = std::max(difference, std::abs(before[i].sides[k] - after[j].sides[k]));
          if (difference <= reach && before[i].closed == after[j].closed) all.emplace_back(difference, i, j);
        }
      std::sort(all.begin(), all.end());
      std::vector<std::pair<std::uint32_t, std::uint32_t>> wanted;
      std::vector<bool> taken_before(before.size()), taken_after(after.size());
      for (const auto& [difference, i, j] : all) {
        if (taken_before[i] || taken_after[j]) continue;
        taken_before[i] = taken_after[j] = true;
        wanted.emplace_back(i, j);
      }
      std::sort(wanted.begin(), wanted.end());
      CHECK(pair_boxes(before, after, reach) == wanted);
    }
}

TEST_CASE("pairing boxes takes no more comparisons than a sort") {
  for (const BoxFamily& family : box_families())
    for (const int count : {1000, 8000, 64000}) {
      INFO(count, " boxes, ", family.name);
      const auto before = boxes_of(count, [&](int i) { return family.sides(i, count, 0); });
      const auto after = boxes_of(count, [&](int i) { return family.sides(i, count, 0.25); });
      std::uint64_t compared = 0;
      CHECK(pair_boxes(before, after, 1e9, &compared).size() == before.size());
      INFO("comparisons: ", compared);
      CHECK(static_cast<double>(compared) < allowed(count, 16));
    }
}

}  // namespace contorno
