// The kernels of simplify, run on the host by the emulator, against a reference. Needs no device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include <doctest/doctest.h>

#include "base/error.h"
#include "stages/contour_prep/simplify/douglas_peucker.cuh"
#include "stages/contour_prep/simplify/visvalingam.cuh"
#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/emulated_teams.h"
#include "tests/stages/contour_prep/simplify_reference.h"
#include "tests/stages/contour_prep/slow_contours.h"

using namespace contorno;
using namespace contorno::simplify_cuda;
using namespace contorno::test;

namespace {

std::vector<std::uint8_t> kept_by_kernels(const ContoursView& in, const SimplifyParams& params) {
  const std::size_t points = in.format.point_capacity;
  std::vector<std::uint8_t> keep(points, 2);
  std::vector<Interval> intervals(points);
  std::vector<unsigned long long> importance(points, 77), areas(points, 77);
  std::vector<unsigned> before(points, 77), after(points, 77), smallest(points, 77);
  if (params.method == SimplifyMethod::Visvalingam) {
    Visvalingam step(params);
    step.areas = areas.data(), step.smallest = smallest.data();
    step.before = before.data(), step.after = after.data();
    run_step(in, step, MarkCall{keep.data()});
  } else {
    DouglasPeucker step(params);
    step.intervals = intervals.data();
    step.importance = params.points > 0 ? importance.data() : nullptr;
    run_step(in, step, MarkCall{keep.data()});
  }
  return keep;
}

void check_against_reference(const std::vector<TestContour>& contours, const SimplifyParams& params) {
  const TestContours in(64, 64, 4, contours);
  const std::vector<std::uint8_t> keep = kept_by_kernels(in.view, params);
  std::size_t wrong = 0, at = 0;
  for (const TestContour& contour : contours) {
    const auto budget = static_cast<std::size_t>(params.points);
    const std::vector<bool> wanted = params.method == SimplifyMethod::Visvalingam
                                         ? reference_visvalingam(contour, params.tolerance, budget)
                                         : ReferencePeucker(contour, params.tolerance, budget).keep();
    for (std::size_t i = 0; i < wanted.size(); ++i) wrong += keep[at + i] != (wanted[i] ? 1 : 0) ? 1 : 0;
    at += contour.points.size();
  }
  INFO("method ", static_cast<int>(params.method), ", tolerance ", params.tolerance, ", points ",
       params.points);
  CHECK(wrong == 0);
}

/// What the kernels keep with a limit on their looks at points, and whether they refuse.
struct LimitedMarks {
  std::vector<std::uint8_t> keep;
  unsigned refused = 0;
};
LimitedMarks marks_within(std::uint64_t most_looks, const ContoursView& in) {
  std::vector<Interval> intervals(in.format.point_capacity);
  LimitedMarks marks{std::vector<std::uint8_t>(in.format.point_capacity, 2)};
  DouglasPeucker step(SimplifyParams{.tolerance = 0.5});
  step.intervals = intervals.data();
  step.work = {.most = most_looks, .refused = &marks.refused};
  run_step(in, step, MarkCall{marks.keep.data()});
  return marks;
}
/// Looks at the points between `begin` and `end`, and so on on both sides of the farthest.
std::uint64_t looks_at(const std::vector<Point>& points, std::uint32_t begin, std::uint32_t end) {
  if (end - begin < 2) return 0;
  const Chord chord(points[begin], points[end]);
  const Farthest found = farthest_of(points.data(), begin, end, chord, begin + 1, 1);
  if (!(found.distance > 0.25 * chord.scale)) return end - begin;
  return end - begin + looks_at(points, begin, found.at) + looks_at(points, found.at, end);
}

}  // namespace

TEST_CASE("the kernels of simplify refuse a contour that takes more looks than are allowed") {
  auto line = comb_of(240);
  line.pop_back();
  const TestContours comb(kSlowSide, kSlowSide, 1, {{0, false, line}});
  const auto own = static_cast<std::uint32_t>(comb.view.counts->points);
  const std::uint64_t looks =
      looks_at(std::vector<Point>(comb.view.points, comb.view.points + own), 0, own - 1);
  CHECK(looks > 240 * 240 / 8);  // at each tooth nearly all that is left
  const LimitedMarks at = marks_within(looks, comb.view), beyond = marks_within(looks - 1, comb.view),
                     free = marks_within(~std::uint64_t{0}, comb.view);
  CHECK(at.refused == 0);
  CHECK(at.keep == free.keep);
  CHECK(beyond.refused == own);
}

TEST_CASE("what a device may do for a contour of simplify is limited where contours can need more") {
  const WorkLimit limit;
  CHECK_FALSE(limit.can_be_met(0));
  CHECK_FALSE(limit.can_be_met(1));
  CHECK_FALSE(limit.can_be_met(131072));
  CHECK(limit.can_be_met(131073));
  CHECK(limit.can_be_met(~0U));
  CHECK_FALSE(limit.is_met(~std::uint64_t{0}));  // nobody is told
  CHECK_THROWS_WITH_AS(
      DouglasPeucker::throw_too_much_work(300000),
      "simplify: a contour of 300000 points is folded so often, like a comb, that they have to be "
      "looked at more than 17179869184 times, allowed up to so many on a device; take backend: "
      "cpu, method: visvalingam, or a greater spacing before (resample)",
      Error);
}

TEST_CASE("the kernels of simplify keep the points of the references") {
  std::vector<TestContour> contours = exact_contours(22, 4, 12);
  // Longer than what a warp searches, and with three levels of the tree over the areas.
  for (const int points : {3, 4, 40, 700, 1100}) contours.push_back(waved_ring(3, points, 90, 80, 6));
  for (const SimplifyMethod method : {SimplifyMethod::DouglasPeucker, SimplifyMethod::Visvalingam})
    for (const double tolerance : {0.0, 1.25, 1e6})
      for (const int points : {0, 4, 30})
        check_against_reference(contours, {.method = method, .tolerance = tolerance, .points = points});
}

TEST_CASE("the kernels of simplify keep small contours whole, more than a block looks at in one go") {
  std::vector<TestContour> contours;
  for (int i = 0; i < 900; ++i) {
    contours.push_back({0, false, {{i, 1}}});
    if (i % 100 == 7) contours.push_back(waved_ring(0, 12, 20, 20, 1));
  }
  for (const SimplifyMethod method : {SimplifyMethod::DouglasPeucker, SimplifyMethod::Visvalingam})
    check_against_reference(contours, {.method = method, .tolerance = 0.5, .points = 0});
}

TEST_CASE("the kernels of simplify split long contours by large blocks") {
  constexpr auto kLong = static_cast<int>(DouglasPeucker::kTeams.long_from);
  std::vector<TestContour> contours;
  for (const int points : {kLong - 1, kLong, 4500}) contours.push_back(waved_ring(0, points, 90, 80, 8));
  contours.push_back(contours.back());
  contours.back().closed = false;
  for (const int points : {0, 30})
    check_against_reference(contours,
                            {.method = SimplifyMethod::DouglasPeucker, .tolerance = 0.75, .points = points});
}
