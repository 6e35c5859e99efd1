// The kernels of largest_first, run on the host by the emulator, against a reference; the library's sort and
// scan are done here. Needs no device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include "stages/contour_prep/largest_first/kernels.cuh"

#include <doctest/doctest.h>

#include <numeric>

#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/reference.h"

using namespace contorno;
using namespace contorno::largest_first_cuda;
using namespace contorno::test;

namespace {

/// Runs the kernels on `in`, with room for more contours than there are, and returns what they wrote.
class Emulated {
 public:
  Emulated(const ContoursView& in, ContourSize by, int limit) : memory_(packed_bytes(in.format)) {
    view = packed_view(memory_.data(), in.format);
    const std::size_t capacity = in.format.contour_capacity;
    std::vector<unsigned long long> sums(capacity, 77), keys(capacity, 77), sorted_keys(capacity);
    std::vector<unsigned> contours(capacity, 77), sorted(capacity), lengths(capacity + 1, 77),
        sources(capacity);
    const Job job{.in = in,
                  .out = view,
                  .by = by,
                  .limit = limit > 0 ? static_cast<unsigned>(limit) : ~0U,
                  .capacity = static_cast<unsigned>(capacity),
                  .sums = sums.data(),
                  .keys = keys.data(),
                  .sorted_keys = sorted_keys.data(),
                  .contours = contours.data(),
                  .sorted = sorted.data(),
                  .lengths = lengths.data(),
                  .sources = sources.data()};
    const auto run = [&](auto* kernel) { emulated::run_grid(3, 64, 0, false, [&] { kernel(job); }); };
    run(clear_keys);
    if (by != ContourSize::Points) run(add_segments);
    run(make_keys);
    std::iota(sorted.begin(), sorted.end(), 0U);
    std::stable_sort(sorted.begin(), sorted.end(), [&](unsigned a, unsigned b) { return keys[a] < keys[b]; });
    run(place_contours);
    std::exclusive_scan(lengths.begin(), lengths.end(), view.offsets, 0U);
    run(copy_points);
  }

  ContoursView view;

 private:
  Guarded memory_;
};

}  // namespace

TEST_CASE("the kernels of largest_first give the contours of the reference") {
  constexpr int kClasses = 5;
  const std::vector<TestContour> contours = exact_contours(5, kClasses, 40);
  const TestContours in(64, 64, kClasses, contours);
  for (const ContourSize by : {ContourSize::Points, ContourSize::Length, ContourSize::Area})
    for (const int limit : {0, 1, 7}) {
      INFO("by ", static_cast<int>(by), ", limit ", limit);
      const Emulated emulated(in.view, by, limit);
      const TestContours wanted(64, 64, kClasses, reference_largest_first(contours, kClasses, by, limit));
      CHECK(same_contours(emulated.view, wanted.view));
    }
}

TEST_CASE("the kernels of largest_first make nothing of contours that did not fit into their room") {
  TestContours in(64, 64, 2, exact_contours(6, 2, 9));
  in.view.counts->contours = in.format.contour_capacity + 1;
  const Emulated emulated(in.view, ContourSize::Area, 0);
  CHECK(emulated.view.counts->contours == 0);
  CHECK(emulated.view.counts->points == 0);
}
