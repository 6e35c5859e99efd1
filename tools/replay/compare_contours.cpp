#include "tools/replay/compare_contours.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>

#include "pipeline/shared/printable.h"

namespace contorno {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The bytes of the points: equal ones have the same bits, so that NaN equals NaN.
std::string_view bytes_of(std::span<const Point> points) {
  return {reinterpret_cast<const char*>(points.data()), points.size_bytes()};
}

double squared(double a, double b) {
  return a * a + b * b;
}

/// From a point to the segment from `a` to `b`, squared.
double squared_distance(const Point& point, const Point& a, const Point& b) {
  const double row = b.row - double{a.row}, col = b.col - double{a.col};
  const double to_row = point.row - double{a.row}, to_col = point.col - double{a.col};
  const double length = squared(row, col);
  const double along = length > 0 ? std::clamp((to_row * row + to_col * col) / length, 0.0, 1.0) : 0.0;
  return squared(to_row - along * row, to_col - along * col);
}

double one_way_distance(std::span<const Point> points, std::span<const Point> line) {
  double largest = 0;
  for (const Point& point : points) {
    double nearest = line.size() == 1 ? squared_distance(point, line[0], line[0]) : kInfinity;
    for (std::size_t i = 1; i < line.size() && nearest > 0; ++i)
      nearest = std::fmin(nearest, squared_distance(point, line[i - 1], line[i]));
    if (!std::isfinite(nearest)) return kInfinity;
    largest = std::max(largest, nearest);
  }
  return std::sqrt(largest);
}

struct Box {
  double left = kInfinity, top = kInfinity, right = -kInfinity, bottom = -kInfinity;
  explicit Box(std::span<const Point> points) {
    for (const Point& point : points) {
      left = std::fmin(left, point.col);
      right = std::fmax(right, point.col);
      top = std::fmin(top, point.row);
      bottom = std::fmax(bottom, point.row);
    }
  }
  double difference(const Box& other) const {
    return std::max({std::abs(left - other.left), std::abs(right - other.right), std::abs(top - other.top),
                     std::abs(bottom - other.bottom)});
  }
};

/// The contours of a class that have no partner yet.
struct Unpaired {
  const ContoursView& view;
  std::vector<std::uint32_t> indices;
};

Unpaired all_of(const ContourFrame& frame, std::size_t class_index) {
  Unpaired all{frame.view, {}};
  for (std::uint32_t i = frame.view.class_begin[class_index]; i < frame.view.class_begin[class_index + 1];
       ++i)
    all.indices.push_back(i);
  return all;
}

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

void drop_paired(Unpaired& before, Unpaired& after, const Pairs& pairs) {
  const auto drop = [&](std::vector<std::uint32_t>& from, auto member) {
    std::vector<std::uint32_t> taken;
    for (const auto& pair : pairs) taken.push_back(pair.*member);
    std::sort(taken.begin(), taken.end());
    std::erase_if(from, [&](std::uint32_t i) { return std::binary_search(taken.begin(), taken.end(), i); });
  };
  drop(before.indices, &Pairs::value_type::first);
  drop(after.indices, &Pairs::value_type::second);
}

Pairs pair_equal(Unpaired& before, Unpaired& after) {
  std::map<std::tuple<std::uint8_t, std::string_view>, std::vector<std::uint32_t>> waiting;
  const auto key = [](const ContoursView& view, std::uint32_t i) {
    return std::tuple(view.closed[i], bytes_of(view.contour(i)));
  };
  for (auto i = after.indices.rbegin(); i != after.indices.rend(); ++i)
    waiting[key(after.view, *i)].push_back(*i);
  Pairs pairs;
  for (const std::uint32_t i : before.indices) {
    const auto found = waiting.find(key(before.view, i));
    if (found == waiting.end() || found->second.empty()) continue;
    pairs.emplace_back(i, found->second.back());
    found->second.pop_back();
  }
  drop_paired(before, after, pairs);
  return pairs;
}

Pairs pair_near(Unpaired& before, Unpaired& after, double reach) {
  struct Candidate {
    double difference;
    std::uint32_t before, after;
    auto order() const { return std::tuple(difference, before, after); }
  };
  std::multimap<double, std::pair<std::uint32_t, Box>> by_left;
  for (const std::uint32_t i : after.indices) {
    const Box box(after.view.contour(i));
    by_left.emplace(box.left, std::pair(i, box));
  }
  std::vector<Candidate> candidates;
  for (const std::uint32_t i : before.indices) {
    const Box box(before.view.contour(i));
    for (auto at = by_left.lower_bound(box.left - reach);
         at != by_left.end() && at->first <= box.left + reach; ++at) {
      const auto& [j, other] = at->second;
      const double difference = box.difference(other);
      if (difference <= reach && before.view.closed[i] == after.view.closed[j])
        candidates.push_back({difference, i, j});
    }
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.order() < b.order(); });
  Pairs pairs;
  std::map<std::uint32_t, bool> taken_before, taken_after;
  for (const Candidate& one : candidates) {
    if (taken_before[one.before] || taken_after[one.after]) continue;
    taken_before[one.before] = taken_after[one.after] = true;
    pairs.emplace_back(one.before, one.after);
  }
  drop_paired(before, after, pairs);
  return pairs;
}

/// Of the attributes that the contours before have; those that only the contours after have are no change
/// of what was recorded, but their absence is.
bool has_equal_attributes(const ContoursView& before, std::uint32_t i, const ContoursView& after,
                          std::uint32_t j) {
  if (!(before.format.attributes == after.format.attributes)) return false;
  for (std::size_t column = 0; column < before.format.attributes.count(); ++column) {
    const double a = before.columns[column * before.format.column_stride() + i];
    const double b = after.columns[column * after.format.column_stride() + j];
    if (!(a == b || (std::isnan(a) && std::isnan(b)))) return false;
  }
  return true;
}

std::string point_text(const Point& point) {
  return fmt::format("({}, {})", point.col, point.row);
}

/// What is different about a pair, in words.
std::string pair_text(const ContoursView& before, const ContoursView& after, const ContourPair& pair) {
  const std::span<const Point> a = before.contour(pair.before), b = after.contour(pair.after);
  if (bytes_of(a) == bytes_of(b)) return "its attributes have other values";
  std::size_t i = 0;
  while (i < a.size() && i < b.size() && bytes_of(a.subspan(i, 1)) == bytes_of(b.subspan(i, 1))) ++i;
  if (i < a.size() && i < b.size())
    return fmt::format("point {} (x, y) was {}, is {}", i, point_text(a[i]), point_text(b[i]));
  return fmt::format("it had {} points, has {}", a.size(), b.size());
}

/// The changes of one class, added to those of the frame.
class ClassComparison {
 public:
  ClassComparison(const ContourFrame& before, const ContourFrame& after, std::size_t class_index)
      : before_(all_of(before, class_index)),
        after_(all_of(after, class_index)),
        name_(before.classes[class_index].name),
        first_(before.view.class_begin[class_index]) {}

  void compare(double reach, ContourChanges& changes) {
    for (const auto& [i, j] : pair_equal(before_, after_)) note_pair(i, j, changes);
    for (const auto& [i, j] : pair_near(before_, after_, reach)) note_pair(i, j, changes);
    for (const std::uint32_t i : before_.indices) {
      changes.lost.push_back(i);
      note(changes, i - first_, fmt::format("of {} points is gone", before_.view.contour(i).size()));
    }
    for (const std::uint32_t j : after_.indices) changes.added.push_back(j);
    if (changes.first.empty() && !after_.indices.empty())
      changes.first = fmt::format("class '{}': {} contours were not there before", printable(name_),
                                  after_.indices.size());
  }

 private:
  void note(ContourChanges& changes, std::uint32_t index, const std::string& what) const {
    if (changes.first.empty())
      changes.first = fmt::format("class '{}', contour {}: {}", printable(name_), index, what);
  }

  void note_pair(std::uint32_t i, std::uint32_t j, ContourChanges& changes) {
    const std::span<const Point> a = before_.view.contour(i), b = after_.view.contour(j);
    const bool equal = bytes_of(a) == bytes_of(b),
               described = has_equal_attributes(before_.view, i, after_.view, j);
    if (equal && described) return;
    const ContourPair pair{.before = i, .after = j, .distance = equal ? 0 : distance_between(a, b)};
    changes.moved.push_back(pair);
    changes.attributes += described ? 0 : 1;
    changes.distance = std::max(changes.distance, pair.distance);
    note(changes, i - first_, pair_text(before_.view, after_.view, pair));
  }

  Unpaired before_, after_;
  std::string name_;
  std::uint32_t first_;
};

}  // namespace

double distance_between(std::span<const Point> one, std::span<const Point> other) {
  if (one.empty() || other.empty()) return kInfinity;
  return std::max(one_way_distance(one, other), one_way_distance(other, one));
}

ContourChanges compare_contours(const ContourFrame& before, const ContourFrame& after, double reach) {
  ContourChanges changes;
  const auto same_class = [](const ClassSpec& a, const ClassSpec& b) {
    return a.name == b.name && a.level == b.level;
  };
  if (!std::equal(before.classes.begin(), before.classes.end(), after.classes.begin(), after.classes.end(),
                  same_class)) {
    changes.first = "the classes have other names, levels or another order";
    for (std::uint32_t i = 0; i < before.view.counts->contours; ++i) changes.lost.push_back(i);
    for (std::uint32_t j = 0; j < after.view.counts->contours; ++j) changes.added.push_back(j);
    return changes;
  }
  for (std::size_t k = 0; k < before.classes.size(); ++k)
    ClassComparison(before, after, k).compare(reach, changes);
  return changes;
}

}  // namespace contorno
