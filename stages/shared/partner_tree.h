// A tree of things for the best partner of another one among many: nodes know between which bounds the things
// below them lie, and so how good a pair with one of them can be at most. What was taken leaves the tree.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <utility>

#include "stages/shared/pair_in_chains.h"

namespace contorno {

/// The best of some that are considered in any order. A score is a whole number, greater is better and 0 does
/// not fit; the key decides between equal ones, the lower one first.
template <class Score>
struct BestPartner {
  Score score = 0;
  std::uint32_t index = kNoPartner;
  unsigned long long key = 0;

  CONTORNO_HD bool is_less_than(Score other, unsigned long long other_key) const {
    return score < other || (score == other && other != 0 && other_key <= key);
  }
  CONTORNO_HD void consider(Score other, std::uint32_t other_index, unsigned long long other_key) {
    if (is_less_than(other, other_key)) score = other, index = other_index, key = other_key;
  }
};

/// It owns nothing: it works in memory that its caller plans. `Rules` has
///
///   Value, Score      what is compared, and how good a pair is
///   Bounds            of values: Bounds(), which has none, widen(Bounds), and Bounds(Value)
///   kSides            by which things are sorted into the tree: side(Value, k), spread(Bounds, k)
///   score(Value, Value), most_score(Bounds, Value)   the latter of none within the bounds is below any score
template <class Rules>
class PartnerTree {
 public:
  using Value = typename Rules::Value;
  using Score = typename Rules::Score;

  /// What the tree finds: by its value, in a group, under an index; the key decides between equal scores.
  struct Item {
    const Value* value = nullptr;
    std::uint32_t index = kNoPartner, group = 0;
    std::uint64_t key = 0;
  };
  struct Node {
    typename Rules::Bounds bounds;
    std::uint64_t least_key = std::numeric_limits<std::uint64_t>::max();
    std::uint32_t begin = 0, end = 0;  ///< items; of a node with children none
    std::uint32_t child = kNoPartner;  ///< the first of two, the second is behind it
    std::uint32_t above = kNoPartner;
    bool is_empty = true;  ///< all were taken
  };
  /// Arrays with an element for each thing that there is room for, and `roots` for each group.
  struct Memory {
    std::span<Item> items;
    std::span<Node> nodes;
    std::span<std::uint32_t> places;  ///< the node that has an item, by the item's index
    std::span<std::uint32_t> roots;
  };

  PartnerTree(const Memory& memory, const Rules& rules) : memory_(memory), rules_(rules) {}

  /// Adds an item, before `build`.
  void add(const Item& item) { memory_.items[count_++] = item; }
  std::uint32_t size() const { return count_; }

  void build() {
    const std::span<Item> items = memory_.items.first(count_);
    std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
      return std::tuple(a.group, a.key) < std::tuple(b.group, b.key);
    });
    std::fill(memory_.roots.begin(), memory_.roots.end(), kNoPartner);
    node_count_ = 0;
    for (std::uint32_t begin = 0, end = 0; begin < count_; begin = end) {
      while (end < count_ && items[end].group == items[begin].group) ++end;
      memory_.roots[items[begin].group] = node_count_;
      memory_.nodes[node_count_] = {};
      split(node_count_++, begin, end);
    }
  }

  /// The best of a group for `value`, of those that were not taken; kNoPartner: none fits. Adds to `compared`
  /// how many nodes and items it was compared with.
  std::uint32_t best(const Value& value, std::uint32_t group, std::uint64_t& compared) const {
    std::array<Visit, kDeepest> waiting;
    std::size_t count = 0;
    BestPartner<Score> best;
    const auto visit = [&](std::uint32_t node) {
      const Node& one = memory_.nodes[node];
      if (one.is_empty) return;
      ++compared;
      const Score score = rules_.most_score(one.bounds, value);
      if (best.is_less_than(score, one.least_key)) waiting[count++] = {score, ~one.least_key, node};
    };
    if (memory_.roots[group] != kNoPartner) visit(memory_.roots[group]);
    while (count > 0) {
      const Visit next = waiting[--count];
      const Node& node = memory_.nodes[next.node];
      if (!best.is_less_than(next.score, node.least_key)) continue;
      compared += node.end - node.begin;
      for (std::uint32_t i = node.begin; i < node.end; ++i) {
        const Item& item = memory_.items[i];
        best.consider(rules_.score(*item.value, value), item.index, item.key);
      }
      if (node.child == kNoPartner) continue;
      const std::size_t before = count;
      visit(node.child);
      visit(node.child + 1);
      // The better one is looked at first, of equal ones that with the lower key: it lies on top.
      if (count == before + 2 && waiting[before].order() > waiting[before + 1].order())
        std::swap(waiting[before], waiting[before + 1]);
    }
    return best.index;
  }

  void take(std::uint32_t index) {
    std::uint32_t node = memory_.places[index];
    Node& leaf = memory_.nodes[node];
    std::uint32_t at = leaf.begin;
    while (memory_.items[at].index != index) ++at;
    std::swap(memory_.items[at], memory_.items[--leaf.end]);
    for (; node != kNoPartner; node = memory_.nodes[node].above) refresh(memory_.nodes[node]);
  }

 private:
  /// Halves differ by one at most and more than four are split: fewer nodes than items, and a level of the
  /// tree adds one to those that wait.
  static constexpr std::uint32_t kItems = 4;
  static constexpr std::size_t kDeepest = 64;

  struct Visit {
    Score score = 0;
    std::uint64_t order_of_key = 0;
    std::uint32_t node = 0;
    auto order() const { return std::tuple(score, order_of_key); }
  };

  void split(std::uint32_t node, std::uint32_t begin, std::uint32_t end) {
    Node& one = memory_.nodes[node];
    one.begin = begin, one.end = end, one.child = kNoPartner;
    refresh(one);
    if (end - begin <= kItems) {
      for (std::uint32_t i = begin; i < end; ++i) memory_.places[memory_.items[i].index] = node;
      return;
    }
    int widest = 0;
    for (int k = 1; k < Rules::kSides; ++k)
      if (rules_.spread(one.bounds, k) > rules_.spread(one.bounds, widest)) widest = k;
    const std::uint32_t middle = begin + (end - begin) / 2;
    const auto items = memory_.items.begin();
    std::nth_element(items + begin, items + middle, items + end, [&](const Item& a, const Item& b) {
      return std::tuple(rules_.side(*a.value, widest), a.key) <
             std::tuple(rules_.side(*b.value, widest), b.key);
    });
    const std::uint32_t child = node_count_;
    node_count_ += 2;
    one.begin = one.end = 0, one.child = child;
    for (std::uint32_t below = child; below < child + 2; ++below) {
      memory_.nodes[below] = {};
      memory_.nodes[below].above = node;
    }
    split(child, begin, middle);
    split(child + 1, middle, end);
  }

  void add_to(Node& node, const typename Rules::Bounds& bounds, std::uint64_t key) const {
    node.bounds.widen(bounds);
    node.least_key = std::min(node.least_key, key);
    node.is_empty = false;
  }
  void refresh(Node& node) const {
    node.bounds = {}, node.least_key = std::numeric_limits<std::uint64_t>::max(), node.is_empty = true;
    for (std::uint32_t i = node.begin; i < node.end; ++i)
      add_to(node, typename Rules::Bounds(*memory_.items[i].value), memory_.items[i].key);
    if (node.child == kNoPartner) return;
    for (std::uint32_t child = node.child; child < node.child + 2; ++child) {
      const Node& below = memory_.nodes[child];
      if (!below.is_empty) add_to(node, below.bounds, below.least_key);
    }
  }

  Memory memory_;
  Rules rules_;
  std::uint32_t count_ = 0, node_count_ = 0;
};

}  // namespace contorno
