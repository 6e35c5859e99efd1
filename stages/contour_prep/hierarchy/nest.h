// Finds what is around contours, by the rules of hierarchy, on the CPU: for hierarchy itself, for steps that
// need what lies in a contour, and for sinks that write regions with their holes.
#pragma once

#include <cstdint>
#include <span>

#include "stages/contour_prep/hierarchy/rules.h"
#include "stages/contour_prep/shared/contour_loop.h"

namespace contorno::nesting {

/// A contour that may be around others, in its list.
struct Listed {
  std::uint64_t list = 0;
  std::uint32_t contour = 0;
  bool operator<(const Listed& other) const { return list < other.list; }
};

/// What is computed of a frame's contours; arrays of somebody else with an element a contour.
struct NestMemory {
  Box* boxes = nullptr;
  std::uint64_t* areas = nullptr;
  Listed* listed = nullptr;
};

class Nest {
 public:
  /// Measures the contours, which must fit, and lists them by rows.
  Nest(const ContoursView& contours, const NestMemory& memory, int threads);

  /// What is around a contour of class `of_class`.
  Around around(std::uint32_t contour, unsigned of_class) const;
  /// Calls use(contour, around) for each contour, in parallel.
  template <class Use>
  void for_each(int threads, const Use& use) const {
    for (int k = 0; k < contours_.format.classes; ++k) {
      const std::uint32_t first = contours_.class_begin[k], end = contours_.class_begin[k + 1];
      for_contours(threads, end - first,
                   [&](std::uint32_t i) { use(first + i, around(first + i, static_cast<unsigned>(k))); });
    }
  }

 private:
  ContoursView contours_;
  NestMemory memory_;
  std::span<const Listed> listed_;
  unsigned levels_ = 0;  // a bit for each that has lists
};

}  // namespace contorno::nesting
