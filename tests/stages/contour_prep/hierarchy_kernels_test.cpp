// The kernels of hierarchy, run on the host by the emulator, against the CPU; the library's sort is done
// here. Needs no device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include <doctest/doctest.h>

#include <numeric>

#include "stages/contour_prep/hierarchy/kernels.cuh"
#include "stages/contour_prep/hierarchy/stage.h"
#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/nested_contours.h"

using namespace contorno;
using namespace contorno::test;

namespace {

/// The kernels give `out`, which has contours, its attributes; returns whether there are too many around one.
bool find_hierarchy(const ContoursView& out) {
  const std::size_t contours = out.format.contour_capacity;
  unsigned too_many = 7;
  std::vector<Box> boxes(contours);
  std::vector<unsigned long long> areas(contours), keys(contours), sorted_keys(contours);
  std::vector<unsigned> numbers(contours), sorted(contours);
  const hierarchy_cuda::Job job{.out = out,
                                .boxes = boxes.data(),
                                .areas = areas.data(),
                                .none = ~0ULL,
                                .keys = keys.data(),
                                .sorted_keys = sorted_keys.data(),
                                .contours = numbers.data(),
                                .sorted = sorted.data(),
                                .too_many = &too_many};
  emulated::run_grid(2, 96, 0, false, [&] { hierarchy_cuda::measure_boxes(job); });
  sorted = numbers;
  std::stable_sort(sorted.begin(), sorted.end(), [&](unsigned a, unsigned b) { return keys[a] < keys[b]; });
  for (std::size_t i = 0; i < contours; ++i) sorted_keys[i] = keys[sorted[i]];
  emulated::run_grid(2, 96, 0, false, [&] { hierarchy_cuda::find_parents(job); });
  CHECK(too_many <= 1);
  return too_many != 0;
}

}  // namespace

TEST_CASE("the kernels of hierarchy give the attributes of its CPU") {
  const TestContours in(512, 512, 3, nested_contours(72));
  StageHarness stage(hierarchy_stage(), {});
  stage.run({in.view});
  const auto& wanted = std::get<ContoursView>(stage.value());
  std::vector<std::byte> memory;
  const ContoursView made = without_attributes(wanted, memory);
  CHECK_FALSE(find_hierarchy(made));
  CHECK(same_contours(made, wanted));
}

TEST_CASE("the kernels of hierarchy say that a contour lies in too many boxes") {
  for (const int around : {4096, 4097}) {
    // Around the last one alone: all others enclose as much. They have no more than a corner in common with
    // it.
    std::vector<TestContour> contours(static_cast<std::size_t>(around),
                                      {0, true, {{0, 0}, {9, 0}, {0, 9}, {0, 0}}});
    contours.push_back({0, true, {{8, 8}, {8.5, 8}, {8, 8.5}, {8, 8}}});
    const TestContours in(16, 16, 1, contours, {}, kHierarchyAttributes);
    CHECK(find_hierarchy(in.view) == (around > 4096));
  }
}
