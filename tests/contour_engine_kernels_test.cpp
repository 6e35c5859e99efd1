// The kernels of the CUDA contour engine, run on the host by an emulator of blocks, against the naive
// reference: no device and no CUDA compiler needed. tests/gpu/contour_engine_gpu.cpp does the same on a
// device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include <array>
#include <cstdlib>

#include "stages/contour_engine_plan.cuh"
#include "tests/gpu/contour_cases.h"

#include <doctest/doctest.h>

using namespace contorno;
using namespace contorno::contour_engine;

namespace {

template <class T, class P>
void launch_all(const Job<P>& job, unsigned join_blocks, bool large) {
  const auto tiles = static_cast<unsigned>(job.tiles());
  // Both ways of tracing are tried, whatever the size of the map.
  if (tiles != 0 && !large) {
    emulated::run_grid(tiles, kSmallThreads, sizeof(SmallShared), false, [&] { trace_small<T, P>(job); });
  } else if (tiles != 0) {
    emulated::run_grid(tiles, kWarpThreads, sizeof(TileShared<WarpLinks>), false,
                       [&] { trace_tiles<T, P>(job); });
    emulated::run_grid(2, kDenseThreads, sizeof(TileShared<WideLinks>), false,
                       [&] { trace_dense<T, P>(job); });
  }
  if (large) emulated::run_grid(join_blocks, kRankThreads, 0, false, [&] { join_pieces<P>(job); });
  if (large)
    emulated::run_grid(join_blocks, kRankThreads, 0, false, [&] { finish_pieces<P>(job); });
  else
    emulated::run_grid(join_blocks, kJoinThreads, sizeof(JoinShared), true, [&] { join_and_number<P>(job); });
  if (large)
    emulated::run_grid(job.scan_blocks, kScanThreads, sizeof(ScanShared), false,
                       [&] { number_contours<P>(job); });
  emulated::run_grid(3, kPlaceThreads, 0, false, [&] { place_points<P>(job); });
}

/// What stands behind the capacities of the output, to see that nothing is written there.
constexpr unsigned char kGuard = 0x5C;

template <class P>
testing::Result run_emulated(const testing::Case& c, unsigned frames, unsigned join_blocks, bool large) {
  Job<P> job = plan_job<P>(c.spec);
  std::size_t clear = 0;
  std::vector<std::uint64_t> workspace(place_work(job, nullptr) / 8 + 64, 0xBDBDBDBDBDBDBDBDULL);
  void* base = workspace.data();
  place_work(job, base, &clear);
  std::memset(base, 0, clear);
  ImageView view{const_cast<unsigned char*>(c.samples.data()), c.spec.map, c.row_pitch, c.plane_pitch};
  job.map = map_of(view, {c.mask.empty() ? nullptr : c.mask.data(), c.spec.map.width});
  std::array<unsigned long long, 2> counts{};
  const std::size_t guard = 64;
  const std::size_t capacity = c.spec.point_capacity;
  const std::size_t contours = c.spec.contour_capacity;
  std::vector<unsigned char> points((capacity + guard) * sizeof(P), kGuard);
  std::vector<std::uint32_t> offsets(contours + 1 + guard, 0x5C5C5C5CU);
  std::vector<std::uint8_t> closed(contours + guard, kGuard);
  std::vector<std::uint32_t> class_begin(static_cast<std::size_t>(c.spec.map.channels) + 1 + guard,
                                         0x5C5C5C5CU);
  job.out = {counts.data(), reinterpret_cast<P*>(points.data()), offsets.data(), closed.data(),
             class_begin.data()};
  for (unsigned frame = 0; frame < frames; ++frame) switch (c.spec.map.type) {
      case ElementType::U8:
        launch_all<unsigned char>(job, join_blocks, large);
        break;
      case ElementType::U16:
        launch_all<unsigned short>(job, join_blocks, large);
        break;
      case ElementType::F16:
        launch_all<__half>(job, join_blocks, large);
        break;
      case ElementType::F32:
        launch_all<float>(job, join_blocks, large);
        break;
      case ElementType::F64:
        launch_all<double>(job, join_blocks, large);
        break;
    }
  for (std::size_t i = 0; i < guard * sizeof(P); ++i) REQUIRE(points[capacity * sizeof(P) + i] == kGuard);
  for (std::size_t i = 0; i < guard; ++i) {
    REQUIRE(offsets[contours + 1 + i] == 0x5C5C5C5CU);
    REQUIRE(closed[contours + i] == kGuard);
    REQUIRE(class_begin[static_cast<std::size_t>(c.spec.map.channels) + 1 + i] == 0x5C5C5C5CU);
  }
  testing::Result result;
  result.points = counts[0];
  result.contours = counts[1];
  if (counts[0] > capacity || counts[1] > contours) return result;
  for (std::size_t i = 0; i < counts[0]; ++i) {
    P point;
    std::memcpy(&point, &points[i * sizeof(P)], sizeof(P));
    result.at.emplace_back(point.row, point.col);
  }
  result.offsets.assign(offsets.begin(), offsets.begin() + static_cast<std::ptrdiff_t>(counts[1] + 1));
  result.closed.assign(closed.begin(), closed.begin() + static_cast<std::ptrdiff_t>(counts[1]));
  result.class_begin.assign(class_begin.begin(), class_begin.begin() + c.spec.map.channels + 1);
  return result;
}

testing::Result run_case(const testing::Case& c, unsigned frames = 1, unsigned join_blocks = 1,
                         bool large = false) {
  return c.spec.points == ContourEngineSpec::Points::Float32
             ? run_emulated<contour_engine::Point32>(c, frames, join_blocks, large)
             : run_emulated<contour_engine::Point64>(c, frames, join_blocks, large);
}

std::uint64_t case_count(std::uint64_t normal) {
  const char* more = std::getenv("CONTORNO_TEST_CASES");
  return more != nullptr ? std::strtoull(more, nullptr, 10) : normal;
}

}  // namespace

TEST_CASE("the device kernels find exactly the contours of the reference on random small maps") {
  for (std::uint64_t seed = 1; seed <= case_count(150); ++seed) {
    const testing::Case c = testing::make_case(seed, 12);
    CHECK_MESSAGE(testing::difference(run_case(c, 1, 1, seed % 2 == 0), testing::reference_result(c)) == "",
                  c.name);
  }
}

TEST_CASE("the device kernels find exactly the contours of the reference across tiles") {
  for (std::uint64_t seed = 1; seed <= case_count(60); ++seed) {
    const testing::Case c = testing::make_case(10000 + seed, 140);
    CHECK_MESSAGE(testing::difference(run_case(c, 1, 1, seed % 2 == 0), testing::reference_result(c)) == "",
                  c.name);
  }
}

TEST_CASE("the device kernels leave their counters ready for the next frame") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const testing::Case c = testing::make_case(20000 + seed, 100);
    CHECK_MESSAGE(testing::difference(run_case(c, 3, 1, seed % 2 == 0), testing::reference_result(c)) == "",
                  c.name);
  }
}

TEST_CASE("the device kernels count what does not fit and write nothing past the end") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    testing::Case c = testing::make_case(30000 + seed, 80);
    const testing::Result want = testing::reference_result(c);
    if (want.contours < 2) continue;
    c.spec.contour_capacity = want.contours - 1;
    testing::Result got = run_case(c, 2);
    CHECK_MESSAGE(got.contours > c.spec.contour_capacity, c.name);
    c.spec.contour_capacity = want.contours;
    c.spec.point_capacity = want.points / 2;
    got = run_case(c, 2);
    CHECK_MESSAGE(got.points > c.spec.point_capacity, c.name);
  }
}

TEST_CASE("the device kernels join more pieces than one block holds") {
  testing::Case c = testing::make_case(3, 12);
  std::mt19937_64 random(5);
  c.spec = {};
  c.spec.map = {
      .width = 500, .height = 420, .channels = 1, .type = ElementType::F32, .layout = Layout::Planar};
  c.spec.levels = {0.5};
  c.spec.point_capacity = 800000;
  c.spec.contour_capacity = 400000;
  c.mask.clear();
  testing::allocate(c, random);
  for (const int kind : {0, 4}) {
    const std::vector<double> v = testing::make_plane(kind, 500, 420, 0.5, random);
    for (int row = 0; row < 420; ++row)
      for (int col = 0; col < 500; ++col)
        testing::write_sample(ElementType::F32, c.samples.data() + testing::sample_offset(c, 0, row, col),
                              v[static_cast<std::size_t>(row * 500 + col)]);
    const testing::Result want = testing::reference_result(c);
    CHECK(testing::difference(run_case(c, 2, 4, true), want) == "");
    CHECK(testing::difference(run_case(c, 2, 2, false), want) == "");
    CHECK(testing::difference(run_case(c, 1, 1, true), want) == "");
  }
}
