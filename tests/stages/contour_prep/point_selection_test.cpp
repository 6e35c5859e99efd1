// The selection of points, on the CPU and by its kernels on the host (the emulator; the library's scans are
// done here), against a reference. Needs no device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include "stages/contour_prep/shared/point_selection.cuh"

#include <doctest/doctest.h>

#include <numeric>

#include "stages/contour_prep/drop_small/kernels.cuh"
#include "tests/stages/compare_contours.h"
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

void select_by_kernels(const ContoursView& in, const std::vector<std::uint8_t>& keep, const ContoursView& out,
                       unsigned* sources) {
  const std::size_t points = in.format.point_capacity, contours = in.format.contour_capacity;
  std::vector<unsigned> flags(points + 1), rank(points + 1);
  std::vector<unsigned long long> words(contours + 1, 77), places(contours + 1);
  const KeptFlag flag{in, keep.data()};
  for (unsigned i = 0; i <= points; ++i) flags[i] = flag(i);
  std::exclusive_scan(flags.begin(), flags.end(), rank.begin(), 0U);
  const Job job{.in = in,
                .out = out,
                .keep = keep.data(),
                .rank = rank.data(),
                .words = words.data(),
                .places = places.data(),
                .sources = sources};
  const auto run = [&](auto* kernel) { emulated::run_grid(3, 64, 0, false, [&] { kernel(job); }); };
  run(measure_kept);
  std::exclusive_scan(words.begin(), words.end(), places.begin(), 0ULL);
  run(place_kept);
  run(write_kept);
}

}  // namespace

TEST_CASE("what remains of contours keeps its order, and closed ones stay closed") {
  for (const int of_ten : {0, 2, 8, 10})
    for (const int each : {1, 30}) {
      INFO(of_ten, " of ten points, ", each, " contours a class");
      const Flagged flagged = random_flags(31 + static_cast<std::uint64_t>(of_ten), each, of_ten);
      const TestContours in(64, 64, 4, flagged.contours), wanted(64, 64, 4, reference(flagged));
      const Written host(in.format), device(in.format);
      std::vector<unsigned> sources(in.format.contour_capacity, 77), by_kernels = sources;
      select_points(in.view, flagged.keep.data(), host.view, sources.data());
      CHECK(same_contours(host.view, wanted.view));
      CHECK(host.memory.intact());
      select_by_kernels(in.view, flagged.keep, device.view, by_kernels.data());
      CHECK(by_kernels == sources);
      for (std::uint32_t i = 0; i < host.view.counts->contours; ++i) {
        // Points are random: what remains of another contour has other ones.
        const auto whole = in.view.contour(sources[i]);
        for (const Point& point : host.view.contour(i)) CHECK(std::ranges::find(whole, point) != whole.end());
      }
      CHECK(same_contours(device.view, wanted.view));
      CHECK(device.memory.intact());
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
  const Written host(in.format), device(in.format);
  std::vector<unsigned> sources(3);
  select_points(in.view, keep.data(), host.view);
  CHECK(same_contours(host.view, in.view));
  select_by_kernels(in.view, keep, device.view, sources.data());
  CHECK(same_contours(device.view, in.view));
  CHECK(sources == std::vector<unsigned>{0, 1, 2});
}

TEST_CASE("the kernels of drop_small mark the points of the contours that its CPU keeps") {
  const std::vector<TestContour> contours = exact_contours(12, 3, 40);
  const TestContours in(64, 64, 3, contours);
  DropSmallParams params{.min_points = 3, .min_length = 9.5, .min_area = 1.25};
  for (const double area : {0.0, 1.25}) {
    params.min_area = area;
    std::vector<unsigned long long> lengths(contours.size(), 77), areas(contours.size(), 77);
    std::vector<std::uint8_t> keep(in.format.point_capacity, 2);
    const drop_small_cuda::Job job{.in = in.view,
                                   .least = LeastSizes(params),
                                   .lengths = lengths.data(),
                                   .areas = areas.data(),
                                   .keep = keep.data()};
    const auto run = [&](auto* kernel) { emulated::run_grid(3, 64, 0, false, [&] { kernel(job); }); };
    run(drop_small_cuda::clear_sums);
    run(drop_small_cuda::add_segments);
    run(drop_small_cuda::mark_points);
    std::size_t at = 0;
    for (const TestContour& contour : contours) {
      const bool large = reference_size(contour, ContourSize::Points) >= 3 &&
                         reference_size(contour, ContourSize::Length) >= 9.5 &&
                         reference_size(contour, ContourSize::Area) >= area;
      for (std::size_t i = 0; i < contour.points.size(); ++i) CHECK(keep[at++] == (large ? 1 : 0));
    }
  }
}
