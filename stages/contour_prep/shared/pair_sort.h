// Sorting on the device with planned memory and without waiting: CUB's radix sort.
#pragma once

#include <cstddef>

#include "pipeline/graph/stage.h"

namespace contorno {

/// Sorts pairs of 32-bit numbers by the first number of each; pairs with the same one keep their order.
class PairSort {
 public:
  /// Asks for scratch, as part of the stage's plan, for `count` pairs whose first numbers have `bits` bits.
  void plan(PlanContext& context, std::size_t count, int bits);
  /// Enqueues the sort; the arrays do not overlap.
  void run(const RunContext& context, const unsigned* keys, unsigned* sorted_keys, const unsigned* values,
           unsigned* sorted_values) const;

 private:
  std::size_t count_ = 0, bytes_ = 0;
  int bits_ = 0;
  Scratch library_;
};

}  // namespace contorno
