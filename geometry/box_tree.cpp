#include "geometry/box_tree.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/memory.h"

namespace contorno {

std::uint64_t BoxTree::most_leaves(const ContoursFormat& format) {
  return format.point_capacity;  // none is empty
}

std::uint64_t BoxTree::most_nodes(std::uint64_t leaves, const Grain& grain) {
  // Halves differ by one at most, so that the deepest level is the first one on which all nodes are small.
  return 2 * std::bit_ceil(std::max<std::uint64_t>((leaves + grain.leaves - 1) / grain.leaves, 1)) * 2;
}

std::uint64_t BoxTree::most_nodes(const ContoursFormat& format) {
  const std::uint64_t runs = format.point_capacity / kRuns.run + 2 * format.contour_capacity;
  return std::max(most_nodes(runs, kRuns), most_nodes(most_leaves(format), kPoints));
}

std::size_t BoxTree::bytes(const ContoursFormat& format) {
  const std::uint64_t leaves = most_leaves(format);
  return align_up(leaves * sizeof(Leaf)) + align_up(leaves * sizeof(std::uint32_t)) +
         align_up((format.contour_capacity + 1) * sizeof(std::uint32_t)) +
         align_up(most_nodes(format) * sizeof(Node)) + align_up(format.contour_capacity);
}

BoxTree::BoxTree(const ContoursFormat& format, OpenPoints open, std::byte* memory) : open_(open) {
  const std::uint64_t leaves = most_leaves(format);
  const auto take = [&](std::size_t bytes) {
    std::byte* const begin = memory;
    memory += align_up(bytes);
    return begin;
  };
  leaves_ = reinterpret_cast<Leaf*>(take(leaves * sizeof(Leaf)));
  order_ = reinterpret_cast<std::uint32_t*>(take(leaves * sizeof(std::uint32_t)));
  first_leaf_ = reinterpret_cast<std::uint32_t*>(take((format.contour_capacity + 1) * sizeof(std::uint32_t)));
  nodes_ = reinterpret_cast<Node*>(take(most_nodes(format) * sizeof(Node)));
  gone_ = reinterpret_cast<std::uint8_t*>(take(format.contour_capacity));
}

void BoxTree::build(const ContoursView& contours, std::uint32_t first, std::uint32_t last) {
  contours_ = &contours;
  first_contour_ = first, last_contour_ = last;
  compared_ = 0, most_compared_ = kMostCompared * (contours.offsets[last] - contours.offsets[first] + 1);
  std::fill_n(gone_, last - first, std::uint8_t{0});
  build(kRuns);
}

void BoxTree::build(const Grain& grain) {
  grain_ = grain;
  leaf_count_ = 0;
  for (std::uint32_t contour = first_contour_; contour < last_contour_; ++contour) add_leaves(contour);
  first_leaf_[last_contour_ - first_contour_] = leaf_count_;
  std::iota(order_, order_ + leaf_count_, 0U);
  split(0, 0, leaf_count_);
}

void BoxTree::refine_if_slow() {
  if (grain_.run == kPoints.run || compared_ <= most_compared_) return;
  build(kPoints);
  for (std::uint32_t i = 0; i < last_contour_ - first_contour_; ++i)
    if (gone_[i] != 0) remove(first_contour_ + i);
}

void BoxTree::add_leaves(std::uint32_t contour) {
  first_leaf_[contour - first_contour_] = leaf_count_;
  const OwnPoints own(*contours_, contour);
  if (open_ == OpenPoints::Ends && !own.closed && own.count > 1) {
    leaves_[leaf_count_++] = leaf_of(contour, own.begin, own.begin + 1);
    leaves_[leaf_count_++] = leaf_of(contour, own.end - 1, own.end);
    return;
  }
  for (std::uint32_t at = own.begin; at < own.end; at += grain_.run)
    leaves_[leaf_count_++] = leaf_of(contour, at, std::min(at + grain_.run, own.end));
}

BoxTree::Leaf BoxTree::leaf_of(std::uint32_t contour, std::uint32_t begin, std::uint32_t end) const {
  Leaf leaf{.box = {}, .contour = contour, .begin = begin, .end = end, .node = 0};
  for (std::uint32_t i = leaf.begin; i < leaf.end; ++i) leaf.box.add(contours_->points[i]);
  return leaf;
}

void BoxTree::split(std::uint32_t node, std::uint32_t begin, std::uint32_t end) {
  Box box;
  for (std::uint32_t i = begin; i < end; ++i) box.add(leaves_[order_[i]].box);
  if (end - begin <= grain_.leaves) {
    for (std::uint32_t i = begin; i < end; ++i) leaves_[order_[i]].node = node;
    nodes_[node] = {.box = box, .begin = begin, .end = end, .alive = end - begin};
    find_first(node);
    return;
  }
  const bool by_row = static_cast<double>(box.bottom) - static_cast<double>(box.top) >
                      static_cast<double>(box.right) - static_cast<double>(box.left);
  const std::uint32_t middle = begin + (end - begin) / 2;
  std::nth_element(order_ + begin, order_ + middle, order_ + end, [&](std::uint32_t a, std::uint32_t b) {
    const Box &one = leaves_[a].box, &other = leaves_[b].box;
    const float left = by_row ? one.top : one.left, right = by_row ? other.top : other.left;
    return left != right ? left < right : a < b;
  });
  split(2 * node + 1, begin, middle);
  split(2 * node + 2, middle, end);
  nodes_[node] = {.box = box, .begin = 0, .end = 0, .alive = 2};
  find_first(node);
}

/// Finds the first contour of those that are left in a node.
void BoxTree::find_first(std::uint32_t node) {
  Node& of = nodes_[node];
  of.contour = Nearest::kNone;
  if (of.begin == of.end) {
    for (const std::uint32_t child : {2 * node + 1, 2 * node + 2})
      if (nodes_[child].alive > 0) of.contour = std::min(of.contour, nodes_[child].contour);
    return;
  }
  for (std::uint32_t i = of.begin; i < of.end; ++i)
    if (const Leaf& leaf = leaves_[order_[i]]; leaf.begin < leaf.end)
      of.contour = std::min(of.contour, leaf.contour);
}

void BoxTree::remove(std::uint32_t contour) {
  const std::uint32_t number = contour - first_contour_;
  gone_[number] = 1;
  for (std::uint32_t i = first_leaf_[number]; i < first_leaf_[number + 1]; ++i) {
    leaves_[i].end = leaves_[i].begin;
    std::uint32_t node = leaves_[i].node;
    // A node without anything in it is taken out of the one above.
    bool is_empty = --nodes_[node].alive == 0, changes = nodes_[node].contour == contour;
    if (changes) find_first(node);
    while (node != 0 && (is_empty || changes)) {
      node = (node - 1) / 2;
      if (is_empty) is_empty = --nodes_[node].alive == 0;
      const std::uint32_t before = nodes_[node].contour;
      find_first(node);
      changes = nodes_[node].contour != before;
    }
  }
}

BoxTree::Nearest BoxTree::nearest(std::uint32_t from) {
  refine_if_slow();
  Nearest best;
  const OwnPoints own(*contours_, from);
  for (std::uint32_t at = own.begin; at < own.end; at += grain_.run)
    search(leaf_of(from, at, std::min(at + grain_.run, own.end)), best);
  return best;
}

BoxTree::Nearest BoxTree::nearest_to_point(std::uint32_t from) {
  refine_if_slow();
  Nearest best;
  search(leaf_of(0, from, from + 1), best);  // whose it is does not matter
  return best;
}

void BoxTree::search(const Leaf& from, Nearest& best) {
  constexpr std::size_t kDeepest = 64;  // a level adds one at most
  Visit stack[kDeepest];
  std::size_t waiting = 0;
  const auto visit = [&](std::uint32_t node) {
    if (nodes_[node].alive > 0) stack[waiting++] = {node, from.box.squared_distance(nodes_[node].box)};
  };
  visit(0);
  while (waiting > 0) {
    const Visit next = stack[--waiting];
    ++compared_;
    const Node& node = nodes_[next.node];
    // At the same distance there may be a contour before the one that was found.
    if (!best.is_farther_than(next.squared, node.contour)) continue;
    for (std::uint32_t i = node.begin; i < node.end; ++i) compare(from, leaves_[order_[i]], best);
    if (node.begin < node.end) continue;
    const std::size_t below = waiting;
    visit(2 * next.node + 1);
    visit(2 * next.node + 2);
    // The nearer one is looked at first: it lies on top; of equal ones that with the first contour.
    if (waiting == below + 2) {
      Visit &one = stack[below], &other = stack[below + 1];
      if (one.squared < other.squared ||
          (one.squared == other.squared && nodes_[one.node].contour < nodes_[other.node].contour))
        std::swap(one, other);
    }
  }
}

void BoxTree::compare(const Leaf& from, const Leaf& to, Nearest& best) {
  if (to.begin == to.end || !best.is_farther_than(from.box.squared_distance(to.box), to.contour)) return;
  constexpr double kFar = std::numeric_limits<double>::infinity();
  double nearest = kFar;
  for (std::uint32_t i = from.begin; i < from.end; ++i)
    for (std::uint32_t j = to.begin; j < to.end; ++j)
      nearest = std::min(nearest, contorno::squared_distance(contours_->points[i], contours_->points[j]));
  compared_ += std::uint64_t{from.end - from.begin} * (to.end - to.begin);
  if (nearest < kFar && best.is_farther_than(nearest, to.contour)) best = {to.contour, nearest};
}

}  // namespace contorno
