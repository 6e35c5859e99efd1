// The kernels of smooth and of fourier_descriptors, run on the host by the emulator, against the CPU: the
// same bits. Needs no device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include <doctest/doctest.h>

#include "geometry/fourier_series.h"
#include "stages/contour_prep/fourier_descriptors/stage.h"
#include "stages/contour_prep/smooth/stage.h"
#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/emulated_teams.h"
#include "tests/stages/contour_prep/reference.h"

using namespace contorno;
using namespace contorno::test;

namespace {

/// Closed and open contours of many lengths; those of more than 1,000 points do not all fit in shared memory.
std::vector<TestContour> of_many_lengths() {
  Random random(53);
  std::vector<TestContour> contours = exact_contours(52, 2, 12);
  for (const int points : {1, 2, 3, 4, 16, 17, 100, 256, 257, 511, 512, 513, 1024, 1025, 1500})
    for (const bool closed : {true, false}) {
      TestContour one{1, closed, {}};
      for (int i = 0; i < points; ++i) one.points.emplace_back(60 * random.unit(), -20 + 60 * random.unit());
      if (closed) one.points.push_back(one.points.front());
      contours.push_back(one);
    }
  contours.push_back({1, true, {{3, 4}, {3, 4}, {3, 4}, {3, 4}}});
  contours.push_back({1, false, {{1, 1}, {2, std::nan("")}, {3, 5}}});
  return contours;
}

/// A copy in memory of its own, with other attributes.
class Copied {
 public:
  Copied(const ContoursView& given, const ContoursView& like) : memory_(packed_bytes(like.format)) {
    view = packed_view(memory_.data(), like.format);
    std::memcpy(memory_.data(), like.counts, packed_bytes(like.format));
    std::copy_n(given.points, given.counts->points, view.points);
    like.format.attributes.for_each(
        [&](Attribute one) { std::fill_n(view.column(one), given.counts->contours, -77.0); });
  }
  ContoursView view;
  bool intact() const { return memory_.intact(); }

 private:
  Guarded memory_;
};

}  // namespace

TEST_CASE("the kernel of smooth gives the points of its CPU") {
  using smoothing::Series;
  const TestContours in(64, 64, 2, of_many_lengths());
  const std::vector<fourier::Complex> roots = fourier::transform_roots(in.format.point_capacity);
  for (const KeptTerms keep : {KeptTerms::Low, KeptTerms::Top})
    for (const int terms : {1, 6, 21}) {
      INFO(terms, " terms, ", static_cast<int>(keep));
      StageHarness stage(smooth_stage(), {{"terms", std::int64_t{terms}},
                                          {"keep", std::string(keep == KeptTerms::Low ? "low" : "top")}});
      stage.run({in.view});
      const auto& wanted = std::get<ContoursView>(stage.value());
      const Copied made(in.view, wanted);
      Guarded memory(in.format.point_capacity * Series::kMostMemory * sizeof(fourier::Complex));
      Smooth step({.terms = terms, .keep = keep});
      step.memory = reinterpret_cast<fourier::Complex*>(memory.data()), step.roots = roots.data();
      run_step(made.view, step, ChangeCall{nullptr});
      CHECK(same_contours(made.view, wanted));
      CHECK(made.intact());
      CHECK(memory.intact());
    }
}

TEST_CASE("the kernel of fourier_descriptors gives the attributes of its CPU") {
  const TestContours in(64, 64, 2, of_many_lengths());
  StageHarness stage(fourier_descriptors_stage(), {});
  stage.run({in.view});
  const auto& wanted = std::get<ContoursView>(stage.value());
  const Copied made(in.view, wanted);
  std::vector<unsigned> sources(in.format.contour_capacity, 77);
  run_step(made.view, FourierDescriptors(NoParams{}), ChangeCall{sources.data()});
  for (unsigned i = 0; i < sources.size(); ++i) CHECK(sources[i] == i);
  CHECK(same_contours(made.view, wanted));
}
