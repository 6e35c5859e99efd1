// Sums over arrays on the device. How many elements there are is known to the device alone, so the sums go
// over all that there is room for: what is not used is 0.
#pragma once

#include <cstddef>

#include "pipeline/graph/stage.h"

namespace contorno {

/// A number of elements as the CUDA libraries take it. Throws Error(BadConfig) when it is 2^31 or more.
int library_count(std::size_t count);

/// The sum of the words before each word of an array, by CUB, with planned memory and without waiting; Thrust
/// would take memory from an allocator at each call.
class PrefixSum {
 public:
  /// Asks for scratch, as part of the stage's plan, for `count` words. Throws what library_count throws.
  void plan(PlanContext& context, std::size_t count);
  /// Enqueues the sums, modulo 2^64; they take the place of the words.
  void run(const RunContext& context, unsigned long long* words) const;

 private:
  int count_ = 0;
  std::size_t bytes_ = 0;
  Scratch library_;
};

}  // namespace contorno
