// The kernels of the steps that look for near points, run on the host by the emulator, against the CPU. Needs
// no device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include <doctest/doctest.h>

#include <numeric>

#include "stages/contour_prep/drop_duplicates/kernels.cuh"
#include "stages/contour_prep/exclude/stage.h"
#include "stages/contour_prep/merge_close/kernels.cuh"
#include "stages/contour_prep/shared/device_bins.cuh"
#include "stages/contour_prep/shared/outputs.h"
#include "tests/stages/contour_prep/emulated_placement.h"
#include "tests/stages/contour_prep/emulated_teams.h"
#include "tests/stages/contour_prep/near_points.h"
#include "tests/stages/contour_prep/over_capacity.h"

using namespace contorno;
using namespace contorno::test;

namespace {

/// Contours of which the points with a flag remain.
Comparison same_selection(const ContoursView& in, const std::vector<std::uint8_t>& keep,
                          const ContoursView& wanted) {
  Guarded memory(packed_bytes(in.format));
  const ContoursView out = packed_view(memory.data(), in.format);
  select_points(in, keep.data(), out);
  return same_contours(out, wanted);
}

template <class Given>
void run(void (*kernel)(Given), const Given& job, bool at_once = false) {
  emulated::run_grid(3, 64, sizeof(RangeShared), at_once, [&] { kernel(job); });
}

/// Calls f(i) for 0 <= i < count, each by one of many threads.
template <class F>
void for_each(std::size_t count, const F& f) {
  emulated::run_grid(3, 64, 0, false, [&] {
    for (unsigned i = global_thread(); i < count; i += all_threads()) f(i);
  });
}

/// Numbers 0, 1, ... in the order of their keys.
std::vector<unsigned> sorted_by(const std::vector<unsigned>& keys) {
  std::vector<unsigned> order(keys.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) { return keys[a] < keys[b]; });
  return order;
}
std::vector<unsigned> in_order(const std::vector<unsigned>& keys, const std::vector<unsigned>& order) {
  std::vector<unsigned> sorted;
  for (const unsigned i : order) sorted.push_back(keys[i]);
  return sorted;
}

/// DeviceBins on the host. Few buckets make bins share them.
class EmulatedBins {
 public:
  EmulatedBins(const ContoursView& in, double distance, unsigned buckets, std::vector<unsigned>& zeroed)
      : begins_(buckets, 77),
        ends_(buckets, 77),
        points_(in.format.point_capacity),
        keys_(in.format.point_capacity, 77),
        indices_(in.format.point_capacity, 77) {
    view = {.nearness = Nearness(distance),
            .mask = buckets - 1,
            .begins = begins_.data(),
            .ends = ends_.data(),
            .count = &count_,
            .points = points_.data()};
    device_bins_cuda::Job job{.in = in,
                              .bins = view,
                              .keys = keys_.data(),
                              .indices = indices_.data(),
                              .zeroed = {zeroed.data(), zeroed.size()}};
    const device_bins_cuda::MakeKeys make_keys{job};
    for_each(make_keys.count(), make_keys);
    std::vector<unsigned> order = sorted_by(keys_), sorted = in_order(keys_, order);
    job.sorted_keys = sorted.data(), job.order = order.data();
    for_each(keys_.size(), device_bins_cuda::ListBins{job});
  }
  DeviceBinsView view;

 private:
  std::vector<unsigned> begins_, ends_;
  std::vector<BinnedPoint> points_;
  std::vector<unsigned> keys_, indices_;
  unsigned count_ = 0;
};

/// The flags of drop_duplicates by its kernels, with or without lists of what is near.
std::vector<std::uint8_t> duplicate_flags(const ContoursView& in, double distance, DuplicateRule rule,
                                          unsigned buckets, bool has_lists, bool at_once) {
  using namespace drop_duplicates_cuda;
  const std::size_t points = in.format.point_capacity, chunks = points / kChunk + 1;
  std::vector<unsigned> zeroed(2 * chunks + points + 1, 77), near_lists(points * kMostNear, 77);
  const EmulatedBins bins(in, distance, buckets, zeroed);
  std::vector<std::uint8_t> keep(points, 2);
  const drop_duplicates_cuda::Job job{.in = in,
                                      .bins = bins.view,
                                      .verdicts = reinterpret_cast<unsigned long long*>(zeroed.data()),
                                      .next_chunk = &zeroed.back(),
                                      .near_counts = zeroed.data() + 2 * chunks,
                                      .near_lists = near_lists.data(),
                                      .room_for_lists = has_lists ? static_cast<unsigned>(points) : 0,
                                      .keep = keep.data()};
  if (rule == DuplicateRule::AnyEarlier) {
    for_each(points, MarkAnyEarlier{job});
  } else {
    run(drop_duplicates_cuda::list_near, job);
    run(drop_duplicates_cuda::mark_kept_earlier, job, at_once);
  }
  return keep;
}

void check_duplicates(const std::vector<TestContour>& contours, int classes, double distance) {
  const TestContours in(64, 64, classes, contours);
  for (const auto& [rule, name] :
       {std::pair{DuplicateRule::KeptEarlier, "kept_earlier"}, {DuplicateRule::AnyEarlier, "any_earlier"}}) {
    StageHarness stage(drop_duplicates_stage(), {{"distance", distance}, {"rule", std::string(name)}});
    stage.run({in.view});
    for (const unsigned buckets : {1U, 16U, 4096U})
      for (const bool has_lists : {false, true})
        for (const bool at_once : {false, true}) {
          INFO("distance ", distance, ", rule ", name, ", ", buckets, " buckets, lists ", has_lists,
               ", at once ", at_once);
          const auto keep = duplicate_flags(in.view, distance, rule, buckets, has_lists, at_once);
          CHECK(same_selection(in.view, keep, std::get<ContoursView>(stage.value())));
        }
  }
}

/// merge_close by its kernels; the library's sort is done here.
Comparison same_merge(const ContoursView& in, double distance, unsigned buckets, const ContoursView& wanted) {
  using namespace merge_close_cuda;
  const std::size_t capacity = in.format.contour_capacity;
  std::vector<unsigned> sets(2 * capacity, 77);
  const EmulatedBins bins(in, distance, buckets, sets);
  EmulatedPlacement placement(in);
  std::vector<unsigned> keys(capacity, 77), contours(capacity, 77), ranks(capacity, 77);
  merge_close_cuda::Job job{.placement = placement.view,
                            .bins = bins.view,
                            .parents = sets.data(),
                            .is_joined = sets.data() + capacity,
                            .keys = keys.data(),
                            .contours = contours.data(),
                            .ranks = ranks.data()};
  for_each(in.format.point_capacity, JoinInBins{job});
  run(join_bins, job);
  for_each(capacity, FindSets{job});
  std::vector<unsigned> order = sorted_by(keys), sorted = in_order(keys, order);
  job.placement.order = job.order = order.data(), job.sorted_keys = sorted.data();
  run(measure_sets, job);
  run(write_sets, job);
  return placement.intact() ? same_contours(placement.view.out, wanted)
                            : Comparison{"memory around the contours was written"};
}

std::vector<TestContour> with_points_that_are_not_finite(std::vector<TestContour> contours) {
  const double inf = std::numeric_limits<double>::infinity();
  contours[2].points[0] = {std::nan(""), 3};
  contours[3].points[0] = {inf, -inf};
  contours[4].points.assign(40, {inf, 2});
  contours[4].closed = false;
  return contours;
}

}  // namespace

TEST_CASE("the kernels of drop_duplicates keep the points that its CPU keeps") {
  for (const double distance : {0.0, 1.0, 2.25, 9.0})
    check_duplicates(with_points_that_are_not_finite(walking_contours(17, 4, 30, 24, -9, -5)), 4, distance);
  check_duplicates({}, 2, 1);
  check_duplicates({{0, false, {{5, 7}}}}, 1, 1);
}

TEST_CASE("the kernels of drop_duplicates go through chains of points, and through equal points") {
  constexpr int kMany = 700;
  TestContour line{0, false, {}}, back{0, false, {}}, same{0, true, {}}, two_bins{0, false, {}};
  for (int i = 0; i < kMany; ++i) {
    line.points.emplace_back(i / 2.0, 9);
    back.points.emplace_back((i * 37 % kMany) / 4.0, 40);
    same.points.emplace_back(90, 90);
    // Many in each of two bins beside each other, near some of the other one.
    two_bins.points.emplace_back(200 + (i % 2) * 1.5 + (i % 5) / 8.0, 200 + (i % 7) / 8.0);
  }
  same.points.push_back(same.points.front());
  check_duplicates({line, back, same, two_bins, line}, 1, 1.5);
}

TEST_CASE("the kernels of merge_close join the contours that its CPU joins") {
  const std::vector<TestContour> contours =
      with_points_that_are_not_finite(walking_contours(19, 4, 40, 60, -9, -5));
  const TestContours in(64, 64, 4, contours);
  const Roomy roomy(in.view);
  for (const double distance : {0.25, 1.5, 4.0, 200.0}) {
    StageHarness stage(merge_close_stage(), {{"distance", distance}});
    stage.run({in.view});
    for (const unsigned buckets : {1U, 16U, 4096U}) {
      INFO("distance ", distance, ", ", buckets, " buckets");
      CHECK(same_merge(in.view, distance, buckets, std::get<ContoursView>(stage.value())));
      CHECK(same_merge(roomy.view, distance, buckets, std::get<ContoursView>(stage.value())));
    }
  }
}

TEST_CASE("the kernels of merge_close join many contours of one point, in one place and in a line") {
  std::vector<TestContour> contours;
  for (int i = 0; i < 300; ++i) contours.push_back({0, false, {{17.25, 4}}});
  for (int i = 0; i < 300; ++i) contours.push_back({0, false, {{50 + i * 37 % 300 / 2.0, 9}}});
  for (int i = 0; i < 300; ++i) contours.push_back({0, false, {{1000 + 9 * i, 9}}});
  const TestContours in(64, 64, 1, contours);
  StageHarness stage(merge_close_stage(), {{"distance", 0.75}});
  stage.run({in.view});
  const auto& wanted = std::get<ContoursView>(stage.value());
  CHECK(wanted.counts->contours == 302);
  for (const unsigned buckets : {1U, 1024U}) CHECK(same_merge(in.view, 0.75, buckets, wanted));
}

TEST_CASE("the kernels of drop_duplicates and merge_close pass on how much room contours need") {
  TestContours in(64, 64, 2, walking_contours(3, 2, 9, 20));
  in.view.counts->points = in.format.point_capacity + 1;
  CHECK(same_merge(in.view, 2, 16, in.view));
  for (const bool has_lists : {false, true}) {
    const auto keep = duplicate_flags(in.view, 2, DuplicateRule::KeptEarlier, 16, has_lists, false);
    CHECK(std::count(keep.begin(), keep.end(), 2) == static_cast<std::ptrdiff_t>(keep.size()));
  }
}

TEST_CASE("the kernel of exclude marks the points that its CPU leaves out") {
  const TestContours in(64, 64, 3, walking_contours(8, 3, 40, 30));
  Random random(7);
  ExcludeParams params;
  for (int i = 0; i < 60; ++i) params.points.push_back(random.unit() * 30);
  for (int i = 0; i < 24; ++i) params.strokes.push_back(random.unit() * 30);
  auto mask = std::make_shared<Mask>();
  mask->width = 9, mask->height = 11, mask->values.assign(99, 1);
  params.mask = mask;
  for (const double radius : {0.0, 2.5}) {
    params.radius = radius;
    StageHarness stage(
        exclude_stage(),
        {{"points", params.points}, {"strokes", params.strokes}, {"mask", params.mask}, {"radius", radius}});
    stage.run({in.view});
    const Region region(params);
    std::vector<std::uint8_t> keep(in.format.point_capacity, 2);
    Exclude step(params);
    step.region = region.view();
    run_step(in.view, step, MarkCall{keep.data()});
    CHECK(same_selection(in.view, keep, std::get<ContoursView>(stage.value())));
  }
}
