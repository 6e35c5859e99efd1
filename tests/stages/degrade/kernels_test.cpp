// The kernel that puts points of a mipmap level back, run on the host by the emulator. Needs no device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include "stages/degrade/kernels.cuh"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/stages/harness.h"

using namespace contorno;
using namespace contorno::test;

TEST_CASE("points lie where their samples lie on the map, and those at the border at its border") {
  // Of 11 samples 5 were made, of 8 samples 4: one covers 2.2 and 2 of them.
  const PointsPlacement placement{.rows = point_placement(4, 8), .cols = point_placement(5, 11)};
  const auto placed = [&](float row, float col) { return placement(Point{row, col}); };
  CHECK(placed(0, 0) == Point{0, 0});
  CHECK(placed(3, 4) == Point{7, 10});
  CHECK(placed(1, 2) == Point{2.5F, 5});
  CHECK(placed(1.25F, 1) == Point{3, static_cast<float>(1.5 * 2.2 - 0.5)});
  // One step inside the border is where the rule of samples puts it.
  const float inside = std::nextafterf(0, 1);
  CHECK(placed(inside, inside).row == 0.5F);
  CHECK(placed(inside, inside).col == static_cast<float>(0.5 * 2.2 - 0.5));
}

TEST_CASE("the kernel places every point once, whatever its grid, and none of contours that do not fit") {
  const PointsPlacement placement{.rows = point_placement(100, 201), .cols = point_placement(100, 200)};
  std::vector<std::pair<double, double>> points;
  for (int i = 0; i < 700; ++i) points.emplace_back(i % 100, 0.125 * (i % 790));
  for (const unsigned blocks : {1U, 3U}) {
    TestContours contours(201, 200, 1, {{0, false, points}});
    emulated::run_grid(blocks, degrade_cuda::kThreads, 0, false,
                       [&] { degrade_cuda::place_points(contours.view, placement); });
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Point given{static_cast<float>(points[i].second), static_cast<float>(points[i].first)};
      wrong += contours.view.points[i] == placement(given) ? 0 : 1;
    }
    CHECK(wrong == 0);
    CHECK(contours.memory.intact());
  }
  TestContours unfit(201, 200, 1, {{0, false, points}});
  unfit.view.counts->points = 701;
  emulated::run_grid(2, degrade_cuda::kThreads, 0, false,
                     [&] { degrade_cuda::place_points(unfit.view, placement); });
  CHECK(unfit.view.points[1] == Point{0.125F, 1});
}
