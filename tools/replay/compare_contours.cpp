#include "tools/replay/compare_contours.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "pipeline/shared/printable.h"
#include "tools/replay/box_pairs.h"
#include "tools/replay/line_distance.h"

namespace contorno {
namespace {

/// The bytes of the points: equal ones have the same bits, so that NaN equals NaN.
std::string_view bytes_of(std::span<const Point> points) {
  return {reinterpret_cast<const char*>(points.data()), points.size_bytes()};
}

/// The contours of a class that have no partner yet.
struct Unpaired {
  const ContoursView& view;
  std::vector<std::uint32_t> indices;
};

/// All contours of a class; none where the class is not there.
Unpaired all_of(const ContourFrame& frame, std::optional<std::size_t> class_index) {
  Unpaired all{frame.view, {}};
  if (!class_index) return all;
  for (std::uint32_t i = frame.view.class_begin[*class_index]; i < frame.view.class_begin[*class_index + 1];
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
  const auto boxes_of = [](const Unpaired& from) {
    std::vector<ContourBox> boxes;
    for (const std::uint32_t i : from.indices)
      boxes.emplace_back(from.view.contour(i), from.view.closed[i] != 0);
    return boxes;
  };
  Pairs pairs = pair_boxes(boxes_of(before), boxes_of(after), reach);
  for (auto& [i, j] : pairs) i = before.indices[i], j = after.indices[j];
  drop_paired(before, after, pairs);
  return pairs;
}

/// Compares the attributes that the contours before have; those that only the contours after have are no
/// change of what was recorded, but their absence is.
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

std::string levels_text(const ClassSpec& spec) {
  return fmt::format("{}", fmt::join(spec.iso_levels(), ", "));
}

/// A class before and the one after that is taken for the same; one of both may be missing.
struct ClassPair {
  std::optional<std::size_t> before, after;
};

/// Pairs classes by name, then by levels; see compare_contours.
std::vector<ClassPair> pair_classes(const std::vector<ClassSpec>& before,
                                    const std::vector<ClassSpec>& after) {
  std::vector<ClassPair> pairs(before.size());
  std::vector<bool> taken(after.size());
  const auto pair_by = [&](const auto& key) {
    std::map<std::decay_t<decltype(key(before[0]))>, std::vector<std::size_t>> waiting;
    for (std::size_t j = after.size(); j-- > 0;)
      if (!taken[j]) waiting[key(after[j])].push_back(j);
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (pairs[i].after) continue;
      const auto found = waiting.find(key(before[i]));
      if (found == waiting.end() || found->second.empty()) continue;
      pairs[i].after = found->second.back();
      taken[found->second.back()] = true;
      found->second.pop_back();
    }
  };
  for (std::size_t i = 0; i < before.size(); ++i) pairs[i].before = i;
  pair_by([](const ClassSpec& spec) { return spec.name; });
  pair_by([](const ClassSpec& spec) {
    return std::vector<double>(spec.iso_levels().begin(), spec.iso_levels().end());
  });
  for (std::size_t j = 0; j < after.size(); ++j)
    if (!taken[j]) pairs.push_back({.before = std::nullopt, .after = j});
  return pairs;
}

/// The changes of one class, added to those of the frame.
class ClassComparison {
 public:
  ClassComparison(const ContourFrame& before, const ContourFrame& after, const ClassPair& classes)
      : before_(all_of(before, classes.before)), after_(all_of(after, classes.after)) {
    const ClassSpec* const was = classes.before ? &before.classes[*classes.before] : nullptr;
    const ClassSpec* const is = classes.after ? &after.classes[*classes.after] : nullptr;
    changes_.name = was != nullptr ? was->name : is->name;
    changes_.other_name = was == nullptr || is == nullptr || was->name != is->name;
    if (was != nullptr) first_ = before.view.class_begin[*classes.before];
    if (was == nullptr)
      changes_.itself = "it was not there before";
    else if (is == nullptr)
      changes_.itself = "it is gone";
    else if (was->name != is->name)
      changes_.itself = fmt::format("it is called '{}' now", printable(is->name));
    else if (levels_text(*was) != levels_text(*is))
      changes_.itself = fmt::format("its {} {}, is {}", was->levels.empty() ? "level was" : "levels were",
                                    levels_text(*was), levels_text(*is));
  }

  void compare(double reach, ContourChanges& changes) {
    for (const auto& [i, j] : pair_equal(before_, after_)) note_pair(i, j, changes);
    for (const auto& [i, j] : pair_near(before_, after_, reach)) note_pair(i, j, changes);
    for (const std::uint32_t i : before_.indices) {
      changes.lost.push_back(i);
      note(fmt::format("contour {}: of {} points is gone", i - first_, before_.view.contour(i).size()));
    }
    for (const std::uint32_t j : after_.indices) changes.added.push_back(j);
    if (!after_.indices.empty())
      note(fmt::format("contours that were not there before: {}", after_.indices.size()));
    changes_.lost = before_.indices.size(), changes_.added = after_.indices.size();
    if (changes_.itself.empty() && of_contours_.empty()) return;
    if (changes.first.empty()) changes.first = sentence();
    changes.classes.push_back(std::move(changes_));
  }

 private:
  std::string sentence() const {
    const std::string name = printable(changes_.name);
    if (changes_.itself.empty()) return fmt::format("class '{}', {}", name, of_contours_);
    if (of_contours_.empty()) return fmt::format("class '{}': {}", name, changes_.itself);
    return fmt::format("class '{}': {}; {}", name, changes_.itself, of_contours_);
  }
  void note(std::string what) {
    if (of_contours_.empty()) of_contours_ = std::move(what);
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
    ++changes_.moved;
    changes_.distance = std::max(changes_.distance, pair.distance);
    note(fmt::format("contour {}: {}", i - first_, pair_text(before_.view, after_.view, pair)));
  }

  Unpaired before_, after_;
  ClassChanges changes_;
  std::string of_contours_;  // a sentence about the first contour that differs
  std::uint32_t first_ = 0;
};

}  // namespace

ContourChanges compare_contours(const ContourFrame& before, const ContourFrame& after, double reach) {
  ContourChanges changes;
  for (const ClassPair& pair : pair_classes(before.classes, after.classes))
    ClassComparison(before, after, pair).compare(reach, changes);
  return changes;
}

}  // namespace contorno
