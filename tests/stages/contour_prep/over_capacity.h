// A backend on the host that goes over all that there is room for, as a device does, and calls functions in
// another order.
#pragma once

#include "stages/contour_prep/shared/on_host.h"
#include "tests/stages/harness.h"

namespace contorno::test {

struct OverCapacity : OnHost {
  template <class Key>
  class Sort : public HostSort<Key> {
   public:
    void plan(PlanContext& context, std::size_t count, int bits) {
      count_ = static_cast<unsigned>(count);
      HostSort<Key>::plan(context, count, bits);
    }
    unsigned run(const RunContext& context, const PairArrays<Key>& arrays, std::size_t, Key = {}) const {
      return HostSort<Key>::run(context, arrays, count_);
    }

   private:
    unsigned count_ = 0;
  };
  class Sum {
   public:
    void plan(PlanContext&, std::size_t count) { count_ = count; }
    void run(const RunContext& context, unsigned long long* words, std::size_t) const {
      HostSum{}.run(context, words, count_);
    }

   private:
    std::size_t count_ = 0;
  };

  class SegmentSort {
   public:
    void plan(PlanContext& context, std::size_t count, int bits) {
      count_ = count, bits_ = bits;
      sorted_ = context.temporary(count * sizeof(unsigned long long), MemoryKind::Host);
    }
    void clear(const RunContext&, unsigned long long* keys) const { std::fill_n(keys, count_, ~0ULL); }
    const unsigned long long* run(const RunContext& context, unsigned long long* keys,
                                  const unsigned long long*, const ContoursView&) const {
      auto* const sorted = context.scratch<unsigned long long>(sorted_);
      std::copy_n(keys, count_, sorted);
      CHECK(std::all_of(keys, keys + count_,
                        [&](unsigned long long key) { return key == ~0ULL || key >> bits_ == 0; }));
      std::sort(sorted, sorted + count_);
      return sorted;
    }

   private:
    std::size_t count_ = 0;
    int bits_ = 0;
    Scratch sorted_;
  };

  static unsigned contours(const ContoursView& in) {
    return static_cast<unsigned>(in.format.contour_capacity);
  }
  template <class F>
  static void for_each(const RunContext&, const char*, std::size_t count, const F& f) {
    for (auto i = static_cast<unsigned>(count); i-- > 0;) f(i);
  }
};

/// A stage whose CPU is that backend, with the same declaration.
template <class Step, class Params>
StageType over_capacity(StageType type) {
  type.make_cpu = make_step<Step, Params>;
  type.make_cuda = nullptr;
  return type;
}

/// Contours in a block with room for more.
struct Roomy {
  explicit Roomy(const ContoursView& from) : memory(0) {
    ContoursFormat format = from.format;
    format.point_capacity += 41, format.contour_capacity += 7;
    memory = Guarded(packed_bytes(format));
    view = packed_view(memory.data(), format);
    *view.counts = *from.counts;
    std::copy_n(from.class_begin, format.classes + 1, view.class_begin);
    std::copy_n(from.offsets, from.counts->contours + 1, view.offsets);
    std::copy_n(from.closed, from.counts->contours, view.closed);
    std::copy_n(from.points, from.counts->points, view.points);
    for (unsigned j = 0; j < format.attributes.count(); ++j)
      std::copy_n(from.columns + j * from.format.column_stride(), from.counts->contours,
                  view.columns + j * format.column_stride());
  }
  Guarded memory;
  ContoursView view;
};

}  // namespace contorno::test
