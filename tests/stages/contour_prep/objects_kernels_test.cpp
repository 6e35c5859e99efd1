// The kernels of objects, run on the host by the emulator, against the CPU; what track gives is taken from
// there, and the library's sort is done here. Needs no device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include <doctest/doctest.h>

#include <algorithm>

#include "stages/contour_prep/hierarchy/kernels.cuh"
#include "stages/contour_prep/objects/kernels.cuh"
#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/nested_contours.h"

using namespace contorno;
using namespace contorno::test;

namespace {

/// What the kernels make of `out`, which has contours and the attributes of track.
void find_objects(const ContoursView& out, const ObjectsParams& params) {
  const std::size_t contours = out.format.contour_capacity;
  const ObjectsRule rule = objects_rule(params, {}, out.format.classes);
  std::vector<std::int64_t> signed_areas(contours);
  std::vector<unsigned> parents(contours), numbers(contours), sorted(contours);
  objects::Work work(params, rule);
  work.out = out, work.areas = signed_areas.data(), work.parents = parents.data();
  emulated::run_grid(2, 96, 0, false, [&] { objects_cuda::begin_objects(work); });

  unsigned too_many = 0;
  std::vector<Box> boxes(contours);
  std::vector<unsigned long long> areas(contours), keys(contours), sorted_keys(contours);
  const hierarchy_cuda::Job job{.out = out,
                                .rule = {.of_class = static_cast<int>(rule.of_class),
                                         .only = out.column(Attribute::Object),
                                         .reach = params.reach},
                                .boxes = boxes.data(),
                                .areas = areas.data(),
                                .none = ~0ULL,
                                .keys = keys.data(),
                                .sorted_keys = sorted_keys.data(),
                                .contours = numbers.data(),
                                .sorted = sorted.data(),
                                .parents = parents.data(),
                                .too_many = &too_many};
  emulated::run_grid(2, 96, 0, false, [&] { hierarchy_cuda::measure_boxes(job); });
  sorted = numbers;
  std::stable_sort(sorted.begin(), sorted.end(), [&](unsigned a, unsigned b) { return keys[a] < keys[b]; });
  for (std::size_t i = 0; i < contours; ++i) sorted_keys[i] = keys[sorted[i]];
  emulated::run_grid(2, 96, 0, false, [&] { hierarchy_cuda::find_parents(job); });
  CHECK(too_many == 0);
  for (unsigned i = 0; i < contours; ++i) objects_cuda::EndObjects{work}(i);
}

}  // namespace

TEST_CASE("the kernels of objects give the attributes of its CPU") {
  std::vector<TestContour> given = nested_contours(73);
  // Spots on the edges of outlines, and near them.
  Random random(5);
  for (int i = 0; i < 80; ++i)
    add_nested(given, 2, 196 + 9 * (i % 8) + random.below(9), 16 + 9 * (i / 8) + random.below(9), 1);
  const TestContours in(512, 512, 3, given);
  for (const bool holes : {false, true})
    for (const double reach : {0.0, 2.0, 30.0})
      for (const int of : {0, 1, 2}) {
        INFO("holes ", holes, ", reach ", reach, ", class ", of);
        ObjectsParams params;
        params.of = std::to_string(of), params.holes = holes, params.reach = reach, params.min_area = 5;
        StageHarness stage(
            objects_stage(),
            {{"of", params.of}, {"holes", holes}, {"reach", reach}, {"min_area", params.min_area}});
        stage.run({in.view});
        const auto& wanted = std::get<ContoursView>(stage.value());
        std::vector<std::byte> memory;
        const ContoursView made = without_attributes(wanted, memory);
        for (const Attribute one : {Attribute::Id, Attribute::Age})
          std::copy_n(wanted.column(one), wanted.counts->contours, made.column(one));
        find_objects(made, params);
        CHECK(same_contours(made, wanted));
        const auto count = std::count_if(wanted.column(Attribute::Object),
                                         wanted.column(Attribute::Object) + wanted.counts->contours,
                                         [](double value) { return value == value; });
        CHECK((count > 20) == (of != 1));
      }
}
