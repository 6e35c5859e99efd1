// The kernels of resample, run on the host by the emulator, against the CPU; the library's sums are done
// here. Needs no device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include <doctest/doctest.h>

#include <numeric>

#include "stages/contour_prep/resample/stage.h"
#include "stages/contour_prep/shared/outputs.cuh"
#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/emulated_placement.h"
#include "tests/stages/contour_prep/emulated_teams.h"
#include "tests/stages/contour_prep/reference.h"

using namespace contorno;
using namespace contorno::test;

namespace {

/// Runs the kernels on `in`, and keeps what they wrote.
class EmulatedResample {
 public:
  EmulatedResample(const ContoursView& in, const ContoursFormat& format, const ResampleParams& params)
      : memory_(packed_bytes(format)) {
    view = packed_view(memory_.data(), format);
    Resample step(params);
    std::vector<std::uint64_t> lengths(in.format.point_capacity, 77);
    std::vector<std::uint64_t> counts(in.format.contour_capacity + 1, 0);  // as DeviceNewPoints::clear
    step.lengths = lengths.data();
    run_step(in, step, CountCall{counts.data()});
    std::exclusive_scan(counts.begin(), counts.end(), counts.begin(), std::uint64_t{0});
    const PlaceNewPoints placed{in, view, counts.data(), &needed};
    for (auto i = places_of(in, static_cast<unsigned>(in.format.contour_capacity)); i-- > 0;) placed(i);
    run_step(in, step, WriteCall{view});
  }

  ContoursView view;
  std::uint64_t needed = 99;
  bool intact() const { return memory_.intact(); }

 private:
  Guarded memory_;
};

}  // namespace

TEST_CASE("the kernels of resample give the contours of its CPU") {
  std::vector<TestContour> contours = exact_contours(43, 4, 30);
  Random random(43);
  TestContour bent{3, false, {{0, 0}}};  // lengths that are no whole units
  for (int i = 0; i < 500; ++i)
    bent.points.emplace_back(bent.points.back().first + random.unit(), 9 * random.unit());
  bent.points[70].first = std::nan("");
  bent.points[90] = bent.points[91] = bent.points[92];
  contours.push_back(bent);
  const TestContours in(64, 64, 4, contours);
  for (const ResampleParams& params :
       {ResampleParams{.spacing = 0.3, .points = 0}, ResampleParams{.spacing = 5, .points = 0},
        ResampleParams{.spacing = 1, .points = 2}, ResampleParams{.spacing = 1, .points = 77}}) {
    INFO("spacing ", params.spacing, ", points ", params.points);
    StageHarness stage(resample_stage(),
                       {{"spacing", params.spacing}, {"points", std::int64_t{params.points}}});
    stage.run({in.view});
    const auto& wanted = std::get<ContoursView>(stage.value());
    const EmulatedResample emulated(in.view, wanted.format, params);
    CHECK(same_contours(emulated.view, wanted));
    CHECK(emulated.needed == wanted.counts->points);
    CHECK(emulated.intact());
  }
}

TEST_CASE("the kernels of resample give an output that is larger than the guess when there is room for it") {
  const TestContours in(64, 64, 3, exact_contours(45, 3, 20));
  const ResampleParams params{.spacing = 0.02, .points = 0};
  StageHarness stage(resample_stage(), {{"spacing", params.spacing}});
  stage.run({in.view});
  REQUIRE(stage.regrown() > 0);
  const auto& wanted = std::get<ContoursView>(stage.value());
  CHECK(wanted.counts->points > 4 * in.format.point_capacity);
  const EmulatedResample emulated(in.view, wanted.format, params);
  CHECK(same_contours(emulated.view, wanted));
  CHECK(emulated.needed == wanted.counts->points);
  CHECK(emulated.intact());
}

TEST_CASE("the kernels of resample count what does not fit, and write nothing past the end") {
  TestContours in(64, 64, 3, exact_contours(44, 3, 20));
  ContoursFormat small = in.format;
  small.point_capacity = 30;
  const EmulatedResample narrow(in.view, small, {.spacing = 0.25, .points = 0});
  CHECK(narrow.needed > 30);
  CHECK(narrow.view.counts->points == narrow.needed);
  CHECK(narrow.intact());
  in.view.counts->points = in.format.point_capacity + 5;
  const EmulatedResample without(in.view, small, {.spacing = 0.25, .points = 0});
  CHECK(without.needed == 0);
  CHECK(without.view.counts->points == in.format.point_capacity + 5);
  CHECK(without.intact());
}
