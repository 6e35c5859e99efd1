// The kernels of close_at_border, run on the host by the emulator, against the CPU; the library's sorts and
// sums are done here. Needs no device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include <doctest/doctest.h>

#include "stages/contour_prep/close_at_border/kernels.cuh"
#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/border_contours.h"
#include "tests/stages/contour_prep/emulated_placement.h"

using namespace contorno;
using namespace contorno::close_at_border_cuda;
using namespace contorno::test;

namespace {

using Keys = std::vector<unsigned long long>;
using Numbers = std::vector<unsigned>;

void sort_ends(const Keys& keys, Keys& sorted_keys, const Numbers& ends, Numbers& sorted_ends) {
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  for (std::size_t i = 0; i < order.size(); ++i)
    sorted_keys[i] = keys[order[i]], sorted_ends[i] = ends[order[i]];
}

/// Whether the kernels make of `in` what the CPU made of it, `wanted`.
Comparison same_rings(const ContoursView& in, Orientation orientation, const ContoursView& wanted) {
  EmulatedPlacement placement(in, wanted.format);
  const std::size_t contours = in.format.contour_capacity, count = 2 * contours;
  Keys keys(count, 77), along(count, 77), by_depth(count, 77), open(count + 1, 77);
  Numbers ends(count, 77), ends_along(count, 77), ends_by_depth(count, 77);
  Numbers next(contours, 77), first(contours, 77), before(contours, 77), points(contours, 77);
  const close_at_border_cuda::Job job{.placement = placement.view,
                                      .border = MapBorder(in.format, orientation),
                                      .keys = keys.data(),
                                      .along = along.data(),
                                      .by_depth = by_depth.data(),
                                      .ends = ends.data(),
                                      .ends_along = ends_along.data(),
                                      .ends_by_depth = ends_by_depth.data(),
                                      .open = open.data(),
                                      .next = next.data(),
                                      .first = first.data(),
                                      .before = before.data(),
                                      .points = points.data()};
  const auto run = [&](auto* kernel) {
    emulated::run_grid(3, 64, sizeof(RangeShared), false, [&] { kernel(job); });
  };
  run(find_ends);
  sort_ends(keys, along, ends, ends_along);
  run(count_open);
  add_up(open);
  run(find_depths);
  sort_ends(keys, by_depth, ends_along, ends_by_depth);
  run(link_ends);
  run(find_rings);
  run(measure_rings);
  run(write_rings);
  return placement.intact() ? same_contours(placement.view.out, wanted)
                            : Comparison{"memory around the contours was written"};
}

void check_rings(const ContoursView& in) {
  for (const auto& [orientation, name] : {std::pair{Orientation::Low, "low"}, {Orientation::High, "high"}}) {
    StageHarness stage(close_at_border_stage(), {{"positive_orientation", std::string(name)}});
    stage.run({in});
    CHECK(same_rings(in, orientation, std::get<ContoursView>(stage.value())));
  }
}

}  // namespace

TEST_CASE("the kernels of close_at_border make the rings of the CPU") {
  for (const int per_elsewhere : {0, 3, 20})
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      INFO("seed ", seed, ", one of ", per_elsewhere, " elsewhere");
      const int side = 2 + static_cast<int>(seed);
      const TestContours in(side, 7, 4, border_contours(seed, 4, 5 * side, side, 7, per_elsewhere), {},
                            Attributes{Attribute::Area, Attribute::Depth});
      check_rings(in.view);
    }
  check_rings(TestContours(1, 1, 2, border_contours(3, 2, 9, 1, 1, 3)).view);
  check_rings(TestContours(8, 6, 2, {}).view);
}

TEST_CASE("the kernels of close_at_border pass on how much room contours need") {
  TestContours in(9, 7, 2, border_contours(3, 2, 9, 9, 7, 0));
  in.view.counts->points = in.format.point_capacity + 1;
  check_rings(in.view);
}
