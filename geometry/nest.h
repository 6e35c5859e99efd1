// Finds what is around contours, by the rules of hierarchy, on the CPU: for hierarchy itself, for steps that
// need what lies in a contour, and for sinks that write regions with their holes.
//
// A tree for each class has the boxes of the contours that are around others, and the largest area in each of
// its parts: those that a place does not lie in, or that enclose no more than the contour that is asked for,
// are left out together. In contours of many points blocks of these are.
#pragma once

#include <atomic>
#include <cstdint>

#include "geometry/contour_loop.h"
#include "geometry/nesting.h"
#include "geometry/point_blocks.h"

namespace contorno::nesting {

/// A part of a tree. Those below it follow it, up to `next`.
struct NestNode {
  Box box;
  std::uint64_t area = 0;            ///< the largest
  std::uint32_t begin = 0, end = 0;  ///< contours, in their order; none where there are parts below
  std::uint32_t next = 0;            ///< the node behind all that are below
};

/// What is computed of a frame's contours; arrays of somebody else with an element a contour, and `blocks`
/// with as many as PointBlocks needs for the points.
struct NestMemory {
  Box* boxes = nullptr;
  std::uint64_t* areas = nullptr;
  std::uint32_t* order = nullptr;
  NestNode* nodes = nullptr;
  Box* blocks = nullptr;

  /// Takes the arrays from an ArrayTaker: about 60 bytes a contour of the planned capacity and 2 a point.
  template <class Taker>
  void arrays(Taker& take, const ContoursFormat& format) {
    const std::size_t contours = format.contour_capacity;
    take(boxes, contours), take(areas, contours), take(order, contours), take(nodes, contours);
    take(blocks, PointBlocks::boxes_for(format.point_capacity));
  }
};

class Nest {
 public:
  /// Measures the contours, which must fit, and makes the trees.
  Nest(const ContoursView& contours, const NestMemory& memory, int threads, const NestRule& rule = {});

  /// What is around a contour of class `of_class`. If there are too many it is not complete.
  Around around(std::uint32_t contour, unsigned of_class) const;
  /// Calls use(contour, around) for each contour, in parallel. Throws Error(BadData) for too many.
  template <class Use>
  void for_each(int threads, const Use& use) const {
    std::atomic<bool> too_many = false;
    for (int k = 0; k < contours_.format.classes; ++k) {
      const std::uint32_t first = contours_.class_begin[k], end = contours_.class_begin[k + 1];
      for_contours(threads, end - first, [&](std::uint32_t i) {
        const Around found = around(first + i, static_cast<unsigned>(k));
        if (found.is_too_many()) too_many = true;
        use(first + i, found);
      });
    }
    if (too_many) throw_too_many();
  }

 private:
  void measure(std::uint32_t contour) const;
  /// Makes a node of the contours at [begin, end) of the order, and those below it; returns its number.
  std::uint32_t split(std::uint32_t node, std::uint32_t begin, std::uint32_t end) const;
  bool is_inside(const Place& place, std::uint32_t contour) const;
  /// Adds the contours of class `of_class` that enclose more than `contour`, and for whose boxes `may_have`
  /// and which themselves `have` a place.
  template <class MayHave, class Have>
  void add_larger(std::uint32_t contour, unsigned of_class, const MayHave& may_have, const Have& have,
                  Around& found) const;

  ContoursView contours_;
  NestMemory memory_;
  NestRule rule_;
};

}  // namespace contorno::nesting
