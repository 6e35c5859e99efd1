// The kernels of track, run on the host by the emulator over the frames of a scene, against the CPU: the same
// ids, and the same state behind every frame; the library's sort is done here. Needs no device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "stages/contour_prep/track/kernels.cuh"
#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/track_reference.h"

using namespace contorno;
using namespace contorno::test;

namespace {

/// Runs the kernels on what `stage` began with, for the contours that it made.
void run_kernels(const StageHarness& stage, const TrackParams& params, const ContoursView& made,
                 std::vector<std::byte>& after) {
  const int classes = made.format.classes;
  std::vector<std::byte> before = stage.states().before;
  const std::size_t contours = made.format.contour_capacity;
  const auto objects = static_cast<std::size_t>(params.max_objects);
  std::vector<tracking::Seen> seen(contours);
  std::vector<unsigned> choices(contours, 77), scores(contours, 77), sources(contours, 77), numbers(objects),
      sorted(objects);
  std::vector<unsigned long long> keys(objects), sorted_keys(objects), offers(objects, 77);
  const track_cuda::Job job{.out = made,
                            .limits = tracking::Limits(params),
                            .number = &stage.states().frame,
                            .before = tracking::state_view(before.data(), classes),
                            .after = tracking::state_view(after.data(), classes),
                            .sources = sources.data(),
                            .seen = seen.data(),
                            .choices = choices.data(),
                            .scores = scores.data(),
                            .none = ~0ULL,
                            .keys = keys.data(),
                            .sorted_keys = sorted_keys.data(),
                            .objects = numbers.data(),
                            .sorted = sorted.data(),
                            .offers = offers.data()};
  for (unsigned i = 0; i < objects; ++i) track_cuda::ListObjects{job}(i);
  sorted = numbers;
  std::stable_sort(sorted.begin(), sorted.end(), [&](unsigned a, unsigned b) { return keys[a] < keys[b]; });
  for (std::size_t i = 0; i < objects; ++i) sorted_keys[i] = keys[sorted[i]];
  emulated::run_grid(2, 96, 0, false, [&] { track_cuda::look(job); });
  emulated::run_grid(1, 96, sizeof(track_cuda::SettleShared), false, [&] { track_cuda::settle(job); });
  for (unsigned i = 0; i < made.counts->contours; ++i) CHECK(sources[i] == i);
}

void check_scene(const Scene& scene, int classes, const TrackParams& params) {
  StageHarness stage(track_stage(), {{"max_missed", std::int64_t{params.max_missed}},
                                     {"max_objects", std::int64_t{params.max_objects}}});
  for (std::size_t i = 0; i < scene.frames.size(); ++i) {
    INFO("frame ", i);
    const TestContours in(512, 512, classes, scene.frames[i]);
    stage.next_frame(scene.numbers[i]).run({in.view});
    const auto& wanted = std::get<ContoursView>(stage.value());
    std::vector<std::byte> memory(packed_bytes(wanted.format)), after(stage.states().bytes, kGuard);
    std::memcpy(memory.data(), wanted.counts, memory.size());
    const ContoursView made = packed_view(memory.data(), wanted.format);
    for (const Attribute one : {Attribute::Id, Attribute::Age})
      std::fill_n(made.column(one), wanted.counts->contours, -77.0);
    run_kernels(stage, params, made, after);
    CHECK(same_contours(made, wanted));
    CHECK(after == stage.states().after);
  }
}

}  // namespace

TEST_CASE("the kernels of track give the ids and the state of its CPU") {
  check_scene(moving_scene(33, 3, 120, 24), 3, {.max_missed = 2, .max_objects = 200});
  check_scene(moving_scene(34, 1, 40, 12), 1, {.max_missed = 4, .max_objects = 30});
}

TEST_CASE("the kernels of track settle contours that want the same objects") {
  Scene scene;
  Random random(9);
  for (std::uint64_t frame = 0; frame < 4; ++frame) {
    std::vector<TestContour> heap;
    for (int i = 0; i < 70; ++i) {
      const double x = 100 + random.below(16) / 4.0, y = 100 + random.below(4) / 4.0;
      heap.push_back({0, true, {{x, y}, {x + 9, y}, {x + 9, y + 9}, {x, y + 9}, {x, y}}});
    }
    scene.frames.push_back(heap);
    scene.numbers.push_back(frame);
  }
  check_scene(scene, 1, {});
}

TEST_CASE("the kernels of track pair contours by chains where each of them is the best for many") {
  Scene scene;
  for (std::uint64_t frame = 0; frame < 3; ++frame) {
    std::vector<TestContour> nested;
    for (int k = 0; k < 2; ++k)
      for (int i = 0; i < 80; ++i) {
        // The best object of all is the same one, and the next frame's are all smaller.
        const double half = 200 - 40 * static_cast<double>(frame) + i / 4.0 - 20;
        const double low = 256 - half / 2, high = 256 + half / 2;
        nested.push_back({k, true, {{low, low}, {high, low}, {high, high}, {low, high}, {low, low}}});
        if (i % 9 == 0) std::reverse(nested.back().points.begin(), nested.back().points.end());
      }
    scene.frames.push_back(nested);
    scene.numbers.push_back(frame);
  }
  check_scene(scene, 2, {});
  check_scene(scene, 2, {.max_objects = 130});
}
