// The kernels of measure_map, run on the host by the emulator, against the CPU: the same bits. The library's
// sorts are done here. Needs no device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include <doctest/doctest.h>

#include "stages/contour_prep/hierarchy/kernels.cuh"
#include "stages/contour_prep/measure_map/kernels.cuh"
#include "stages/contour_prep/measure_map/stage.h"
#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/map_regions.h"

using namespace contorno;
using namespace contorno::test;

namespace {

/// What lies in what, as DeviceNest would say it.
std::vector<unsigned> parents_of(const ContoursView& contours) {
  const std::size_t count = contours.counts->contours;
  std::vector<Box> boxes(count);
  std::vector<unsigned long long> areas(count), keys(count), sorted_keys(count);
  std::vector<unsigned> numbers(count), sorted(count), parents(count, 77);
  unsigned too_many = 0;
  const hierarchy_cuda::Job job{.out = contours,
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
  for (std::size_t i = 0; i < count; ++i) sorted_keys[i] = keys[sorted[i]];
  emulated::run_grid(2, 96, 0, false, [&] { hierarchy_cuda::find_parents(job); });
  return parents;
}

/// The memory of a job, with room for so many crossings.
struct EmulatedMeasure {
  std::vector<unsigned> parents;
  std::vector<unsigned char> has_region;
  std::vector<unsigned long long> keys, sorted;
  std::vector<map_measuring::SampleSums> spans;
  unsigned long long count = 77, needed = 77;

  EmulatedMeasure(const ContoursView& contours, std::size_t room)
      : parents(parents_of(contours)),
        has_region(parents.size(), 77),
        keys(room, 77),
        sorted(room, 77),
        spans(room / 2) {}

  void run(const ContoursView& out, const ImageView& map) {
    const map_measuring::CrossingKeys form(out.format.width, out.format.height);
    const measure_map_cuda::Job job{.out = out,
                                    .planes = map_measuring::MapPlanes(map),
                                    .form = form,
                                    .parents = parents.data(),
                                    .has_region = has_region.data(),
                                    .room = keys.size(),
                                    .none = form.first(out.format.contour_capacity),
                                    .count = &count,
                                    .keys = keys.data(),
                                    .sorted = sorted.data(),
                                    .spans = spans.data(),
                                    .needed = &needed};
    emulated::run_grid(2, 96, 0, false, [&] { measure_map_cuda::begin_crossings(job); });
    emulated::run_grid(2, 96, 0, false, [&] { measure_map_cuda::write_crossings(job); });
    sorted = keys;
    const unsigned long long bits = (1ULL << form.bits(out.format.contour_capacity)) - 1;
    CHECK(std::all_of(keys.begin(), keys.end(), [&](unsigned long long key) { return key <= bits; }));
    std::sort(sorted.begin(), sorted.end());
    with_sample_type(map.format.type, [&]<class T>(const T*) {
      emulated::run_grid(2, 96, 0, false, [&] { measure_map_cuda::measure_spans<T>(job); });
    });
    emulated::run_grid(2, 96, 0, false, [&] { measure_map_cuda::measure_regions(job); });
  }
};

}  // namespace

TEST_CASE("the kernels of measure_map give the attributes of its CPU") {
  const TestContours in(160, 140, 3, contours_on_map(34));
  for (const Layout layout : {Layout::Planar, Layout::Interleaved}) {
    const ImageFormat format{
        .width = 160, .height = 140, .channels = 3, .type = ElementType::F32, .layout = layout};
    Random random(9);
    const TestImage map = filled_image<float>(
        format, [&](int, int, int) { return random.below(20) == 0 ? std::nan("") : random.unit() - 0.25; },
        12);
    StageHarness stage(measure_map_stage(), {});
    stage.run({in.view, map.view});
    const auto& wanted = std::get<ContoursView>(stage.value());
    std::vector<std::byte> memory;
    const ContoursView made = without_attributes(wanted, memory);
    EmulatedMeasure enough(made, 40000);
    enough.run(made, map.view);
    CHECK(same_contours(made, wanted));
    CHECK(enough.needed > 1000);
    CHECK(enough.needed <= 40000);
    // Without room nothing is written beyond it, and the host learns how much is needed.
    EmulatedMeasure few(made, 100);
    few.run(made, map.view);
    CHECK(few.needed == enough.needed);
  }
}
