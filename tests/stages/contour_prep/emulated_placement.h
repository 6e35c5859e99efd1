// A ContourPlacement on the host, for kernels that the emulator runs; the library's sums are done here.
#pragma once

#include <numeric>
#include <vector>

#include "stages/contour_prep/shared/placement.h"
#include "tests/stages/harness.h"

namespace contorno::test {

inline void add_up(std::vector<unsigned long long>& words) {
  std::exclusive_scan(words.begin(), words.end(), words.begin(), 0ULL);
}

class EmulatedPlacement {
 public:
  explicit EmulatedPlacement(const ContoursView& in) : EmulatedPlacement(in, in.format) {}
  EmulatedPlacement(const ContoursView& in, const ContoursFormat& out)
      : sources(in.format.contour_capacity, 77),
        memory_(packed_bytes(out)),
        words_(in.format.contour_capacity + 1, 77) {
    view = {
        .in = in, .out = packed_view(memory_.data(), out), .words = words_.data(), .sources = sources.data()};
  }
  void add_up() { test::add_up(words_); }
  bool intact() const { return memory_.intact(); }

  std::vector<unsigned> sources;
  PlacementView view;

 private:
  Guarded memory_;
  std::vector<unsigned long long> words_;
};

}  // namespace contorno::test
