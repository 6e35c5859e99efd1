// Contours that are made to be slow to work on, in families: of any size, so that it shows how what they cost
// grows.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "tests/stages/harness.h"

namespace contorno::test {

inline constexpr int kSlowSide = 1 << 14;

using Points = std::vector<std::pair<double, double>>;  // (x, y)

struct SlowContours {
  std::string name;
  /// About as many points as are asked for.
  std::function<std::vector<TestContour>(int points)> make;
};

inline Points square_around(double x, double y, double half) {
  return {{x - half, y - half},
          {x + half, y - half},
          {x + half, y + half},
          {x - half, y + half},
          {x - half, y - half}};
}

/// Teeth as long as they are many, and a back: a ring.
inline Points comb_of(int points, double x = 0) {
  Points line;
  const int teeth = points / 4;
  for (int i = 0; i < teeth; ++i) {
    line.emplace_back(x + 2 * i, teeth), line.emplace_back(x + 2 * i, 0);
    line.emplace_back(x + 2 * i + 1, 0), line.emplace_back(x + 2 * i + 1, teeth);
  }
  line.emplace_back(x + 2 * teeth, teeth), line.emplace_back(x + 2 * teeth, -1), line.emplace_back(x, -1);
  line.push_back(line.front());
  return line;
}

/// As many contours as fit, each of `each` points, the place of which among how many is told.
template <class Make>
std::vector<TestContour> many(int points, int each, const Make& make) {
  std::vector<TestContour> contours;
  const int count = std::max(points / each, 1);
  for (int i = 0; i < count; ++i) contours.push_back({0, true, make(i, count)});
  return contours;
}

inline Points spiral_of(int points) {
  Points line;
  for (int i = 0; i < points; ++i) {
    const double angle = std::sqrt(i) * 2;
    line.emplace_back(angle * std::cos(angle), angle * std::sin(angle));
  }
  return line;
}

/// Square spirals wound into each other, all around one centre, so that the boxes of all are nearly the same.
inline Points wound(int points, double turned, double step) {
  Points line;
  for (int i = 0; i < points; ++i) {
    const double angle = i * 0.3, radius = 1 + angle * step;
    line.emplace_back(radius * std::cos(angle + turned), radius * std::sin(angle + turned));
  }
  line.push_back(line.front());
  return line;
}

inline std::vector<SlowContours> slow_contours_of_one() {
  const auto one = [](bool closed, Points points) {
    return std::vector<TestContour>{{0, closed, std::move(points)}};
  };
  return {{"a comb", [=](int n) { return one(true, comb_of(n)); }},
          {"a spiral", [=](int n) { return one(false, spiral_of(n)); }},
          {"one contour of equal points",
           [=](int n) {
             return one(true, Points(n, {5, 5}));
           }},
          {"one contour in a column",
           [=](int n) {
             Points line;
             for (int i = 0; i < n; ++i)
               line.emplace_back(7, static_cast<double>(static_cast<std::int64_t>(i) * 7919 % n) * 0.25);
             return one(false, line);
           }},
          {"a staircase that widens",
           [=](int n) {
             Points line;
             for (int i = 0; i < n; ++i) line.emplace_back(i, (i % 2 == 0 ? 1.0 : -1.0) * i);
             return one(false, line);
           }},
          {"an arc of ever smaller steps",
           [=](int n) {
             Points line;
             for (int i = 0; i < n; ++i) line.emplace_back(i, std::ldexp(1.0 * i / n * i / n, 12));
             return one(false, line);
           }},
          {"a spiral of huge coordinates", [=](int n) {
             Points line = spiral_of(n);
             for (auto& [x, y] : line) x *= 1e30, y *= 1e30;
             return one(true, line);
           }}};
}

inline std::vector<SlowContours> slow_contours_of_many() {
  return {
      {"squares in each other, the outer first",
       [](int n) {
         return many(n, 5, [](int i, int count) { return square_around(0, 0, 2 * (count - i)); });
       }},
      {"squares in each other, the inner first",
       [](int n) { return many(n, 5, [](int i, int) { return square_around(0, 0, 2 * (i + 1)); }); }},
      {"squares in each other, in no order",
       [](int n) {
         return many(n, 5, [](int i, int count) {
           return square_around(0, 0,
                                2 * static_cast<double>(static_cast<std::int64_t>(i) * 7919 % count + 1));
         });
       }},
      {"equal squares", [](int n) { return many(n, 5, [](int, int) { return square_around(3, 4, 5); }); }},
      {"squares in one column",
       [](int n) {
         return many(n, 5, [](int i, int count) {
           return square_around(0, static_cast<double>(static_cast<std::int64_t>(i) * 7919 % count) * 3, 1);
         });
       }},
      {"long teeth beside each other",
       [](int n) {
         return many(n, 5, [](int i, int count) {
           return Points{
               {3.0 * i, 0}, {3.0 * i + 1, 0}, {3.0 * i + 1, count}, {3.0 * i, count}, {3.0 * i, 0}};
         });
       }},
      {"squares along a spiral",
       [](int n) {
         return many(n, 5, [](int i, int) {
           const double angle = std::sqrt(i) * 2;
           return square_around(4 * angle * std::cos(angle), 4 * angle * std::sin(angle), 1);
         });
       }},
      {"squares at huge coordinates",
       [](int n) {
         return many(n, 5, [](int i, int) { return square_around(1e30 * (i + 1), 1e25, 1e29); });
       }},
      {"spirals in each other",
       [](int n) {
         const int each = static_cast<int>(std::sqrt(n));
         return many(n, each,
                     [=](int i, int count) { return wound(each, 2 * std::numbers::pi * i / count, 1.0); });
       }},
      {"combs in a comb's box",
       [](int n) { return many(n, 43, [](int i, int) { return comb_of(40, 0.5 * i); }); }},
      {"diagonals beside each other",
       [](int n) {
         return many(n, 3, [](int i, int count) {
           return Points{{1.0 * i, 0}, {1.0 * i + count, count}, {1.0 * i, 0}};
         });
       }},
  };
}

inline std::vector<SlowContours> slow_contours() {
  std::vector<SlowContours> all = slow_contours_of_one();
  for (SlowContours& one : slow_contours_of_many()) all.push_back(std::move(one));
  return all;
}

}  // namespace contorno::test
