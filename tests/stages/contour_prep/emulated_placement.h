// A ContourPlacement on the host, for kernels that the emulator runs.
#pragma once

#include <vector>

#include "stages/contour_prep/shared/placement.h"
#include "tests/stages/harness.h"

namespace contorno::test {

/// Sums in two levels, in ranges so short that there are many of them.
class EmulatedSums {
 public:
  explicit EmulatedSums(std::size_t count) : words_(count, 77), totals_(kMostRanges, 77) {
    view = {.words = words_.data(), .totals = totals_.data(), .count = static_cast<unsigned>(count)};
    while ((count - 1) >> view.shift >= kMostRanges) ++view.shift;
  }
  RangeSumsView view;

 private:
  std::vector<unsigned long long> words_, totals_;
};

class EmulatedPlacement {
 public:
  explicit EmulatedPlacement(const ContoursView& in) : EmulatedPlacement(in, in.format) {}
  EmulatedPlacement(const ContoursView& in, const ContoursFormat& out)
      : sources(in.format.contour_capacity, 77),
        memory_(packed_bytes(out)),
        sums_(in.format.contour_capacity + 1) {
    view = {.in = in, .out = packed_view(memory_.data(), out), .sums = sums_.view, .sources = sources.data()};
  }
  bool intact() const { return memory_.intact(); }

  std::vector<unsigned> sources;
  PlacementView view;

 private:
  Guarded memory_;
  EmulatedSums sums_;
};

}  // namespace contorno::test
