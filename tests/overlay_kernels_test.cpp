// The kernels that prepare an overlay, run on the host by the emulator, against the CPU: the same insides,
// and as many segments for every tile. Needs no device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include "stages/overlay_kernels.cuh"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "stages/overlay_painter.h"
#include "tests/stage_harness.h"

using namespace contorno;
using contorno::test::Random;
using contorno::test::TestContour;
using contorno::test::TestContours;

namespace {

constexpr int kMapWidth = 60, kMapHeight = 40, kClasses = 3;

/// Closed and open contours, among them such that end on every side of the map and in its corners.
std::vector<TestContour> random_contours(std::uint64_t seed) {
  Random random(seed);
  const auto on_border = [&]() -> std::pair<double, double> {
    const double along = random.unit();
    switch (random.below(4)) {
      case 0:
        return {std::floor(along * kMapWidth), 0};
      case 1:
        return {kMapWidth - 1, along * (kMapHeight - 1)};
      case 2:
        return {along * (kMapWidth - 1), kMapHeight - 1};
      default:
        return {0, std::floor(along * kMapHeight)};
    }
  };
  const auto anywhere = [&]() -> std::pair<double, double> {
    return {random.unit() * (kMapWidth - 1), random.unit() * (kMapHeight - 1)};
  };
  std::vector<TestContour> contours;
  for (int k = 0; k < kClasses; ++k)
    for (int i = 0; i < 9; ++i) {
      TestContour contour{k, i % 3 == 0, {}};
      contour.points.push_back(contour.closed || i == 1 ? anywhere() : on_border());
      const int points = 2 + static_cast<int>(random.below(50));
      for (int p = 0; p < points; ++p) contour.points.push_back(anywhere());
      contour.points.push_back(contour.closed ? contour.points.front() : on_border());
      contours.push_back(contour);
    }
  contours.back().points[1] = {std::nan(""), 3};
  return contours;
}

OverlayPlan plan_for(const ImageFormat& frame, const PointTransform& transform) {
  OverlayPlan plan;
  plan.format = frame;
  plan.grid = OverlayGrid(frame.width, frame.height);
  plan.transform = transform;
  plan.border = OverlayBorder(kMapWidth, kMapHeight, transform);
  plan.pens.resize(kClasses);
  plan.pens[0].fill = 100, plan.pens[2].fill = 50;
  plan.slots = {0, -1, 1};
  plan.filled = 2;
  return plan;
}

/// What either backend knows before the first pixel.
struct Prepared {
  std::vector<unsigned> inside, reached;  ///< words of the masks; segments that reach a tile
};

std::size_t tiles_of(const OverlayGrid& grid) {
  return static_cast<std::size_t>(grid.tiles_x) * static_cast<std::size_t>(grid.tiles_y);
}
std::size_t mask_words(const OverlayPlan& plan) {
  return static_cast<std::size_t>(plan.filled) * static_cast<std::size_t>(plan.grid.height) *
         static_cast<std::size_t>(plan.grid.tiles_x);
}

Prepared on_cpu(const OverlayPlan& plan, const ContoursView& contours) {
  Prepared result{std::vector<unsigned>(mask_words(plan), 0xA5A5A5A5U),
                  std::vector<unsigned>(tiles_of(plan.grid))};
  std::vector<FramePoint> points;
  for (std::uint64_t i = 0; i < contours.counts->points; ++i)
    points.push_back(plan.transform(contours.points[i]));
  OverlayWork work{};
  work.contours = &contours;
  work.points = points.data();
  work.tile_fill = result.reached.data();
  work.inside = result.inside.data();
  const OverlayPainter painter(plan);
  painter.count_references(work, 0, plan.grid.tiles_y);
  painter.find_insides(work, 0, plan.grid.tiles_y);
  return result;
}

Prepared emulated_kernels(const OverlayPlan& plan, const ContoursView& contours) {
  using namespace overlay_cuda;
  const std::size_t tiles = tiles_of(plan.grid), bins = tiles * kClasses;
  Prepared result{std::vector<unsigned>(mask_words(plan)), std::vector<unsigned>(tiles)};
  std::vector<Class> classes;
  for (std::size_t k = 0; k < kClasses; ++k) classes.push_back({plan.pens[k], plan.slots[k], -1, {-1, -1}});
  std::vector<unsigned> touched(tiles), bin_count(bins), bin_end(bins), point_class(contours.counts->points);
  std::vector<FramePoint> points(contours.counts->points);
  unsigned long long listed = 0;
  unsigned touched_count = 0;
  Job job;
  job.grid = plan.grid, job.transform = plan.transform, job.border = plan.border;
  job.classes = kClasses, job.filled = plan.filled, job.class_table = classes.data();
  job.all_tiles = true;
  job.point_capacity = contours.format.point_capacity,
  job.contour_capacity = contours.format.contour_capacity;
  job.counts = contours.counts, job.map_points = contours.points, job.offsets = contours.offsets;
  job.closed = contours.closed, job.class_begin = contours.class_begin;
  job.listed = &listed, job.touched_count = &touched_count, job.touched = touched.data();
  job.bin_count = bin_count.data(), job.bin_end = bin_end.data(), job.inside = result.inside.data();
  job.points = points.data(), job.point_class = point_class.data();
  contorno::emulated::run_grid(2, kThreads, 0, false, [&] { bin_segments(job); });
  contorno::emulated::run_grid(3, kThreads, 0, false, [&] { arrange(job); });
  for (std::size_t bin = 0; bin < bins; ++bin) result.reached[bin / kClasses] += bin_count[bin];
  return result;
}

}  // namespace

TEST_CASE("the kernels of overlay find the CPU's insides, of open contours at the border too") {
  const struct {
    ImageFormat frame;
    PointTransform transform;
  } places[] = {{{.width = 120, .height = 80, .channels = 3}, {2, 2, 0.5, 0.5}},
                {{.width = 60, .height = 40, .channels = 3}, {}},
                {{.width = 1100, .height = 45, .channels = 3}, {18.2, 0.9, 8.6, -0.05}},
                {{.width = 97, .height = 71, .channels = 3}, {1, 1, 21, 13}}};
  for (const auto& place : places)
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      CAPTURE(place.frame.width);
      CAPTURE(seed);
      const TestContours contours(kMapWidth, kMapHeight, kClasses, random_contours(seed));
      const OverlayPlan plan = plan_for(place.frame, place.transform);
      const Prepared expected = on_cpu(plan, contours.view), found = emulated_kernels(plan, contours.view);
      CHECK(found.inside == expected.inside);
      CHECK(found.reached == expected.reached);
    }
}
