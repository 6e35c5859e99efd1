// The kernels of drop_small and largest_first, run on the host by the emulator, against a reference and
// the CPU; the library's sorts are done here. Needs no device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include "stages/contour_prep/largest_first/kernels.cuh"
#include "stages/contour_prep/drop_small/stage.h"
#include "stages/contour_prep/shared/outputs.cuh"
#include "stages/contour_prep/shared/rank.cuh"

#include <doctest/doctest.h>

#include <limits>
#include <numeric>

#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/emulated_placement.h"
#include "tests/stages/contour_prep/emulated_teams.h"
#include "tests/stages/contour_prep/reference.h"

using namespace contorno;
using namespace contorno::largest_first_cuda;
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

/// Runs the kernels of largest_first on `in`, and keeps what they wrote.
class EmulatedLargestFirst {
 public:
  EmulatedLargestFirst(const ContoursView& in, ContourSize by, int limit) : placement_(in) {
    view = placement_.view.out;
    const std::size_t capacity = in.format.contour_capacity;
    std::vector<unsigned long long> keys(capacity, 77), sorted_keys(capacity);
    std::vector<unsigned> contours(capacity, 77), sorted(capacity);
    const largest_first_cuda::Arrays arrays{.keys = keys.data(),
                                            .sorted_keys = sorted_keys.data(),
                                            .contours = contours.data(),
                                            .sorted = sorted.data()};
    run_kernel(clear_keys, arrays, static_cast<unsigned>(capacity));
    run_teams(in, SizeKeys{in, by, keys.data()});
    std::iota(sorted.begin(), sorted.end(), 0U);
    CHECK(contours == sorted);
    std::stable_sort(sorted.begin(), sorted.end(), [&](unsigned a, unsigned b) { return keys[a] < keys[b]; });
    placement_.view.order = sorted.data();
    run_kernel(contour_order_cuda::measure_first, placement_.view,
               limit > 0 ? static_cast<unsigned>(limit) : ~0U);
    write_whole(placement_);
  }

  ContoursView view;

 private:
  EmulatedPlacement placement_;
};

}  // namespace

TEST_CASE("the kernels of largest_first give the contours of the reference") {
  constexpr int kClasses = 5;
  const std::vector<TestContour> contours = exact_contours(5, kClasses, 40);
  const TestContours in(64, 64, kClasses, contours);
  for (const ContourSize by : {ContourSize::Points, ContourSize::Length, ContourSize::Area})
    for (const int limit : {0, 1, 7}) {
      INFO("by ", static_cast<int>(by), ", limit ", limit);
      const EmulatedLargestFirst emulated(in.view, by, limit);
      const TestContours wanted(64, 64, kClasses, reference_largest_first(contours, kClasses, by, limit));
      CHECK(same_contours(emulated.view, wanted.view));
    }
}

TEST_CASE("the kernels of largest_first keep contours without size in the last of the most classes") {
  std::vector<TestContour> contours;
  for (const int k : {0, 500, kMostSizedClasses - 1})
    for (int i = 0; i < 3; ++i) contours.push_back({k, false, {{i, 1}, {i, 2}}});
  TestContours in(8, 8, kMostSizedClasses, contours);
  // Room for more: what is unused has the key of the last class without size, and must come behind it.
  ContoursFormat roomy = in.format;
  roomy.contour_capacity += 7;
  Guarded memory(packed_bytes(roomy));
  const ContoursView view = packed_view(memory.data(), roomy);
  *view.counts = *in.view.counts;
  std::copy_n(in.view.class_begin, roomy.classes + 1, view.class_begin);
  std::copy_n(in.view.offsets, contours.size() + 1, view.offsets);
  std::copy_n(in.view.closed, contours.size(), view.closed);
  std::copy_n(in.view.points, in.format.point_capacity, view.points);
  const EmulatedLargestFirst emulated(view, ContourSize::Area, 2);
  const TestContours wanted(8, 8, kMostSizedClasses,
                            reference_largest_first(contours, kMostSizedClasses, ContourSize::Area, 2));
  CHECK(same_contours(emulated.view, wanted.view));
}

TEST_CASE("the kernels of largest_first and the CPU agree on contours whose sizes are not exact") {
  Random random(8);
  std::vector<TestContour> contours;
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 30; ++i) {
      TestContour contour{k, i % 4 != 0, {}};
      for (int p = 0; p < 3 + i; ++p) contour.points.emplace_back(random.unit() * 60, random.unit() * 60);
      contours.push_back(contour);
    }
  const TestContours in(64, 64, 3, contours);
  for (const char* by : {"length", "area"}) {
    StageHarness stage(largest_first_stage(), {{"by", std::string(by)}, {"limit", std::int64_t{20}}});
    stage.run({in.view});
    const EmulatedLargestFirst emulated(in.view, by[0] == 'l' ? ContourSize::Length : ContourSize::Area, 20);
    CHECK(same_contours(emulated.view, std::get<ContoursView>(stage.value())));
  }
}

TEST_CASE("the kernels of largest_first pass on how much room contours need that did not fit") {
  TestContours in(64, 64, 2, exact_contours(6, 2, 9));
  in.view.counts->contours = in.format.contour_capacity + 1;
  const EmulatedLargestFirst emulated(in.view, ContourSize::Area, 0);
  CHECK(emulated.view.counts->contours == in.view.counts->contours);
  CHECK(emulated.view.class_begin[2] == 0);
}

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
