// The kernels of drop_small and the sort by counting, run on the host by the emulator, against references.
// Needs no device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include "stages/contour_prep/drop_small/stage.h"
#include "stages/contour_prep/shared/outputs.cuh"
#include "stages/contour_prep/shared/rank.cuh"

#include <doctest/doctest.h>

#include <numeric>

#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/emulated_placement.h"
#include "tests/stages/contour_prep/emulated_teams.h"
#include "tests/stages/contour_prep/reference.h"

using namespace contorno;
using namespace contorno::test;

namespace {

constexpr std::size_t kMostShared = sizeof(RankShared<unsigned long long>);
static_assert(kMostShared >= sizeof(RangeShared));

template <class... Parameters>
void run_kernel(void (*kernel)(Parameters...), const std::type_identity_t<Parameters>&... arguments) {
  emulated::run_grid(3, 64, kMostShared, false, [&] { kernel(arguments...); });
}

/// ContourOrder, behind the words.
void write_whole(EmulatedPlacement& placement) {
  run_kernel(contour_order_cuda::write_whole, placement.view, nullptr);
}

}  // namespace

TEST_CASE("the kernel that sorts pairs by counting keeps the order of those with equal keys") {
  Random random(4);
  for (const unsigned count : {1U, 31U, 32U, 203U, 2111U}) {
    std::vector<unsigned long long> keys(count), sorted(count, 77);
    std::vector<unsigned> values(count), sorted_values(count, 77), order(count);
    for (unsigned i = 0; i < count; ++i)
      keys[i] = random.below(9) == 0 ? ~0ULL : random.below(7), values[i] = 1000 + i;
    run_kernel(rank_pairs<unsigned long long>, keys.data(), sorted.data(), values.data(),
               sorted_values.data(), count);
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) { return keys[a] < keys[b]; });
    for (unsigned i = 0; i < count; ++i) {
      CHECK(sorted[i] == keys[order[i]]);
      CHECK(sorted_values[i] == values[order[i]]);
    }
  }
}

TEST_CASE("the kernels of drop_small write the contours that are large enough, and say which") {
  const std::vector<TestContour> contours = exact_contours(12, 3, 40);
  const TestContours in(64, 64, 3, contours);
  DropSmallParams params{.min_points = 3, .min_length = 9.5, .min_area = 1.25};
  for (const double area : {0.0, 1.25}) {
    params.min_area = area;
    std::vector<std::uint8_t> chosen(contours.size(), 77);
    EmulatedPlacement placement(in.view);
    run_step(in.view, DropSmall(params), ChooseCall{chosen.data()});
    run_kernel(contour_order_cuda::measure_chosen, placement.view, chosen.data());
    write_whole(placement);
    std::vector<TestContour> large;
    std::vector<unsigned> sources;
    for (unsigned i = 0; i < contours.size(); ++i)
      if (reference_size(contours[i], ContourSize::Points) >= 3 &&
          reference_size(contours[i], ContourSize::Length) >= 9.5 &&
          reference_size(contours[i], ContourSize::Area) >= area) {
        large.push_back(contours[i]);
        sources.push_back(i);
      }
    REQUIRE(!large.empty());
    CHECK(large.size() < contours.size());
    CHECK(same_contours(placement.view.out, TestContours(64, 64, 3, large).view));
    CHECK(std::equal(sources.begin(), sources.end(), placement.sources.begin()));
    CHECK(placement.intact());
  }
}
