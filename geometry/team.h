// Who works on one contour: one thread of the host, or a warp or a block of a device (team.cuh). What is
// computed is written once, as templates over the team. A team has
//
//   each(count, f)            calls f(i) for 0 <= i < count, each once, in any order or at the same time, so
//                             that no call may need another one; when it returns, all calls have been made
//                             and their writes can be seen
//   copy(from, count, to)     copies items of arrays that do not overlap
//   count(count, f)           for how many of these i f(i) is true
//   sum<Sums>(count, add)     add(sums, i) adds item i to the sums of lane i % 32; the lanes are added up in
//                             pairs by Sums::add. So floating-point sums have the same bits for every team
//   join<Sums>(count, add)    the same in any order: for integers, and for what is least or greatest
//   scan(count, of, use)      calls use(i, sum of the integers of(j) for j < i); returns the sum of all
//   synchronise()             orders the memory of its threads
//   is_first()                whether this thread writes what the team has found
//   room(count, elsewhere)    `count` elements of fast memory if the team has so much, or else `elsewhere`
//
// All threads of a team call them together, with the same count, and get the same result. Sums are structs of
// whole words that begin as nothing and have add(Sums).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/host_device.h"

// nvcc instantiates these templates for host and device, and would warn where a team exists for one of them
// only.
#if defined(__CUDACC__)
#define CONTORNO_FOR_TEAMS _Pragma("nv_exec_check_disable")
#else
#define CONTORNO_FOR_TEAMS
#endif

namespace contorno {

inline constexpr unsigned kLanes = 32;

/// The sums of all lanes, a power of two, added up in pairs.
template <class Sums, unsigned kCount>
Sums sum_of_lanes(Sums (&lanes)[kCount]) {
  for (unsigned step = kCount / 2; step > 0; step /= 2)
    for (unsigned lane = 0; lane < step; ++lane) lanes[lane].add(lanes[lane + step]);
  return lanes[0];
}

/// A sum of integers, for join.
struct WholeSum {
  std::uint64_t value = 0;
  CONTORNO_HD void add(const WholeSum& other) { value += other.value; }
};

struct OneThread {
  bool is_first() const { return true; }
  void synchronise() const {}
  template <class F>
  void each(std::uint64_t count, const F& f) const {
    for (std::uint64_t i = 0; i < count; ++i) f(i);
  }
  template <class T>
  void copy(const T* from, std::uint64_t count, T* to) const {
    std::copy_n(from, count, to);
  }
  template <class F>
  std::uint64_t count(std::uint64_t count, const F& f) const {
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < count; ++i) found += f(i) ? 1U : 0U;
    return found;
  }
  template <class Sums, class Add>
  Sums sum(std::uint64_t count, const Add& add) const {
    Sums lanes[kLanes];
    for (std::uint64_t i = 0; i < count; ++i) add(lanes[i % kLanes], i);
    return sum_of_lanes(lanes);
  }
  template <class Sums, class Add>
  Sums join(std::uint64_t count, const Add& add) const {
    Sums all;
    for (std::uint64_t i = 0; i < count; ++i) add(all, i);
    return all;
  }
  template <class Of, class Use>
  std::uint64_t scan(std::uint64_t count, const Of& of, const Use& use) const {
    std::uint64_t before = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t own = of(i);
      use(i, before);
      before += own;
    }
    return before;
  }
  template <class T>
  T* room(std::uint64_t, T* elsewhere) const {
    return elsewhere;
  }
};

// How the threads of a device are divided among contours, for a function of (team, contour).

/// A team of `few` threads takes a contour of fewer than `long_from` stored points, one of `many` threads a
/// longer one; 32 threads are a warp, others a block.
struct ContourTeams {
  static constexpr unsigned kNever = ~0U;
  unsigned few = 32, many = 256, long_from = 1024;
};
/// For what is little work a point: a long contour takes as many threads as a block can have.
inline constexpr ContourTeams kLargeBlocks{.many = 1024, .long_from = 2048};
/// All contours by warps: for what needs the lanes of a warp alone.
inline constexpr ContourTeams kWarpsAlone{.long_from = ContourTeams::kNever};

}  // namespace contorno
