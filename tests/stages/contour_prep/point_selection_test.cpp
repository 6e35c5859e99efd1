// The selection of points, on the CPU and by its kernels on the host (the emulator; the library's sums are
// done here), against a reference. Needs no device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include "stages/contour_prep/shared/outputs.cuh"

#include <doctest/doctest.h>

#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/emulated_placement.h"
#include "tests/stages/contour_prep/reference.h"

using namespace contorno;
using namespace contorno::point_selection_cuda;
using namespace contorno::test;

namespace {

/// Contours whose flags say which of their points are kept; a flag a stored point.
struct Flagged {
  std::vector<TestContour> contours;
  std::vector<std::uint8_t> keep;
};

Flagged random_flags(std::uint64_t seed, int each, int of_ten) {
  Flagged flagged{.contours = exact_contours(seed, 4, each), .keep = {}};
  Random random(seed);
  for (const TestContour& contour : flagged.contours) {
    // Of some contours nothing is kept, or everything.
    const int fate = random.below(6);
    for (std::size_t i = 0; i < contour.points.size(); ++i)
      flagged.keep.push_back(fate == 0 ? 0 : fate == 1 ? 1 : random.below(10) < of_ten ? 1 : 0);
  }
  return flagged;
}

std::vector<TestContour> reference(const Flagged& flagged) {
  std::vector<TestContour> kept;
  std::size_t at = 0;
  for (TestContour contour : flagged.contours) {
    const std::size_t stored = contour.points.size();
    if (contour.closed) contour.points.pop_back();
    std::vector<std::pair<double, double>> points;
    for (std::size_t i = 0; i < contour.points.size(); ++i)
      if (flagged.keep[at + i] != 0) points.push_back(contour.points[i]);
    at += stored;
    if (points.empty()) continue;
    if (points.size() < 3) contour.closed = false;
    if (contour.closed) points.push_back(points.front());
    contour.points = points;
    kept.push_back(contour);
  }
  return kept;
}

/// A block of contours of this format, for what is written.
struct Written {
  explicit Written(const ContoursFormat& format)
      : memory(packed_bytes(format)), view(packed_view(memory.data(), format)) {}
  Guarded memory;
  ContoursView view;
};

/// What the kernels wrote.
EmulatedPlacement select_by_kernels(const ContoursView& in, const std::vector<std::uint8_t>& keep) {
  EmulatedPlacement placement(in);
  std::vector<unsigned> kept(in.format.point_capacity / 32 + 1, 77);
  const EmulatedSums before(kept.size());
  const point_selection_cuda::Job job{
      .placement = placement.view, .keep = keep.data(), .kept = kept.data(), .before = before.view};
  const auto run = [&](auto* kernel) {
    emulated::run_grid(3, 64, sizeof(Shared), false, [&] { kernel(job); });
  };
  run(count_kept);
  run(measure_kept);
  run(write_kept);
  return placement;
}

}  // namespace

TEST_CASE("what remains of contours keeps its order, and closed ones stay closed") {
  for (const int of_ten : {0, 2, 8, 10})
    for (const int each : {1, 30}) {
      INFO(of_ten, " of ten points, ", each, " contours a class");
      const Flagged flagged = random_flags(31 + static_cast<std::uint64_t>(of_ten), each, of_ten);
      const TestContours in(64, 64, 4, flagged.contours), wanted(64, 64, 4, reference(flagged));
      const Written host(in.format);
      select_points(in.view, flagged.keep.data(), host.view);
      CHECK(same_contours(host.view, wanted.view));
      CHECK(host.memory.intact());
      const EmulatedPlacement device = select_by_kernels(in.view, flagged.keep);
      CHECK(same_contours(device.view.out, wanted.view));
      for (std::uint32_t i = 0; i < device.view.out.counts->contours; ++i) {
        // Points are random: what remains of another contour has other ones.
        const auto whole = in.view.contour(device.sources[i]);
        for (const Point& point : device.view.out.contour(i))
          CHECK(std::ranges::find(whole, point) != whole.end());
      }
      CHECK(device.intact());
    }
}

TEST_CASE("a closed contour of which two points remain is open") {
  const TestContour square{0, true, {{0, 0}, {4, 0}, {4, 4}, {0, 4}, {0, 0}}};
  const TestContours in(8, 8, 1, {square});
  const auto kept = [&](const std::vector<std::uint8_t>& keep) {
    auto out = std::make_unique<Written>(in.format);
    select_points(in.view, keep.data(), out->view);
    return out;
  };
  const auto without_first = kept({0, 1, 1, 1, 0});
  CHECK(same_contours(without_first->view,
                      TestContours(8, 8, 1, {{0, true, {{4, 0}, {4, 4}, {0, 4}, {4, 0}}}}).view));
  const auto two = kept({0, 1, 0, 1, 0});
  CHECK(same_contours(two->view, TestContours(8, 8, 1, {{0, false, {{4, 0}, {0, 4}}}}).view));
  CHECK(kept({0, 0, 0, 0, 1})->view.counts->contours == 0);
}

TEST_CASE("a closed contour of which no point goes stays as it is, however few it has") {
  const TestContours in(
      8, 8, 1, {{0, true, {{0, 0}, {4, 0}, {0, 0}}}, {0, true, {{1, 1}, {1, 1}}}, {0, true, {{2, 3}}}});
  const std::vector<std::uint8_t> keep(in.format.point_capacity, 1);
  const Written host(in.format);
  select_points(in.view, keep.data(), host.view);
  CHECK(same_contours(host.view, in.view));
  const EmulatedPlacement device = select_by_kernels(in.view, keep);
  CHECK(same_contours(device.view.out, in.view));
  CHECK(device.sources == std::vector<unsigned>{0, 1, 2});
}
