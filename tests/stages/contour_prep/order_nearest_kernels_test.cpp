// The kernels of order_nearest, run on the host by the emulator, against the CPU. Needs no device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include <doctest/doctest.h>

#include "stages/contour_prep/order_nearest/kernels.cuh"
#include "stages/contour_prep/order_nearest/stage.h"
#include "stages/contour_prep/shared/outputs.cuh"
#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/drawn_contours.h"
#include "tests/stages/contour_prep/emulated_placement.h"
#include "tests/stages/contour_prep/reference.h"
#include "tests/stages/contour_prep/slow_contours.h"

using namespace contorno;
using namespace contorno::order_nearest_cuda;
using namespace contorno::test;

namespace {

template <class... Parameters>
void run_shared(std::size_t shared, void (*kernel)(Parameters...),
                const std::type_identity_t<Parameters>&... arguments) {
  emulated::run_grid(2, 64, shared, false, [&] { kernel(arguments...); });
}

/// Whether the kernels make of `in` what the CPU makes of it, with the bits of what is visited in shared
/// memory or not.
Comparison same_order(const ContoursView& in, DrawingOrder order, bool shares_visited) {
  const std::size_t capacity = in.format.contour_capacity,
                    words = capacity / 32 + static_cast<std::size_t>(in.format.classes) + 1;
  std::vector<Box> boxes(capacity);
  std::vector<unsigned> lists(capacity * kListed, 77), left(capacity, 77), visited(words, 77),
      sorted(capacity, 77), starts(capacity, 77);
  const bool is_greedy = order == DrawingOrder::Greedy;
  unsigned refused = 77;
  unsigned long long listing = 77;
  std::vector<unsigned long long> ordering(in.format.classes, 77);
  const order_nearest_cuda::Job job{.in = in,
                                    .boxes = boxes.data(),
                                    .lists = lists.data(),
                                    .left = left.data(),
                                    .visited = shares_visited ? nullptr : visited.data(),
                                    .sorted = sorted.data(),
                                    .starts = is_greedy ? nullptr : starts.data(),
                                    .listing = &listing,
                                    .ordering = ordering.data(),
                                    .refused = &refused};
  run_shared(0, bound_contours, job);
  if (is_greedy) run_shared(sizeof(Lists), list_nearest, job);
  run_shared(sizeof(Step) + (shares_visited ? words * sizeof(unsigned) : 0),
             is_greedy ? order_contours : order_ends, job);
  EmulatedPlacement placement(in);
  placement.view.order = sorted.data();
  run_shared(sizeof(RangeShared), contour_order_cuda::measure_first, placement.view, ~0U);
  run_shared(sizeof(RangeShared), contour_order_cuda::write_whole, placement.view, job.starts);
  StageHarness stage(order_nearest_stage(), {{"order", std::string(is_greedy ? "greedy" : "endpoint")}});
  stage.run({in});
  return placement.intact() ? same_contours(placement.view.out, std::get<ContoursView>(stage.value()))
                            : Comparison{"memory around the contours was written"};
}

void check_orders(const ContoursView& in) {
  for (const DrawingOrder order : {DrawingOrder::Greedy, DrawingOrder::Endpoint})
    CHECK(same_order(in, order, true));
}

/// Whether list_nearest gives what all pairs of points say.
Comparison same_lists(const ContoursView& in, unsigned room_for_pairs) {
  const auto contours = static_cast<unsigned>(in.counts->contours);
  std::vector<Box> boxes(in.format.contour_capacity);
  std::vector<unsigned> lists(in.format.contour_capacity * kListed, 77), wanted;
  std::vector<unsigned long long> distances(std::size_t{room_for_pairs} * room_for_pairs, 77);
  unsigned refused = 77;
  unsigned long long listing = 77;
  const order_nearest_cuda::Job job{.in = in,
                                    .boxes = boxes.data(),
                                    .lists = lists.data(),
                                    .distances = distances.data(),
                                    .room_for_pairs = room_for_pairs,
                                    .listing = &listing,
                                    .refused = &refused};
  run_shared(0, bound_contours, job);
  run_shared(0, measure_pairs, job);
  run_shared(sizeof(Lists), list_nearest, job);
  for (unsigned a = 0; a < contours; ++a) {
    const auto class_of = [&](unsigned c) {
      return std::upper_bound(in.class_begin, in.class_begin + in.format.classes + 1, c);
    };
    std::vector<std::pair<double, unsigned>> others;
    for (unsigned b = 0; b < contours; ++b) {
      double least = std::numeric_limits<double>::infinity();
      for (const Point& p : in.contour(a))
        for (const Point& q : in.contour(b))
          if (const double squared = squared_distance(p, q); squared < least) least = squared;
      if (a != b && class_of(a) == class_of(b) && std::isfinite(least)) others.emplace_back(least, b);
    }
    std::ranges::sort(others);
    others.resize(kListed, {0, order_nearest_cuda::kNone});
    for (const auto& [distance, other] : others) wanted.push_back(other);
  }
  return compare_lists("listed", wanted.data(), lists.data(), wanted.size());
}

/// The kernels with limits of their own on what they may take, for one class.
struct Limited {
  explicit Limited(const std::vector<TestContour>& contours) : in(1 << 14, 1 << 14, 1, contours) {}

  void run(DrawingOrder order, unsigned room_for_pairs, unsigned long long most_listing,
           unsigned long long most_ordering) {
    const std::size_t capacity = in.format.contour_capacity;
    std::vector<Box> boxes(capacity);
    std::vector<unsigned> lists(capacity * kListed, 77), left(capacity, 77), starts(capacity, 77);
    std::vector<unsigned long long> distances(std::size_t{room_for_pairs} * room_for_pairs, 77);
    sorted.assign(capacity, 77);
    const bool is_greedy = order == DrawingOrder::Greedy;
    const order_nearest_cuda::Job job{.in = in.view,
                                      .order = order,
                                      .boxes = boxes.data(),
                                      .lists = lists.data(),
                                      .distances = distances.data(),
                                      .room_for_pairs = room_for_pairs,
                                      .left = left.data(),
                                      .sorted = sorted.data(),
                                      .starts = is_greedy ? nullptr : starts.data(),
                                      .listing = &listing,
                                      .ordering = &ordering,
                                      .most_listing = most_listing,
                                      .most_ordering = most_ordering,
                                      .refused = &refused};
    run_shared(0, bound_contours, job);
    if (is_greedy) run_shared(0, measure_pairs, job), run_shared(sizeof(Lists), list_nearest, job);
    run_shared(sizeof(Step) + (capacity / 32 + 2) * sizeof(unsigned), is_greedy ? order_contours : order_ends,
               job);
  }
  bool are_as_they_were() const {
    for (unsigned i = 0; i < in.view.counts->contours; ++i)
      if (sorted[i] != i) return false;
    return true;
  }

  TestContours in;
  std::vector<unsigned> sorted;
  unsigned long long listing = 77, ordering = 77;
  unsigned refused = 77;
};
constexpr unsigned long long kAnySteps = ~0ULL / 2;

std::vector<TestContour> contours_of(const std::string& family, int points) {
  for (const SlowContours& one : slow_contours_of_many())
    if (one.name == family) return one.make(points);
  throw std::logic_error("there is no such family");
}

}  // namespace

TEST_CASE("the kernels of order_nearest refuse a class beyond the steps that are allowed, and not at them") {
  struct Case {
    const char* family;
    int points;
    DrawingOrder order;
    unsigned room_for_pairs;
  };
  for (const Case& one : {Case{"squares in each other, in no order", 100, DrawingOrder::Greedy, 0},
                          {"squares in each other, in no order", 100, DrawingOrder::Greedy, kMostPaired},
                          {"equal squares", 180, DrawingOrder::Greedy, 0},
                          {"spirals in each other", 100, DrawingOrder::Greedy, 0},
                          {"squares in each other, in no order", 100, DrawingOrder::Endpoint, 0}}) {
    INFO(one.family, ", ", one.room_for_pairs);
    Limited limited(contours_of(one.family, one.points));
    const auto contours = static_cast<unsigned>(limited.in.view.counts->contours);
    const auto run = [&](unsigned long long listing, unsigned long long ordering) {
      limited.run(one.order, one.room_for_pairs, listing, ordering);
    };
    run(kAnySteps, kAnySteps);
    CHECK(limited.refused == 0);
    const std::vector<unsigned> wanted = limited.sorted;
    const unsigned long long listing = limited.listing, ordering = limited.ordering;
    if (one.order == DrawingOrder::Greedy) {
      CHECK(listing > 0);
      run(listing, kAnySteps);
      CHECK(limited.refused == 0);
      CHECK(limited.sorted == wanted);
      run(listing - 1, kAnySteps);
      CHECK(limited.refused == contours);
      CHECK(limited.are_as_they_were());
      // What one warp spends counts as all.
      run(kAnySteps, 1);
      CHECK(limited.refused == contours);
    } else {
      run(0, ordering);
      CHECK(limited.refused == 0);
      CHECK(limited.sorted == wanted);
      run(0, ordering - 1);
      CHECK(limited.refused == contours);
      CHECK(limited.are_as_they_were());
    }
  }
}

TEST_CASE("the steps that the kernels of order_nearest count are those that grow") {
  const auto steps = [](const char* family, DrawingOrder order, int points) {
    Limited limited(contours_of(family, points));
    limited.run(order, 0, kAnySteps, kAnySteps);
    return std::pair{static_cast<double>(limited.listing), static_cast<double>(limited.ordering)};
  };
  // Four times as many contours, all compared with all.
  const char* const nested = "squares in each other, in no order";
  CHECK(steps(nested, DrawingOrder::Greedy, 200).first > 12 * steps(nested, DrawingOrder::Greedy, 50).first);
  CHECK(steps(nested, DrawingOrder::Endpoint, 400).second >
        10 * steps(nested, DrawingOrder::Endpoint, 100).second);
  // Also where the nearest one is found at once: all that are left are looked at for each place.
  constexpr int kContours = 100, kPointsEach = 5, kLooks = 5;  // four samples and a box
  CHECK(steps("long teeth beside each other", DrawingOrder::Endpoint, kPointsEach * kContours).second >=
        kLooks * kContours * (kContours - 1) / 2.0 / 32);
}

TEST_CASE("a class of contours that a device does not put in order is refused with a sentence") {
  CHECK_THROWS_WITH_AS(
      throw_too_many_steps(70000),
      "order_nearest: comparing the 70000 contours of a class with each other takes a device more than the "
      "268435456 steps in a row, or the 4294967296 in all, that are allowed; take backend: cpu, or leave "
      "some "
      "out before (drop_duplicates, drop_small, largest_first)",
      Error);
}

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
  for (const std::uint64_t seed : {1, 2}) {
    check_orders(TestContours(64, 64, 3, drawn_contours(seed, 3, 80, 200)).view);
    check_orders(TestContours(64, 64, 2, drawn_contours(seed, 2, 60, 6)).view);
    check_orders(TestContours(64, 64, 1, drawn_points(seed, 90, 12)).view);
    check_orders(TestContours(64, 64, 2, without_numbers(drawn_contours(seed, 2, 50, 25))).view);
  }
  check_orders(TestContours(64, 64, 2, {}).view);
  check_orders(TestContours(64, 64, 1, {{0, false, {}}, {0, false, {{1, 1}}}, {0, false, {{2, 2}}}}).view);
}

TEST_CASE("the list of a contour has the nearest others of its class, and of equally near ones the first") {
  for (const unsigned room : {0U, kMostPaired}) {
    CHECK(same_lists(TestContours(64, 64, 3, drawn_contours(1, 3, 75, 90)).view, room));
    CHECK(same_lists(TestContours(64, 64, 1, drawn_points(2, 70, 5)).view, room));
    CHECK(same_lists(TestContours(64, 64, 1, exact_contours(4, 1, 8)).view,
                     room));  // some of hundreds of points
    CHECK(same_lists(TestContours(64, 64, 2, without_numbers(drawn_contours(3, 2, 50, 40))).view, room));
    CHECK(same_lists(TestContours(64, 64, 1, std::vector<TestContour>(40, {0, false, {{3, 4}}})).view, room));
  }
}

TEST_CASE("the kernels of order_nearest search all that is left where none is left nearby") {
  // The contours near the last one of a cluster are those of the cluster, and have their place.
  std::vector<TestContour> contours;
  Random random(3);
  for (int i = 0; i < 80; ++i)
    contours.push_back({i / 40, false, {{random.below(40) / 4.0, random.below(40) / 4.0}}});
  for (int i = 0; i < 40; ++i)
    contours.push_back({1, false, {{random.below(40) / 4.0 + 1000, random.below(40) / 4.0}}});
  const TestContours in(64, 64, 2, contours);
  for (const bool shares_visited : {true, false})
    for (const DrawingOrder order : {DrawingOrder::Greedy, DrawingOrder::Endpoint})
      CHECK(same_order(in.view, order, shares_visited));
}

TEST_CASE("the kernels of order_nearest pass on how much room contours need") {
  TestContours in(64, 64, 2, drawn_contours(1, 2, 9, 20));
  in.view.counts->points = in.format.point_capacity + 1;
  check_orders(in.view);
}
