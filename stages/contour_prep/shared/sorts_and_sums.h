// Sums and sorts of arrays on the device: with memory that is planned, and without waiting.
#pragma once

#include <cstddef>

#include "pipeline/graph/stage.h"
#include "pipeline/value/contours.h"
#include "stages/contour_prep/shared/array_launch.h"

namespace contorno {

// Sums over arrays on the device. How many elements there are is known to the device alone, so the sums go
// over all that there is room for: what is not used is 0.

/// A number of elements as the CUDA libraries take it. Throws Error(BadConfig) when it is 2^31 or more.
int library_count(std::size_t count);

/// The sum of the words before each word of an array, by Thrust. On a host: HostSum (on_host.h).
class PrefixSum {
 public:
  /// Asks for scratch, as part of the stage's plan, for `count` words. Throws what library_count throws.
  void plan(PlanContext& context, std::size_t count);
  /// Enqueues the sums of all `count` words that were planned, modulo 2^64; they take the place of the words.
  void run(const RunContext& context, unsigned long long* words, std::size_t count = 0) const;

 private:
  int count_ = 0;
  std::size_t bytes_ = 0;
  Scratch library_;
};

// Sorts on the device, with memory that was planned and without waiting: few pairs by counting (rank.cuh),
// others by CUB, which looks at those bits of the keys that decide, where Thrust looks at all.

/// Arrays that do not overlap. Pairs with the same key keep their order.
template <class Key>
struct PairArrays {
  const Key* keys;
  Key* sorted_keys;
  const unsigned* values;
  unsigned* sorted_values;
};

/// Sorts pairs of a key, unsigned or unsigned long long, and a number, by their keys. On a host: HostSort
/// (on_host.h).
template <class Key>
class PairSort {
 public:
  /// Asks for scratch, as part of the stage's plan, for `count` pairs whose keys have `bits` bits. Throws
  /// Error(BadConfig) when they are 2^31 or more.
  void plan(PlanContext& context, std::size_t count, int bits);
  /// Enqueues the sort of as many pairs as were planned, and returns their number. (A host sorts the first
  /// `count` pairs, without those whose key is `none` or more unless that is 0, and returns how many.)
  unsigned run(const RunContext& context, const PairArrays<Key>& arrays, std::size_t count = 0,
               Key none = {}) const;

 private:
  static constexpr int kMostRanked = 4096;

  int count_ = 0, bits_ = 0;
  std::size_t bytes_ = 0;
  ArrayLaunch launch_;
  Scratch library_;
};

/// Sorts keys alone, whose highest bits are their contour. On a host: HostSegmentSort (on_host.h).
class KeySort {
 public:
  /// Plans the sort of `count` keys as PairSort does. The key with all bits set stands for none.
  void plan(PlanContext& context, std::size_t count, int bits);
  /// Enqueues that all keys are none at first.
  void clear(const RunContext& context, unsigned long long* keys) const;
  /// Enqueues the sort of all keys that were planned, and returns where they will be in order. (A host sorts
  /// those of each contour, keys[begins[i]] to keys[begins[i + 1] - 1], where they are.)
  const unsigned long long* run(const RunContext& context, unsigned long long* keys,
                                const unsigned long long* begins, const ContoursView& contours) const;

 private:
  int count_ = 0, bits_ = 0;
  std::size_t bytes_ = 0;
  Scratch library_, sorted_;
};

}  // namespace contorno
