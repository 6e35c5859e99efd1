#include "stages/contour_prep/order_nearest/box_tree.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "cuda/memory.h"

namespace contorno {

std::uint64_t BoxTree::most_leaves(const ContoursFormat& format, OpenPoints open) {
  return format.point_capacity / kRun + (open == OpenPoints::Ends ? 2 : 1) * format.contour_capacity;
}

std::uint64_t BoxTree::most_nodes(std::uint64_t leaves) {
  // Halves differ by one at most, so that the deepest level is the first one on which all nodes are small.
  return 2 * std::bit_ceil(std::max<std::uint64_t>((leaves + kLeaves - 1) / kLeaves, 1)) * 2;
}

std::size_t BoxTree::bytes(const ContoursFormat& format, OpenPoints open) {
  const std::uint64_t leaves = most_leaves(format, open);
  return align_up(leaves * sizeof(Leaf)) + align_up(leaves * sizeof(std::uint32_t)) +
         align_up((format.contour_capacity + 1) * sizeof(std::uint32_t)) +
         align_up(most_nodes(leaves) * sizeof(Node));
}

BoxTree::BoxTree(const ContoursFormat& format, OpenPoints open, std::byte* memory) : open_(open) {
  const std::uint64_t leaves = most_leaves(format, open);
  const auto take = [&](std::size_t bytes) {
    std::byte* const begin = memory;
    memory += align_up(bytes);
    return begin;
  };
  leaves_ = reinterpret_cast<Leaf*>(take(leaves * sizeof(Leaf)));
  order_ = reinterpret_cast<std::uint32_t*>(take(leaves * sizeof(std::uint32_t)));
  first_leaf_ = reinterpret_cast<std::uint32_t*>(take((format.contour_capacity + 1) * sizeof(std::uint32_t)));
  nodes_ = reinterpret_cast<Node*>(take(most_nodes(leaves) * sizeof(Node)));
}

void BoxTree::build(const ContoursView& contours, std::uint32_t first, std::uint32_t last) {
  contours_ = &contours;
  leaf_count_ = 0, first_contour_ = first;
  for (std::uint32_t contour = first; contour < last; ++contour) add_leaves(contour);
  first_leaf_[last - first] = leaf_count_;
  std::iota(order_, order_ + leaf_count_, 0U);
  split(0, 0, leaf_count_);
}

void BoxTree::add_leaves(std::uint32_t contour) {
  first_leaf_[contour - first_contour_] = leaf_count_;
  const OwnPoints own(*contours_, contour);
  if (open_ == OpenPoints::Ends && !own.closed && own.count > 1) {
    leaves_[leaf_count_++] = leaf_of(contour, own.begin, own.begin + 1);
    leaves_[leaf_count_++] = leaf_of(contour, own.end - 1, own.end);
    return;
  }
  for (std::uint32_t at = own.begin; at < own.end; at += kRun)
    leaves_[leaf_count_++] = leaf_of(contour, at, std::min(at + kRun, own.end));
}

BoxTree::Leaf BoxTree::leaf_of(std::uint32_t contour, std::uint32_t begin, std::uint32_t end) const {
  Leaf leaf{.box = {}, .contour = contour, .begin = begin, .end = end, .node = 0};
  for (std::uint32_t i = leaf.begin; i < leaf.end; ++i) leaf.box.add(contours_->points[i]);
  return leaf;
}

void BoxTree::split(std::uint32_t node, std::uint32_t begin, std::uint32_t end) {
  Box box;
  for (std::uint32_t i = begin; i < end; ++i) box.add(leaves_[order_[i]].box);
  if (end - begin <= kLeaves) {
    for (std::uint32_t i = begin; i < end; ++i) leaves_[order_[i]].node = node;
    nodes_[node] = {.box = box, .begin = begin, .end = end, .alive = end - begin};
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
}

void BoxTree::remove(std::uint32_t contour) {
  for (std::uint32_t i = first_leaf_[contour - first_contour_]; i < first_leaf_[contour - first_contour_ + 1];
       ++i) {
    std::uint32_t node = leaves_[i].node;
    // A node without anything in it is taken out of the one above.
    while (--nodes_[node].alive == 0 && node != 0) node = (node - 1) / 2;
    leaves_[i].end = leaves_[i].begin;
  }
}

BoxTree::Nearest BoxTree::nearest(std::uint32_t from) const {
  Nearest best;
  const OwnPoints own(*contours_, from);
  for (std::uint32_t at = own.begin; at < own.end; at += kRun)
    search(leaf_of(from, at, std::min(at + kRun, own.end)), best);
  return best;
}

BoxTree::Nearest BoxTree::nearest_to_point(std::uint32_t from) const {
  Nearest best;
  search(leaf_of(0, from, from + 1), best);  // whose it is does not matter
  return best;
}

void BoxTree::search(const Leaf& from, Nearest& best) const {
  constexpr std::size_t kDeepest = 64;  // a level adds one at most
  Visit stack[kDeepest];
  std::size_t waiting = 0;
  const auto visit = [&](std::uint32_t node) {
    if (nodes_[node].alive > 0) stack[waiting++] = {node, from.box.squared_distance(nodes_[node].box)};
  };
  visit(0);
  while (waiting > 0) {
    const Visit next = stack[--waiting];
    // At the same distance there may be a contour before the one that was found.
    if (!(next.squared <= best.squared)) continue;
    const Node& node = nodes_[next.node];
    for (std::uint32_t i = node.begin; i < node.end; ++i) compare(from, leaves_[order_[i]], best);
    if (node.begin < node.end) continue;
    visit(2 * next.node + 1);
    const std::size_t one = waiting;
    visit(2 * next.node + 2);
    // The nearer one is looked at first: it lies on top.
    if (waiting == one + 1 && one > 0 && nodes_[2 * next.node + 1].alive > 0 &&
        stack[waiting - 2].squared < stack[waiting - 1].squared)
      std::swap(stack[waiting - 2], stack[waiting - 1]);
  }
}

void BoxTree::compare(const Leaf& from, const Leaf& to, Nearest& best) const {
  if (to.begin == to.end || !(from.box.squared_distance(to.box) <= best.squared)) return;
  constexpr double kFar = std::numeric_limits<double>::infinity();
  double nearest = kFar;
  for (std::uint32_t i = from.begin; i < from.end; ++i)
    for (std::uint32_t j = to.begin; j < to.end; ++j)
      nearest = std::min(nearest, contorno::squared_distance(contours_->points[i], contours_->points[j]));
  if (nearest < kFar && best.is_farther_than(nearest, to.contour)) best = {to.contour, nearest};
}

}  // namespace contorno
