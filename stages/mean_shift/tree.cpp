#include "stages/mean_shift/tree.h"

#include <algorithm>
#include <cstddef>

namespace contorno {
namespace {

/// Halves ranges along their widest side, at multiples of whole leaves and, higher up, of whole nodes.
template <class T>
class Splitter {
 public:
  Splitter(const T* points, int count, int dims)
      : points_(points),
        dims_(static_cast<std::size_t>(dims)),
        keys_(static_cast<std::size_t>(count)),
        low_(dims_),
        high_(dims_) {
    for (std::size_t i = 0; i < keys_.size(); ++i) keys_[i].point = static_cast<int>(i);
  }

  std::vector<int> order() {
    split(0, keys_.size());
    std::vector<int> list;
    for (const Key& key : keys_) list.push_back(key.point);
    return list;
  }

 private:
  /// A point and its coordinate along the side that is being halved.
  struct Key {
    T value = 0;
    int point = 0;
  };

  void split(std::size_t begin, std::size_t end) {
    while (end - begin > kShiftLanes) {
      const std::size_t middle = begin + half_of(end - begin), axis = widest(begin, end);
      for (std::size_t i = begin; i < end; ++i) keys_[i].value = at(keys_[i].point)[axis];
      const auto from = keys_.begin();
      // Equal values in the order of their points, so that the halves are what they are for every library.
      std::nth_element(from + static_cast<std::ptrdiff_t>(begin), from + static_cast<std::ptrdiff_t>(middle),
                       from + static_cast<std::ptrdiff_t>(end), [](const Key& a, const Key& b) {
                         return a.value != b.value ? a.value < b.value : a.point < b.point;
                       });
      split(begin, middle);
      begin = middle;
    }
    std::sort(keys_.begin() + static_cast<std::ptrdiff_t>(begin),
              keys_.begin() + static_cast<std::ptrdiff_t>(end),
              [](const Key& a, const Key& b) { return a.point < b.point; });
  }

  /// About half, such that children of a node stay together: a multiple of the largest power of 32 that is
  /// smaller than the count.
  static std::size_t half_of(std::size_t count) {
    std::size_t unit = kShiftLanes;
    while (count > unit * kShiftLanes) unit *= kShiftLanes;
    return (count + unit - 1) / unit / 2 * unit;
  }

  const T* at(int point) const { return points_ + static_cast<std::size_t>(point) * dims_; }

  std::size_t widest(std::size_t begin, std::size_t end) {
    if (dims_ == 1) return 0;
    const T* first = at(keys_[begin].point);
    std::copy_n(first, dims_, low_.begin());
    std::copy_n(first, dims_, high_.begin());
    T* low = low_.data();
    T* high = high_.data();
    for (std::size_t i = begin + 1; i < end; ++i) {
      const T* point = at(keys_[i].point);
      for (std::size_t k = 0; k < dims_; ++k) {
        low[k] = point[k] < low[k] ? point[k] : low[k];
        high[k] = point[k] > high[k] ? point[k] : high[k];
      }
    }
    std::size_t best = 0;
    for (std::size_t k = 1; k < dims_; ++k)
      if (high[k] - low[k] > high[best] - low[best]) best = k;
    return best;
  }

  const T* points_;
  std::size_t dims_;
  std::vector<Key> keys_;
  std::vector<T> low_, high_;
};

int groups_of(int count) {
  return (count + kShiftLanes - 1) / kShiftLanes;
}

template <class T>
void fill_leaves(MeanShiftTree<T>& tree, const T* points) {
  const auto leaf_size = static_cast<std::size_t>(tree.dims) * kShiftLanes;
  tree.leaves.assign(static_cast<std::size_t>(tree.leaf_count) * leaf_size, kShiftFar<T>);
  for (int position = 0; position < tree.count; ++position) {
    T* leaf = tree.leaves.data() + static_cast<std::size_t>(position / kShiftLanes) * leaf_size;
    const T* point =
        points + static_cast<std::ptrdiff_t>(tree.order[static_cast<std::size_t>(position)]) * tree.dims;
    for (int k = 0; k < tree.dims; ++k) leaf[k * kShiftLanes + position % kShiftLanes] = point[k];
  }
}

/// The box around what is in the lanes of `from`: low and high of one dimension lie `step` lanes apart there
/// (0: points, whose low and high are the same).
template <class T>
void put_box(const T* from, int step, int lanes, T* node, int child) {
  T low = from[0], high = from[step];
  for (int lane = 1; lane < lanes; ++lane) {
    low = std::min(low, from[lane]);
    high = std::max(high, from[step + lane]);
  }
  node[child] = low, node[kShiftLanes + child] = high;
}

template <class T>
void fill_boxes(MeanShiftTree<T>& tree) {
  const auto dims = static_cast<std::size_t>(tree.dims);
  int below = tree.leaf_count, nodes = 0;
  do {
    tree.level_begin[static_cast<std::size_t>(tree.levels++)] = nodes;
    below = groups_of(below);
    nodes += below;
  } while (below > 1);
  const std::size_t node_size = dims * 2 * kShiftLanes, leaf_size = dims * kShiftLanes;
  tree.boxes.assign(static_cast<std::size_t>(nodes) * node_size, kShiftFar<T>);
  int children = tree.leaf_count, grandchildren = tree.count;
  for (int level = 0; level < tree.levels; ++level) {
    const auto first = static_cast<std::size_t>(tree.level_begin[static_cast<std::size_t>(level)]);
    for (int child = 0; child < children; ++child) {
      T* node = tree.boxes.data() + (first + static_cast<std::size_t>(child / kShiftLanes)) * node_size;
      const int lanes = std::min(kShiftLanes, grandchildren - child * kShiftLanes);
      const T* from = tree.leaves.data() + static_cast<std::size_t>(child) * leaf_size;
      if (level > 0) {
        const auto before = static_cast<std::size_t>(tree.level_begin[static_cast<std::size_t>(level) - 1]);
        from = tree.boxes.data() + (before + static_cast<std::size_t>(child)) * node_size;
      }
      const int rows = level > 0 ? 2 : 1;
      for (std::size_t k = 0; k < dims; ++k)
        put_box(from + k * static_cast<std::size_t>(rows) * kShiftLanes, level > 0 ? kShiftLanes : 0, lanes,
                node + k * 2 * kShiftLanes, child % kShiftLanes);
    }
    grandchildren = children;
    children = groups_of(children);
  }
}

}  // namespace

template <class T>
MeanShiftTreeView<T> MeanShiftTree<T>::view() const {
  MeanShiftTreeView<T> view{.leaves = leaves.data(),
                            .boxes = boxes.data(),
                            .dims = dims,
                            .leaf_count = leaf_count,
                            .levels = levels};
  std::copy(level_begin.begin(), level_begin.end(), view.level_begin);
  return view;
}

template <class T>
MeanShiftTree<T> make_mean_shift_tree(const T* points, int count, int dims) {
  MeanShiftTree<T> tree;
  tree.dims = dims, tree.count = count, tree.leaf_count = groups_of(count);
  tree.order = Splitter<T>(points, count, dims).order();
  fill_leaves(tree, points);
  fill_boxes(tree);
  return tree;
}

template struct MeanShiftTree<float>;
template struct MeanShiftTree<double>;
template MeanShiftTree<float> make_mean_shift_tree(const float*, int, int);
template MeanShiftTree<double> make_mean_shift_tree(const double*, int, int);

}  // namespace contorno
