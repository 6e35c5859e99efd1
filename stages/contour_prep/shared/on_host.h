// The sorts, sums and loops of steps on the CPU, by the names that on_device.cuh has for a device, so that
// one text of a step runs on both (stage.h of a step, per_contour.h); and per_contour_step, which declares a
// step.
#pragma once

#include <algorithm>
#include <numeric>

#include "geometry/contour_loop.h"
#include "pipeline/value/copy_contours.h"
#include "stages/contour_prep/shared/per_contour.h"

namespace contorno {

/// PairSort (sorts_and_sums.h) on the CPU, which needs no number of bits. `run` sorts the first `count`
/// pairs, no more than were planned; with a `none` only those whose key is less. Returns how many it has
/// sorted.
template <class Key>
class HostSort {
 public:
  void plan(PlanContext& context, std::size_t count, int /*bits*/) {
    pairs_ = context.temporary(count * sizeof(Pair), MemoryKind::Host);
  }
  unsigned run(const RunContext& context, const PairArrays<Key>& arrays, std::size_t count,
               Key none = {}) const {
    Pair* const pairs = context.scratch<Pair>(pairs_);
    unsigned used = 0;
    for (unsigned i = 0; i < count; ++i)
      if (none == 0 || arrays.keys[i] < none) pairs[used++] = {arrays.keys[i], i};
    std::sort(pairs, pairs + used);  // std::stable_sort allocates, and `run` must not
    for (unsigned i = 0; i < used; ++i)
      arrays.sorted_keys[i] = pairs[i].key, arrays.sorted_values[i] = arrays.values[pairs[i].place];
    return used;
  }

 private:
  struct Pair {
    Key key;
    unsigned place;
    bool operator<(const Pair& other) const {
      return key != other.key ? key < other.key : place < other.place;
    }
  };
  Scratch pairs_;
};

/// KeySort on the CPU, of keys [begins[i], begins[i + 1]) of each contour i: each part is sorted where it
/// lies, and `keys` returned. Where there are more keys than were planned none is sorted; the step asks for
/// more room.
class HostSegmentSort {
 public:
  void plan(PlanContext&, std::uint64_t count, int /*bits*/) { count_ = count; }
  void clear(const RunContext&, unsigned long long*) const {}
  const unsigned long long* run(const RunContext& context, unsigned long long* keys,
                                const unsigned long long* begins, const ContoursView& contours) const {
    const unsigned count = contours_of(contours);
    if (begins[count] <= count_)
      for_contours(context.threads, count,
                   [&](std::uint32_t i) { std::sort(keys + begins[i], keys + begins[i + 1]); });
    return keys;
  }

 private:
  std::uint64_t count_ = 0;
};

/// PrefixSum on the CPU: exclusive, in place, modulo 2^64.
struct HostSum {
  void plan(PlanContext&, std::size_t) {}
  void run(const RunContext&, unsigned long long* words, std::size_t count) const {
    std::exclusive_scan(words, words + count, words, 0ULL);
  }
};

/// OnDevice (on_device.cuh) has the same names.
struct OnHost {
  static constexpr Backend kBackend = Backend::Cpu;
  static constexpr MemoryKind kMemory = MemoryKind::Host;
  static constexpr MemoryKind kAnswers = MemoryKind::Host;  ///< memory for what the host reads behind a run
  using Choice = HostChoice;
  using Selection = HostSelection;
  using Places = HostNewPoints;
  using Order = HostOrder;
  using Sum = HostSum;
  using SegmentSort = HostSegmentSort;
  template <class Key>
  using Sort = HostSort<Key>;

  /// How long a loop over contours is: the number of contours, 0 where they do not fit. On a device it is the
  /// capacity, because only the device knows the number, and what is called looks whether its contour exists.
  static unsigned contours(const ContoursView& in) { return contours_of(in); }
  /// Calls f(i) for every unsigned i below `count`, which is less than 2^32, in one thread: for calls that
  /// take less time than waking other threads.
  template <class F>
  static void for_each(const RunContext&, const char*, std::size_t count, const F& f) {
    for (unsigned i = 0; i < count; ++i) f(i);
  }

  /// Copies the contours of `from` to `to`; where they do not fit, their counts alone.
  static void copy(const RunContext&, const ContoursView& from, const ContoursView& to) {
    if (begin_output(from, to)) copy_contours(from, to);
  }
  /// A device plans how the threads of `each` are divided; here there is nothing to plan.
  template <class Call>
  void plan(const ContoursFormat&) {}
  /// Calls call(team, contour) for all contours, none where they do not fit.
  template <class Call>
  void each(const RunContext& context, const char*, const ContoursView& contours, const Call& call) const {
    if (!contours.fits()) return;
    for_contours(context.threads, contours.counts->contours,
                 [&](std::uint32_t contour) { call(OneThread{}, contour); });
  }
  /// Calls `call` for every contour in one thread.
  template <class Call>
  void each_briefly(const RunContext& context, const char*, const ContoursView& in, const Call& call) const {
    for_each(context, "", contours(in), [&](unsigned contour) { call(OneThread{}, contour); });
  }
};

/// Defined in on_device.cuh, for the steps of steps.cu; only in builds that have CUDA.
template <class Step>
std::unique_ptr<Stage> make_on_device(const ParamSet& params);

/// Declares `Step`, of the form in per_contour.h, and fills in both makers. A build with CUDA then needs a
/// make_on_device<Step> that is compiled by nvcc (steps.cu); where there is none, contour_step takes
/// make_per_contour<Step, OnHost> as make_cpu.
template <class Step>
StageType per_contour_step(ContourStep step) {
  step.make_cpu = make_per_contour<Step, OnHost>;
  step.make_cuda = on_cuda<make_on_device<Step>>();
  return contour_step(std::move(step));
}

}  // namespace contorno
