#include "stages/mean_shift/climb.h"

#include <algorithm>
#include <bit>

#include "pipeline/shared/loops.h"

namespace contorno {
namespace {

constexpr int kChunk = 64;  // starts that a thread takes at a time

int chunks_of(int count) {
  return (count + kChunk - 1) / kChunk;
}

template <class T>
class Climber {
 public:
  Climber(const ClimbTask<T>& task, int threads, Simd simd)
      : task_(task), tree_(task.tree->view()), lanes_(mean_shift_lanes<T>(simd)), threads_(threads) {}

  ClimbSummary one_by_one() {
    std::vector<ClimbSummary> parts(static_cast<std::size_t>(chunks_of(task_.count)));
    for_tasks(threads_, chunks_of(task_.count), [&](int chunk) {
      MeanShiftScratch<T> scratch(tree_);
      ClimbSummary& part = parts[static_cast<std::size_t>(chunk)];
      for (int i = chunk * kChunk; i < std::min(task_.count, (chunk + 1) * kChunk); ++i)
        climb(i, scratch, part);
    });
    ClimbSummary all;
    for (const ClimbSummary& part : parts) {
      all.iterations = std::max(all.iterations, part.iterations);
      all.squared = std::max(all.squared, part.squared);
      all.converged = all.converged && part.converged;
    }
    return all;
  }

  /// All points step together. A point whose step was nothing stays where it is for ever.
  ClimbSummary together(double stop) {
    const auto count = static_cast<std::size_t>(task_.count);
    std::copy_n(task_.starts, count * static_cast<std::size_t>(tree_.dims), task_.ends);
    std::vector<double> squares(count, 1);
    ClimbSummary summary{.converged = false};
    while (!summary.converged && summary.iterations < task_.rule.most) {
      for_tasks(threads_, chunks_of(task_.count), [&](int chunk) {
        MeanShiftScratch<T> scratch(tree_);
        for (int i = chunk * kChunk; i < std::min(task_.count, (chunk + 1) * kChunk); ++i) {
          const int point = task_.order != nullptr ? task_.order[i] : i;
          double& square = squares[static_cast<std::size_t>(point)];
          if (square > 0) square = static_cast<double>(step(end_of(point), end_of(point), scratch));
        }
      });
      ++summary.iterations;
      summary.squared = sum_of_squares(squares.data(), task_.count);
      summary.converged = summary.squared < stop;
    }
    return summary;
  }

 private:
  T* end_of(int point) const { return task_.ends + static_cast<std::ptrdiff_t>(point) * tree_.dims; }

  T step(const T* y, T* next, MeanShiftScratch<T>& scratch) const {
    return lanes_.step(tree_, task_.rule, y, next, scratch);
  }

  void climb(int i, MeanShiftScratch<T>& scratch, ClimbSummary& part) const {
    const int point = task_.order != nullptr ? task_.order[i] : i;
    T* y = end_of(point);
    std::copy_n(task_.starts + static_cast<std::ptrdiff_t>(point) * tree_.dims, tree_.dims, y);
    T squared = 0;
    int steps = 0;
    bool arrived = false;
    while (!arrived && steps < task_.rule.most) {
      squared = step(y, y, scratch);
      ++steps;
      arrived = squared < task_.rule.stop || squared == T(0);
    }
    part.iterations = std::max(part.iterations, steps);
    part.squared = std::max(part.squared, static_cast<double>(squared));
    part.converged = part.converged && arrived;
  }

  const ClimbTask<T>& task_;
  MeanShiftTreeView<T> tree_;
  const MeanShiftLanes<T>& lanes_;
  int threads_;
};

}  // namespace

double sum_of_squares(const double* squares, int count) {
  double lanes[kNormLanes] = {};
  for (int i = 0; i < count; ++i) lanes[i % kNormLanes] += squares[i];
  for (int half = kNormLanes / 2; half > 0; half /= 2)
    for (int lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  return lanes[0];
}

template <class T>
ClimbSummary climb_on_cpu(const ClimbTask<T>& task, int threads, Simd simd) {
  Climber<T> climber(task, threads, simd);
  return task.stop == MeanShiftStop::PerPoint ? climber.one_by_one()
                                              : climber.together(static_cast<double>(task.rule.stop));
}

template <class T>
std::vector<int> connected_labels(const MeanShiftTree<T>& ends, const T* points, T limit, Simd simd) {
  const MeanShiftLanes<T>& lanes = mean_shift_lanes<T>(simd);
  const MeanShiftTreeView<T> tree = ends.view();
  MeanShiftScratch<T> scratch(tree);
  const auto count = static_cast<std::size_t>(ends.count);
  std::vector<std::uint32_t> open(static_cast<std::size_t>(ends.leaf_count), ~0U);  // lanes without a label
  if (ends.count % kShiftLanes != 0) open.back() = (1U << (ends.count % kShiftLanes)) - 1U;
  std::vector<int> position(count), labels(count, -1), reached;
  for (std::size_t i = 0; i < count; ++i)
    position[static_cast<std::size_t>(ends.order[i])] = static_cast<int>(i);
  const auto claim = [&](int at, std::uint32_t which, int label) {
    open[static_cast<std::size_t>(at)] &= ~which;
    for (; which != 0; which &= which - 1) {
      const int point = ends.order[static_cast<std::size_t>(at * kShiftLanes + std::countr_zero(which))];
      labels[static_cast<std::size_t>(point)] = label;
      reached.push_back(point);
    }
  };
  int next = 0;
  for (std::size_t first = 0; first < count; ++first) {
    if (labels[first] >= 0) continue;
    const int label = next++;
    claim(position[first] / kShiftLanes, 1U << (position[first] % kShiftLanes), label);
    while (!reached.empty()) {
      const T* y = points + static_cast<std::ptrdiff_t>(reached.back()) * ends.dims;
      reached.pop_back();
      const int near = lanes.near_leaves(tree, y, limit, scratch);
      for (int i = 0; i < near; ++i) {
        const int leaf = scratch.leaves[static_cast<std::size_t>(i)];
        const std::uint32_t still = open[static_cast<std::size_t>(leaf)];
        if (still != 0) claim(leaf, still & lanes.near_lanes(tree.leaf(leaf), ends.dims, y, limit), label);
      }
    }
  }
  return labels;
}

template <class T>
std::vector<int> nearest_ends(const MeanShiftTree<T>& ends, const T* points, int count, T limit, int threads,
                              Simd simd) {
  const MeanShiftLanes<T>& lanes = mean_shift_lanes<T>(simd);
  const MeanShiftTreeView<T> tree = ends.view();
  std::vector<int> nearest(static_cast<std::size_t>(count), -1);
  const auto squared = [&](const T* leaf, int lane, const T* y) {
    T d2 = 0;
    for (int k = 0; k < ends.dims; ++k) {
      const T away = leaf[k * kShiftLanes + lane] - y[k];
      d2 = d2 + away * away;
    }
    return d2;
  };
  for_tasks(threads, chunks_of(count), [&](int chunk) {
    MeanShiftScratch<T> scratch(tree);
    for (int p = chunk * kChunk; p < std::min(count, (chunk + 1) * kChunk); ++p) {
      const T* y = points + static_cast<std::ptrdiff_t>(p) * ends.dims;
      const int near = lanes.near_leaves(tree, y, limit, scratch);
      T least = limit;
      int& best = nearest[static_cast<std::size_t>(p)];
      for (int i = 0; i < near; ++i) {
        const int leaf = scratch.leaves[static_cast<std::size_t>(i)];
        for (std::uint32_t lanes_left = lanes.near_lanes(tree.leaf(leaf), ends.dims, y, limit);
             lanes_left != 0; lanes_left &= lanes_left - 1) {
          const int lane = std::countr_zero(lanes_left);
          const int end = ends.order[static_cast<std::size_t>(leaf * kShiftLanes + lane)];
          const T d2 = squared(tree.leaf(leaf), lane, y);
          if (d2 < least || (d2 == least && end < best)) least = d2, best = end;
        }
      }
    }
  });
  return nearest;
}

template ClimbSummary climb_on_cpu(const ClimbTask<float>&, int, Simd);
template ClimbSummary climb_on_cpu(const ClimbTask<double>&, int, Simd);
template std::vector<int> connected_labels(const MeanShiftTree<float>&, const float*, float, Simd);
template std::vector<int> connected_labels(const MeanShiftTree<double>&, const double*, double, Simd);
template std::vector<int> nearest_ends(const MeanShiftTree<float>&, const float*, int, float, int, Simd);
template std::vector<int> nearest_ends(const MeanShiftTree<double>&, const double*, int, double, int, Simd);

}  // namespace contorno
