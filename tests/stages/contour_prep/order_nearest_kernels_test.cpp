// The kernels of order_nearest, run on the host by the emulator, against the CPU; the library's sums are done
// here. Needs no device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include <doctest/doctest.h>

#include "stages/contour_prep/order_nearest/kernels.cuh"
#include "stages/contour_prep/order_nearest/stage.h"
#include "stages/contour_prep/order_nearest/two_opt.cuh"
#include "stages/contour_prep/shared/contour_order.cuh"
#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/drawn_contours.h"
#include "tests/stages/contour_prep/emulated_placement.h"
#include "tests/stages/contour_prep/reference.h"

using namespace contorno;
using namespace contorno::order_nearest_cuda;
using namespace contorno::test;

namespace {

template <class... Parameters>
void run_shared(std::size_t shared, void (*kernel)(Parameters...),
                const std::type_identity_t<Parameters>&... arguments) {
  emulated::run_grid(2, 64, shared, false, [&] { kernel(arguments...); });
}

/// Whether the kernels make of `in` what the CPU makes of it.
bool same_order(const ContoursView& in, const OrderNearestParams& params) {
  const std::size_t capacity = in.format.contour_capacity;
  std::vector<Box> boxes(capacity);
  std::vector<unsigned> left(capacity, 77), sorted(capacity, 77), starts(capacity, 77);
  std::vector<Point> downs(capacity), ups(capacity);
  const bool is_greedy = params.order == DrawingOrder::Greedy;
  const Job job{.in = in,
                .boxes = boxes.data(),
                .left = left.data(),
                .sorted = sorted.data(),
                .starts = is_greedy ? nullptr : starts.data()};
  run_shared(0, bound_contours, job);
  run_shared(sizeof(Step), is_greedy ? order_contours : order_ends, job);
  if (params.order == DrawingOrder::TwoOpt)
    run_shared(sizeof(Turn), shorten_ways,
               TurnJob{.in = in,
                       .sorted = sorted.data(),
                       .starts = starts.data(),
                       .downs = downs.data(),
                       .ups = ups.data(),
                       .passes = params.passes});
  EmulatedPlacement placement(in);
  placement.view.order = sorted.data();
  run_shared(0, contour_order_cuda::measure_first, placement.view, ~0U);
  placement.add_up();
  run_shared(0, contour_order_cuda::place_whole, placement.view);
  run_shared(0, contour_order_cuda::copy_whole, placement.view, job.starts);
  StageHarness stage(order_nearest_stage(),
                     {{"order", std::string(is_greedy                                ? "greedy"
                                            : params.order == DrawingOrder::Endpoint ? "endpoint"
                                                                                     : "2opt")},
                      {"passes", std::int64_t{params.passes}}});
  stage.run({in});
  return placement.intact() && same_contours(placement.view.out, std::get<ContoursView>(stage.value()));
}

void check_orders(const ContoursView& in) {
  CHECK(same_order(in, {.order = DrawingOrder::Greedy}));
  CHECK(same_order(in, {.order = DrawingOrder::Endpoint}));
  for (const int passes : {1, 30}) CHECK(same_order(in, {.order = DrawingOrder::TwoOpt, .passes = passes}));
}

}  // namespace

TEST_CASE("the kernels of order_nearest give the order of the CPU") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<TestContour> contours = exact_contours(9, 3, 12);
  contours.push_back({2, false, {{nan, 3}}});
  contours.push_back({2, false, {{3, 3}, {nan, 1}}});
  contours.push_back({2, false, {{nan, 4}}});
  for (int i = 0; i < 30; ++i) contours.push_back({2, false, {{i % 6, i / 6}}});
  check_orders(TestContours(64, 64, 3, contours, {}, Attributes{Attribute::Depth}).view);
}

TEST_CASE("the kernels of order_nearest draw contours as the CPU does") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    check_orders(TestContours(64, 64, 3, drawn_contours(seed, 3, 80, 200)).view);
    check_orders(TestContours(64, 64, 2, drawn_contours(seed, 2, 60, 6)).view);
    check_orders(TestContours(64, 64, 1, drawn_points(seed, 150, 12)).view);
    check_orders(TestContours(64, 64, 2, without_numbers(drawn_contours(seed, 2, 50, 25))).view);
  }
  check_orders(TestContours(64, 64, 2, {}).view);
  check_orders(TestContours(64, 64, 1, {{0, false, {}}, {0, false, {{1, 1}}}, {0, false, {{2, 2}}}}).view);
}

TEST_CASE("the kernels of order_nearest pass on how much room contours need") {
  TestContours in(64, 64, 2, drawn_contours(1, 2, 9, 20));
  in.view.counts->points = in.format.point_capacity + 1;
  check_orders(in.view);
}
