// The kernel of measure, run on the host by the emulator, against the CPU: the same bits. Needs no device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include <doctest/doctest.h>

#include "base/error.h"
#include "geometry/hull.cuh"
#include "stages/contour_prep/measure/stage.h"
#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/emulated_teams.h"
#include "tests/stages/contour_prep/reference.h"

using namespace contorno;
using namespace contorno::test;

TEST_CASE("the kernels of measure give the attributes of its CPU") {
  std::vector<TestContour> contours = exact_contours(47, 2, 40);
  Random random(47);
  for (const int points : {1, 2, 3, 31, 32, 33, 64, 65, 700}) {
    TestContour one{1, points % 2 == 1, {}};
    for (int i = 0; i < points; ++i) one.points.emplace_back(60 * random.unit(), -20 + 60 * random.unit());
    if (one.closed) one.points.push_back(one.points.front());
    contours.push_back(one);
  }
  // Hulls of many corners, of few, and of points of which many are equal.
  for (const auto& [count, noise] : {std::pair{900, 0.0}, {900, 0.05}, {6000, 0.0}, {6000, 0.05}}) {
    TestContour ring{1, true, {}};
    for (int i = 0; i < count; ++i) {
      const double angle = 6.283185307179586 * i / count, radius = 25 + noise * random.unit();
      ring.points.emplace_back(30 + radius * std::cos(angle), 30 + radius * std::sin(angle));
    }
    ring.points.push_back(ring.points.front());
    contours.push_back(ring);
  }
  TestContour rough{1, false, {}};
  for (int i = 0; i < 600; ++i) rough.points.emplace_back(random.below(7), random.below(5));
  contours.push_back(rough);
  // Points of one column, and of a few columns beside one that is far away.
  for (const double far : {0.0, 16380.0, 4e6}) {
    TestContour narrow{1, false, {{3, 0}, {3 + far, 7}}};
    for (int i = 0; i < 600; ++i) narrow.points.emplace_back(3, random.unit());
    for (int i = 0; far != 0 && i < 600; ++i) narrow.points.emplace_back(3 + random.unit(), random.unit());
    contours.push_back(narrow);
  }
  contours.push_back({1, true, {{-0.0, 1}, {0.0, 1}, {3e9, 2}, {-0.0, 1}}});
  contours.push_back({1, false, {{1, 1}, {2, std::nan("")}}});
  const TestContours in(64, 64, 2, contours);
  StageHarness stage(measure_stage(), {});
  stage.run({in.view});
  const auto& wanted = std::get<ContoursView>(stage.value());
  std::vector<std::byte> memory(packed_bytes(wanted.format));
  const ContoursView made = packed_view(memory.data(), wanted.format);
  std::memcpy(memory.data(), wanted.counts, packed_bytes(wanted.format));
  wanted.format.attributes.for_each(
      [&](Attribute one) { std::fill_n(made.column(one), contours.size(), -77.0); });
  std::vector<unsigned> sources(contours.size(), 77);
  std::vector<measuring::GridPoint> room(in.format.point_capacity, {77, 77});
  Measure step(NoParams{});
  step.room.sorted = room.data();
  run_step(made, step, ChangeCall{sources.data()});
  for (unsigned i = 0; i < sources.size(); ++i) CHECK(sources[i] == i);
  CHECK(same_contours(made, wanted));
}

TEST_CASE("the kernel of measure refuses a hull that takes more looks than are allowed, and not at them") {
  TestContour ring{0, true, {}};
  constexpr std::uint64_t kCorners = 700;
  for (std::uint64_t i = 0; i < kCorners; ++i) {
    const double angle = 6.283185307179586 * static_cast<double>(i) / kCorners;
    ring.points.emplace_back(30 + 25 * std::cos(angle), 30 + 25 * std::sin(angle));
  }
  const TestContours in(64, 64, 1, {ring, {0, false, {{1, 1}, {2, 2}}}});
  StageHarness stage(measure_stage(), {});
  stage.run({in.view});
  const auto& measured = std::get<ContoursView>(stage.value());
  const auto refused_within = [&](std::uint64_t most_looks) {
    std::vector<std::byte> memory(packed_bytes(measured.format));
    const ContoursView made = packed_view(memory.data(), measured.format);
    std::memcpy(memory.data(), measured.counts, packed_bytes(measured.format));
    std::vector<measuring::GridPoint> room(in.format.point_capacity, {77, 77});
    unsigned refused = 0;
    Measure step(NoParams{});
    step.room.sorted = room.data();
    step.work = {.most = most_looks, .refused = &refused};
    run_step(made, step, ChangeCall{nullptr});
    return refused;
  };
  // All points are looked at for each corner but the first one.
  CHECK(refused_within((kCorners - 1) * kCorners) == 0);
  CHECK(refused_within((kCorners - 1) * kCorners - 1) == kCorners);
  CHECK_THROWS_WITH_AS(
      Measure::throw_too_much_work(300000),
      "measure: the convex hull of a contour of 300000 points has so many corners that they have to "
      "be looked at more than 17179869184 times, allowed up to so many on a device; take "
      "backend: cpu, or leave points out before (simplify)",
      Error);
}
