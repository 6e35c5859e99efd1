// The kernels of the CUDA contour engine, run on the host by an emulator of blocks, against the naive
// reference: no device and no CUDA compiler needed. tests/gpu/contour_engine_gpu.cpp does the same on a
// device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include <array>
#include <cstdlib>

#include "stages/contours/cuda/export.cuh"
#include "stages/contours/cuda/workspace.cuh"
#include "tests/gpu/contour_cases.h"

#include <doctest/doctest.h>

using namespace contorno;
using namespace contorno::contour_engine;

namespace {

struct How {
  unsigned frames = 1, join_blocks = 1;
  bool large = false;
  bool exported = true;     ///< counters are left ready by export_contours, not by scatter_points
  bool scan = false;        ///< numbers the contours of large maps by a scan, however few they are
  unsigned near_tiles = 0;  ///< room for near tiles, with several levels; 0: as planned
  int strip_rows = 0;       ///< rows of a strip, with several levels; no fewer than planned; 0: as planned
  std::vector<ImageBand> bands = {};  ///< none: one
};
constexpr unsigned char kNotThere = 0x3D;  ///< samples that have not come yet

template <class T, bool kLevels, class P>
void launch_band(const PlaneGroup<P>& group, const BandTiles& band, const How& how) {
  const auto [join_blocks, large] = std::pair{how.join_blocks, how.large};
  const unsigned tiles = kLevels ? group.tile_capacity : static_cast<unsigned>(tiles_in(group, band.rows));
  // Both ways of tracing are tried, whatever the size of the map.
  const auto by_blocks = [&](unsigned blocks, unsigned count) {
    emulated::run_grid(blocks, kBlockThreads, sizeof(BlockShared), false,
                       [&] { trace_blocks<T, P, kLevels>(group, count); });
  };
  if (tiles != 0 && !large) {
    by_blocks(tiles, tiles);
  } else if (tiles != 0) {
    constexpr unsigned kWarps = 3;
    emulated::run_grid(std::min(tiles, 2U), kWarps * kWarpThreads, WarpsShared::bytes(kWarps), false,
                       [&] { trace_warps<T, P, kLevels>(group, tiles); });
    by_blocks(2, 0);
  }
  if (!band.completes) {
    group.work.counters->dense_tiles = 0;
    return;
  }
  emulated::run_grid(join_blocks, kRankThreads, 0, false, [&] { join_pieces<P>(group); });
  emulated::run_grid(join_blocks + group.scan_blocks, kScanThreads, sizeof(NumberShared), false,
                     [&] { finish_and_number<P>(group); });
  if (kLevels) {
    emulated::run_grid(2, kScanThreads, sizeof(ChunkShared), false, [&] { scan_strips<P>(group); });
    emulated::run_grid(2, kStripThreads, 0, false, [&] { number_levels<P>(group); });
  }
  emulated::run_grid(3, kScatterThreads, sizeof(ScatterShared), false, [&] { scatter_points<P>(group); });
}

/// A map that comes in these bands: of what has not come yet, the samples are others.
template <class T, class P>
void launch_all(const PlaneGroup<P>& whole, const testing::Case& c, std::vector<unsigned char>& device,
                const Output<P>& host, const How& how) {
  std::fill(device.begin(), device.end(), kNotThere);
  const auto row_bytes = static_cast<std::ptrdiff_t>(c.spec.map.row_bytes());
  for (const ImageBand& band : how.bands) {
    for (int plane = band.plane; plane < band.plane + band.planes; ++plane)
      for (int row = band.begin; row < band.end; ++row) {
        const std::ptrdiff_t at = plane * c.plane_pitch + row * c.row_pitch;
        std::copy_n(c.samples.begin() + at, row_bytes, device.begin() + at);
      }
    const BandTiles band_tiles = tiles_of(whole, band);
    const PlaneGroup<P> group = group_of(whole, band_tiles);
    launch_band<T, false>(group, band_tiles, how);
    if (!band_tiles.completes) continue;
    Output<P> to = host;
    to.class_begin += band_tiles.plane;
    emulated::run_grid(2, kExportThreads, 0, false, [&] { export_contours<P>(group, to); });
  }
}

/// A map whose channels have several levels.
template <class T, class P>
void launch_levels(const PlaneGroup<P>& whole, const ContourEngineSpec& spec, const How& how) {
  const unsigned blocks = channel_tiles(whole) / (kNearThreads / 32) + 1;
  for_level_groups(whole, spec, [&](const PlaneGroup<P>& group, std::size_t) {
    emulated::run_grid(blocks, kNearThreads, sizeof(NearShared), false,
                       [&] { find_near_tiles<T, P>(group); });
    launch_band<T, true>(group, {0, group.planes, 0, group.tiles_y, true}, how);
  });
}

/// What stands behind the capacities of the output, to see that nothing is written there.
constexpr unsigned char kGuard = 0x5C;

/// The arrays of contours, with guards behind them.
template <class P>
struct GuardedOutput {
  static constexpr std::size_t kExtra = 64;
  alignas(16) std::array<unsigned long long, 2> counts{};
  std::vector<P> points;
  std::vector<std::uint32_t> offsets, class_begin;
  std::vector<std::uint8_t> closed;

  explicit GuardedOutput(const ContourEngineSpec& spec)
      : points(spec.point_capacity + kExtra, bit_guard()),
        offsets(spec.contour_capacity + 1 + kExtra, kGuard),
        class_begin(spec.planes() + 1 + kExtra, kGuard),
        closed(spec.contour_capacity + kExtra, kGuard) {}
  Output<P> view() {
    return {counts.data(), points.data(), offsets.data(), closed.data(), class_begin.data()};
  }
  void check_guards() const {
    for (std::size_t i = 1; i <= kExtra; ++i) {
      const P guard = bit_guard();
      REQUIRE(std::memcmp(&points[points.size() - i], &guard, sizeof(P)) == 0);
      REQUIRE(offsets[offsets.size() - i] == kGuard);
      REQUIRE(class_begin[class_begin.size() - i] == kGuard);
      REQUIRE(closed[closed.size() - i] == kGuard);
    }
  }
  testing::Result result(const ContourEngineSpec& spec) const {
    testing::Result found;
    found.points = counts[0];
    found.contours = counts[1];
    if (counts[0] > spec.point_capacity || counts[1] > spec.contour_capacity) return found;
    for (std::size_t i = 0; i < counts[0]; ++i) found.at.emplace_back(points[i].row, points[i].col);
    const auto contours = static_cast<std::ptrdiff_t>(counts[1]);
    found.offsets.assign(offsets.begin(), offsets.begin() + contours + 1);
    found.closed.assign(closed.begin(), closed.begin() + contours);
    found.class_begin.assign(class_begin.begin(),
                             class_begin.begin() + static_cast<std::ptrdiff_t>(spec.planes()) + 1);
    return found;
  }

 private:
  static P bit_guard() {
    P point;
    std::memset(static_cast<void*>(&point), kGuard, sizeof(point));
    return point;
  }
};

/// Calls f with a null pointer of the type of the samples.
template <class F>
void with_type(ElementType type, const F& f) {
  switch (type) {
    case ElementType::U8:
      return f(static_cast<unsigned char*>(nullptr));
    case ElementType::U16:
      return f(static_cast<unsigned short*>(nullptr));
    case ElementType::F16:
      return f(static_cast<__half*>(nullptr));
    case ElementType::F32:
      return f(static_cast<float*>(nullptr));
    case ElementType::F64:
      return f(static_cast<double*>(nullptr));
  }
}

/// The contours of the last frame, as they are on the host.
template <class P>
testing::Result run_emulated(const testing::Case& c, How how) {
  if (how.bands.empty()) how.bands = one_band(c.spec.map);
  PlaneGroup<P> group = plan_group<P>(c.spec);
  std::size_t clear = 0;
  std::vector<std::uint64_t> workspace(lay_out(group, nullptr) / 8 + 64, 0xBDBDBDBDBDBDBDBDULL);
  void* base = workspace.data();
  lay_out(group, base, &clear);
  std::memset(base, 0, clear);
  std::vector<unsigned char> samples(c.samples.size());
  ImageView view{samples.data(), c.spec.map, c.row_pitch, c.plane_pitch};
  group.map = map_of(view, {c.mask.empty() ? nullptr : c.mask.data(), c.spec.map.width});
  GuardedOutput<P> out(c.spec), host(c.spec);
  group.out = out.view();
  group.exported = how.exported ? 1 : 0;
  if (how.scan) group.few_heads = 0;
  for (unsigned frame = 0; frame < how.frames; ++frame)
    with_type(c.spec.map.type, [&](auto* tag) {
      launch_all<std::remove_pointer_t<decltype(tag)>>(group, c, samples, host.view(), how);
    });
  out.check_guards();
  host.check_guards();
  CHECK(testing::difference(host.result(c.spec), out.result(c.spec)) == "");
  return host.result(c.spec);
}

/// The same of a map whose channels have several levels; `column` gets the level of each contour.
template <class P>
testing::Result run_levels(const testing::Case& c, const How& how, int group_planes,
                           std::vector<double>& column) {
  PlaneGroup<P> group = plan_group<P>(c.spec);
  group.planes = std::min(group.planes, group_planes);
  if (how.near_tiles != 0) group.tile_capacity = how.near_tiles;
  std::size_t clear = 0;
  std::vector<std::uint64_t> workspace(lay_out(group, nullptr) / 8 + 64, 0xBDBDBDBDBDBDBDBDULL);
  lay_out(group, workspace.data(), &clear);
  std::memset(workspace.data(), 0, clear);
  if (how.strip_rows != 0) {
    NearTiles& near = group.work.near;
    REQUIRE(how.strip_rows >= near.strip_rows);
    near.strip_rows = how.strip_rows;
    near.plane_strips = static_cast<unsigned>(std::max(group.cell_rows - 1, 0) / how.strip_rows + 1);
  }
  std::vector<unsigned char> samples = c.samples;
  group.map = map_of({samples.data(), c.spec.map, c.row_pitch, c.plane_pitch},
                     {c.mask.empty() ? nullptr : c.mask.data(), c.spec.map.width});
  GuardedOutput<P> out(c.spec);
  group.out = out.view();
  column.assign(c.spec.contour_capacity + 1, -12345);
  group.out.levels = column.data();
  constexpr std::uint32_t kUnwritten = 0xBDBDBDBD;
  std::vector<std::uint32_t> channel_begin(c.spec.channel_levels.size() + 2, kUnwritten);
  group.out.channel_begin = channel_begin.data();
  const std::vector<LevelRow> rows = level_rows(c.spec, static_cast<std::size_t>(group.planes));
  group.work.near.levels = rows.data();
  for (unsigned frame = 0; frame < how.frames; ++frame)
    with_type(c.spec.map.type,
              [&](auto* tag) { launch_levels<std::remove_pointer_t<decltype(tag)>>(group, c.spec, how); });
  out.check_guards();
  CHECK(column.back() == -12345);
  CHECK(channel_begin.back() == kUnwritten);
  testing::Result found = out.result(c.spec);
  std::size_t plane = 0;
  for (std::size_t k = 0; k + 1 < channel_begin.size() && !found.class_begin.empty(); ++k) {
    CHECK(channel_begin[k] == found.class_begin[plane]);
    if (k < c.spec.channel_levels.size()) plane += static_cast<std::size_t>(c.spec.channel_levels[k]);
  }
  return found;
}

testing::Result run_case(const testing::Case& c, const How& how = {}) {
  return c.spec.points == ContourEngineSpec::Points::Float32 ? run_emulated<contour_engine::Point32>(c, how)
                                                             : run_emulated<Point64>(c, how);
}

// The address sanitizer looks at a whole stack whenever one thread of a block gives way to another: there the
// first cases have to do.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSlow = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kSlow = true;
#else
constexpr bool kSlow = false;
#endif
#else
constexpr bool kSlow = false;
#endif

std::uint64_t case_count(std::uint64_t normal) {
  const char* more = std::getenv("CONTORNO_TEST_CASES");
  if (more != nullptr) return std::strtoull(more, nullptr, 10);
  return kSlow ? (normal + 4) / 5 : normal;
}

}  // namespace

TEST_CASE("the device kernels find exactly the contours of the reference on random small maps") {
  for (std::uint64_t seed = 1; seed <= case_count(150); ++seed) {
    const testing::Case c = testing::make_case(seed, 12);
    CHECK_MESSAGE(testing::difference(run_case(c, {.large = seed % 2 == 0, .scan = seed % 4 == 0}),
                                      testing::reference_result(c)) == "",
                  c.name);
  }
}

TEST_CASE("the device kernels find exactly the contours of the reference across tiles") {
  for (std::uint64_t seed = 1; seed <= case_count(60); ++seed) {
    const testing::Case c = testing::make_case(10000 + seed, 140);
    CHECK_MESSAGE(testing::difference(run_case(c, {.large = seed % 2 == 0, .scan = seed % 4 == 0}),
                                      testing::reference_result(c)) == "",
                  c.name);
  }
}

TEST_CASE("the device kernels leave their counters ready for the next frame") {
  for (std::uint64_t seed = 1; seed <= case_count(10); ++seed) {
    const testing::Case c = testing::make_case(20000 + seed, 100);
    CHECK_MESSAGE(
        testing::difference(
            run_case(c,
                     {.frames = 3, .large = seed % 2 == 0, .exported = seed % 3 != 0, .scan = seed % 4 == 0}),
            testing::reference_result(c)) == "",
        c.name);
  }
}

TEST_CASE("the device kernels find the same contours in a map that comes in bands") {
  for (std::uint64_t seed = 1; seed <= case_count(20); ++seed) {
    const testing::Case c = testing::make_case(40000 + seed, seed % 3 == 0 ? 24 : 140);
    const testing::Result want = testing::reference_result(c);
    const std::size_t bytes = c.spec.map.row_bytes() * static_cast<std::size_t>(c.spec.map.height) *
                              static_cast<std::size_t>(c.spec.map.planes());
    for (const std::size_t parts : {6, 24}) {
      How how{.frames = 2,
              .large = seed % 2 == 0,
              .exported = seed % 3 != 0,
              .scan = seed % 4 == 0,
              .bands = upload_bands(c.spec.map, bytes / parts)};
      CHECK_MESSAGE(testing::difference(run_case(c, how), want) == "", c.name, " in ", how.bands.size(),
                    " bands");
      if (parts != 24 || want.contours < 2) continue;
      // What does not fit is counted as if the map had been there at once.
      for (const bool points : {false, true}) {
        testing::Case tight = c;
        if (points)
          tight.spec.point_capacity = want.points / 2;
        else
          tight.spec.contour_capacity = want.contours - 1;
        const testing::Result at_once = run_case(tight, {.frames = 2, .large = how.large, .scan = how.scan});
        const testing::Result in_bands = run_case(tight, how);
        CHECK_MESSAGE(in_bands.points == at_once.points, c.name);
        CHECK_MESSAGE(in_bands.contours == at_once.contours, c.name);
      }
    }
  }
}

TEST_CASE("the device kernels count what does not fit and write nothing past the end") {
  for (std::uint64_t seed = 1; seed <= case_count(40); ++seed) {
    testing::Case c = testing::make_case(30000 + seed, 80);
    const testing::Result want = testing::reference_result(c);
    if (want.contours < 2) continue;
    c.spec.contour_capacity = want.contours - 1;
    testing::Result got = run_case(c, {.frames = 2});
    CHECK_MESSAGE(got.contours > c.spec.contour_capacity, c.name);
    c.spec.contour_capacity = want.contours;
    c.spec.point_capacity = want.points / 2;
    got = run_case(c, {.frames = 2});
    CHECK_MESSAGE(got.points > c.spec.point_capacity, c.name);
  }
}

TEST_CASE("the device kernels find the contours of several levels of each channel, and the level of each") {
  for (std::uint64_t seed = 1; seed <= case_count(40); ++seed) {
    const testing::Case c = testing::make_level_case(50000 + seed, seed % 3 == 0 ? 140 : 70);
    const testing::Result want = testing::reference_result(c);
    for (const int group_planes : {1, 2, 64}) {
      const How how{.frames = 2,
                    .large = seed % 2 == 0,
                    .strip_rows = static_cast<int>(std::array{0, 7, 1000}[seed % 3])};
      std::vector<double> column;
      const testing::Result got = c.spec.points == ContourEngineSpec::Points::Float32
                                      ? run_levels<contour_engine::Point32>(c, how, group_planes, column)
                                      : run_levels<Point64>(c, how, group_planes, column);
      CHECK_MESSAGE(testing::difference(got, want) == "", c.name, " in groups of ", group_planes);
      if (got.class_begin.empty()) continue;
      for (std::size_t plane = 0; plane < c.spec.levels.size(); ++plane)
        for (std::uint32_t i = got.class_begin[plane]; i < got.class_begin[plane + 1]; ++i)
          REQUIRE(std::memcmp(&column[i], &c.spec.levels[plane], sizeof(double)) == 0);
    }
  }
}

TEST_CASE("the device kernels write no levels of contours that do not fit") {
  for (std::uint64_t seed = 1; seed <= case_count(20); ++seed) {
    testing::Case c = testing::make_level_case(60000 + seed, 70);
    const testing::Result want = testing::reference_result(c);
    if (want.contours < 2) continue;
    c.spec.point_capacity = want.points / 2;
    c.spec.contour_capacity = seed % 2 == 0 ? want.contours - 1 : want.contours;
    std::vector<double> column;
    const testing::Result got = run_levels<Point64>(c, {.frames = 2}, 2, column);
    CHECK_MESSAGE((got.points > c.spec.point_capacity || got.contours > c.spec.contour_capacity), c.name);
  }
}

TEST_CASE("the device kernels find hundreds of levels in a map of many tiles, whatever their order") {
  constexpr int kWidth = 130, kHeight = 370, kLevels = 250;
  testing::Case c;
  std::mt19937_64 random(11);
  c.spec.map = {
      .width = kWidth, .height = kHeight, .channels = 1, .type = ElementType::F32, .layout = Layout::Planar};
  c.spec.channel_levels = {kLevels};
  for (int k = 0; k < kLevels; ++k) c.spec.levels.push_back(1.25 * (7 * k % kLevels) / kLevels - 0.1);
  c.spec.levels[17] = c.spec.levels[16];
  c.spec.levels[18] = NAN;
  c.spec.point_capacity = c.spec.contour_capacity = 400000;
  testing::allocate(c, random);
  for (int row = 0; row < kHeight; ++row)
    for (int col = 0; col < kWidth; ++col) {
      const double slope = std::hypot(row - 20, col - 70) / 350 + 0.004 * std::sin(0.9 * row) * std::sin(col);
      const bool hole = row > 60 && row < 64 && col > 20 && col < 100;
      testing::write_sample(ElementType::F32, c.samples.data() + testing::sample_offset(c, 0, row, col),
                            hole ? NAN : slope);
    }
  const testing::Result want = testing::reference_result(c);
  REQUIRE(want.contours > kLevels);
  std::vector<double> column;
  for (const int group_planes : {1000, 120})
    CHECK(testing::difference(
              run_levels<contour_engine::Point32>(c, {.frames = 2, .large = true}, group_planes, column),
              want) == "");
  // When there is no room for the near tiles of a group, the points are too many; then all fits again.
  const testing::Result got =
      run_levels<contour_engine::Point32>(c, {.frames = 2, .large = true, .near_tiles = 300}, 120, column);
  CHECK(got.points > c.spec.point_capacity);
}

TEST_CASE("the device kernels find levels that have more short pieces in a tile than fit at once") {
  // Every other sample on the border of a tile is a peak, whose contours have two segments in each tile.
  constexpr int kWidth = 2 * kTileColumns + 1, kHeight = 2 * kTileRows + 1;
  testing::Case c;
  std::mt19937_64 random(2);
  c.spec.map = {
      .width = kWidth, .height = kHeight, .channels = 1, .type = ElementType::F32, .layout = Layout::Planar};
  c.spec.levels = {0.5, 0.1, 0.4, 0.2, 0.3};
  c.spec.channel_levels = {5};
  c.spec.point_capacity = c.spec.contour_capacity = 100000;
  testing::allocate(c, random);
  for (int row = 0; row < kHeight; ++row)
    for (int col = 0; col < kWidth; ++col) {
      const bool border = row % kTileRows == 0 || col % kTileColumns == 0;
      testing::write_sample(ElementType::F32, c.samples.data() + testing::sample_offset(c, 0, row, col),
                            border && row % 2 == 0 && col % 2 == 0 ? 1 : 0);
    }
  std::vector<double> column;
  CHECK(testing::difference(run_levels<contour_engine::Point32>(c, {.large = true}, 64, column),
                            testing::reference_result(c)) == "");
}

TEST_CASE("the device kernels find points on samples whose difference overflows") {
  // The centre is nearer to the level than its neighbours; the difference between them is infinite, so the
  // fraction is 0: two crossings fall on the centre, two on the samples above and to the left.
  testing::Case c;
  std::mt19937_64 random(1);
  c.spec.map = {.width = 3, .height = 3, .channels = 1, .type = ElementType::F64, .layout = Layout::Planar};
  c.spec.levels = {1e308};
  c.spec.points = ContourEngineSpec::Points::Float64;
  c.spec.point_capacity = c.spec.contour_capacity = 32;
  testing::allocate(c, random);
  for (int row = 0; row < 3; ++row)
    for (int col = 0; col < 3; ++col)
      testing::write_sample(ElementType::F64, c.samples.data() + testing::sample_offset(c, 0, row, col),
                            row == 1 && col == 1 ? 1.7e308 : -5e307);
  const testing::Result want = testing::reference_result(c);
  CHECK(want.points == 4);
  for (const bool large : {false, true})
    CHECK(testing::difference(run_case(c, {.large = large}), want) == "");
}

TEST_CASE("the device kernels find points on samples beside levels that no float32 has") {
  // Beside a far sample a crossing falls on one that is within a float64 of the level. The level is rounded
  // to float32, so such a sample may seem as far from it as float32 can tell.
  const std::array<float, 5> near{1.0F, std::nextafter(1.0F, 2.0F), std::nextafter(1.0F, 0.0F), -0.1F, 0.7F};
  testing::Case c;
  std::mt19937_64 random(3);
  c.spec.map = {
      .width = 150, .height = 40, .channels = 1, .type = ElementType::F32, .layout = Layout::Planar};
  c.spec.points = ContourEngineSpec::Points::Float64;
  testing::allocate(c, random);
  for (int row = 0; row < c.spec.map.height; ++row)
    for (int col = 0; col < c.spec.map.width; ++col) {
      const auto some = static_cast<std::size_t>(random() % 40);
      testing::write_sample(ElementType::F32, c.samples.data() + testing::sample_offset(c, 0, row, col),
                            some < near.size() ? near[some] : (col < 20 ? -300.0 : 4000.0 - 0.01 * col));
    }
  std::vector<double> levels;
  for (const double level : near)
    for (const double to : {-1e9, level, 1e9}) levels.push_back(std::nextafter(level, to));
  c.spec.point_capacity = c.spec.contour_capacity = 400000;
  for (const bool large : {false, true}) {
    for (const double level : levels) {
      c.spec.levels = {level}, c.spec.channel_levels.clear();
      CHECK(testing::difference(run_case(c, {.large = large}), testing::reference_result(c)) == "");
    }
    c.spec.levels = levels, c.spec.channel_levels = {static_cast<int>(levels.size())};
    std::vector<double> column;
    CHECK(testing::difference(run_levels<Point64>(c, {.large = large}, 64, column),
                              testing::reference_result(c)) == "");
  }
}

TEST_CASE("the device kernels join the pieces of many tiles") {
  constexpr int kSide = 321;  // 5 x 10 whole tiles
  testing::Case c;
  std::mt19937_64 random(5);
  c.spec.map = {
      .width = kSide, .height = kSide, .channels = 1, .type = ElementType::F32, .layout = Layout::Planar};
  c.spec.levels = {0.5};
  c.spec.point_capacity = 400000;
  c.spec.contour_capacity = 200000;
  testing::allocate(c, random);
  // Noise has many chains, the spiral one through all tiles.
  for (const int kind : {0, 7}) {
    CAPTURE(kind);
    const std::vector<double> v = testing::make_plane(kind, kSide, kSide, 0.5, random);
    for (int row = 0; row < kSide; ++row)
      for (int col = 0; col < kSide; ++col)
        testing::write_sample(ElementType::F32, c.samples.data() + testing::sample_offset(c, 0, row, col),
                              v[static_cast<std::size_t>(row * kSide + col)]);
    const testing::Result want = testing::reference_result(c);
    CHECK(testing::difference(run_case(c, {.join_blocks = 2}), want) == "");
    if (kind == 7) CHECK(testing::difference(run_case(c, {.join_blocks = 4, .large = true}), want) == "");
  }
}
