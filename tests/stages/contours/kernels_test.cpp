// The kernels of the CUDA contour engine, run on the host by an emulator of blocks, against the naive
// reference: no device and no CUDA compiler needed. tests/gpu/contour_engine_gpu.cpp does the same on a
// device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include <array>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <sstream>

#include "stages/contours/cuda/export.cuh"
#include "stages/contours/cuda/plan.cuh"
#include "tests/gpu/contour_cases.h"

#include <doctest/doctest.h>

using namespace contorno;
using namespace contorno::contour_engine;

namespace {

struct How {
  unsigned frames = 1, join_blocks = 1;
  bool large = false;
  bool exported = true;               ///< counters are left ready by export_contours, not by scatter_points
  bool scan = false;                  ///< numbers the contours of large maps by a scan, however few they are
  std::vector<ImageBand> bands = {};  ///< none: one
  unsigned* joined = nullptr;         ///< the most pieces that were joined at once
};
constexpr unsigned char kNotThere = 0x3D;  ///< samples that have not come yet

template <class T, class P>
void launch_band(const PlaneGroup<P>& group, const BandTiles& band, const How& how) {
  const auto [join_blocks, large] = std::pair{how.join_blocks, how.large};
  const auto tiles = static_cast<unsigned>(tiles_in(group, band.rows));
  // Both ways of tracing are tried, whatever the size of the map.
  if (tiles != 0 && !large) {
    emulated::run_grid(tiles, kSmallThreads, sizeof(SmallShared), false, [&] { trace_small<T, P>(group); });
  } else if (tiles != 0) {
    constexpr unsigned kWarps = 3;
    emulated::run_grid(std::min(tiles, 2U), kWarps * kWarpThreads, WarpsShared::bytes(kWarps), false,
                       [&] { trace_tiles<T, P>(group, tiles); });
    emulated::run_grid(2, kDenseThreads, sizeof(TileShared<WideLinks>), false,
                       [&] { trace_dense<T, P>(group); });
  }
  if (!band.completes) {
    emulated::run_grid(join_blocks, kRankThreads, 0, false,
                       [&] { join_ahead<P>(group, band.first_row + band.rows); });
    return;
  }
  if (how.joined != nullptr) *how.joined = std::max(*how.joined, group.work.counters->open_pieces);
  if (large) {
    emulated::run_grid(join_blocks, kRankThreads, 0, false, [&] { join_pieces<P>(group); });
    emulated::run_grid(join_blocks + group.scan_blocks, kScanThreads, sizeof(NumberShared), false,
                       [&] { finish_and_number<P>(group); });
  } else {
    emulated::run_grid(join_blocks, kJoinThreads, sizeof(JoinShared), true,
                       [&] { join_and_number<P>(group); });
  }
  emulated::run_grid(3, kScatterThreads, 0, false, [&] { scatter_points<P>(group); });
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
    launch_band<T>(group, band_tiles, how);
    if (!band_tiles.completes) continue;
    Output<P> to = host;
    to.class_begin += band_tiles.plane;
    emulated::run_grid(2, kExportThreads, 0, false, [&] { export_contours<P>(group, to); });
  }
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
        class_begin(static_cast<std::size_t>(spec.map.channels) + 1 + kExtra, kGuard),
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
    found.class_begin.assign(class_begin.begin(), class_begin.begin() + spec.map.channels + 1);
    return found;
  }

 private:
  static P bit_guard() {
    P point;
    std::memset(static_cast<void*>(&point), kGuard, sizeof(point));
    return point;
  }
};

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
  for (unsigned frame = 0; frame < how.frames; ++frame) switch (c.spec.map.type) {
      case ElementType::U8:
        launch_all<unsigned char>(group, c, samples, host.view(), how);
        break;
      case ElementType::U16:
        launch_all<unsigned short>(group, c, samples, host.view(), how);
        break;
      case ElementType::F16:
        launch_all<__half>(group, c, samples, host.view(), how);
        break;
      case ElementType::F32:
        launch_all<float>(group, c, samples, host.view(), how);
        break;
      case ElementType::F64:
        launch_all<double>(group, c, samples, host.view(), how);
        break;
    }
  out.check_guards();
  host.check_guards();
  CHECK(testing::difference(host.result(c.spec), out.result(c.spec)) == "");
  return host.result(c.spec);
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

TEST_CASE("the device kernels join more pieces than one block holds") {
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
    unsigned joined = 0;
    CHECK(testing::difference(run_case(c, {.join_blocks = 2, .joined = &joined}), want) == "");
    CHECK(joined > kJoinCapacity);
    if (kind == 7) CHECK(testing::difference(run_case(c, {.join_blocks = 4, .large = true}), want) == "");
  }
}

namespace {

/// What is drawn of a tile on the page of the contour engine: its arrays after each step, seen by a warp that
/// traces it.
class DrawnTile {
 public:
  DrawnTile(const PlaneGroup<contour_engine::Point32>& group, int tile) : group_(group) {
    emulated::run_grid(1, kWarpThreads, sizeof(TileShared<WarpLinks>), false, [&] { trace(tile); });
  }

  std::string cells(int rows, int columns) const {
    std::ostringstream out;
    for (int row = 0; row <= rows; ++row) {
      out << "row " << row << "  " << bits(high_[static_cast<std::size_t>(row)], columns + 1);
      if (row < rows)
        out << "   " << bits(crossed_[static_cast<std::size_t>(row)], columns) << "   "
            << bits(saddle_[static_cast<std::size_t>(row)], columns);
      out << "\n";
    }
    return out.str();
  }

  std::string segments() const {
    constexpr const char* kSideNames = "TRBL";
    std::ostringstream out;
    for (std::size_t i = 0; i < segment_.size(); ++i) {
      const TileSegment segment = unpack_segment(segment_[i]);
      const SegmentRank rank = group_.work.ranks[base_ + i];
      const contour_engine::Point32 point = group_.work.points[base_ + i];
      const bool open_end = link_[i].highest >= WarpLinks::kOpenEnd;
      out << std::setw(5) << i << std::setw(6) << segment.row << std::setw(4) << segment.col << std::setw(4)
          << segment.sub << "    " << kSideNames[segment.from] << "->" << kSideNames[segment.to] << "  "
          << std::setw(6) << (next_[i] == kNone ? "-" : std::to_string(next_[i])) << std::setw(7)
          << (open_end ? "end " : "") + std::to_string(link_[i].highest % WarpLinks::kOpenEnd) << std::setw(7)
          << link_[i].distance << std::setw(8) << rank.piece << std::setw(6) << rank.rank << "   ("
          << point.row << ", " << point.col << ")\n";
    }
    return out.str();
  }

 private:
  static std::string bits(unsigned long long word, int count) {
    std::string text;
    for (int k = 0; k < count; ++k) text += (word >> k & 1) != 0 ? '#' : '.';
    return text;
  }
  template <class Links>
  static unsigned next_of(const Links& links, unsigned i) {
    return Links::has_end(links.word[i]) ? kNone : Links::next(links.word[i]);
  }

  /// The steps of trace_segments, with a look at the arrays between them.
  void trace(int number) {
    auto& s = block_shared<TileShared<WarpLinks>>();
    const TileBounds bounds = bounds_of_nth(group_, number);
    const TileRows rows = read_rows<float>(group_, bounds, LevelTest<float>(group_, bounds.plane));
    high_[threadIdx.x] = rows.row.word;
    REQUIRE(read_by_warp<float>(group_, bounds, s.bits));
    const auto word = [&](unsigned half) { return s.bits.cells[2 * threadIdx.x + half]; };
    crossed_[threadIdx.x] = word(0).crossed | static_cast<unsigned long long>(word(1).crossed) << 32;
    saddle_[threadIdx.x] = word(0).saddle | static_cast<unsigned long long>(word(1).saddle) << 32;
    Tile<TileTypes<float, contour_engine::Point32, WarpLinks, kWarpThreads>> tile(group_, s, bounds);
    count_segments(tile);
    allocate_segments(tile);
    list_segments(tile);
    link_over_edges(tile);
    if (threadIdx.x == 0)
      for (int i = 0; i < tile.segments; ++i) {
        segment_.push_back(s.segment[i]);
        next_.push_back(next_of(s.links, static_cast<unsigned>(i)));
      }
    tile.sync();
    rank_segments(tile);
    publish_segment_base(tile);
    tile.sync();
    if (threadIdx.x == 0)
      for (int i = 0; i < tile.segments; ++i) link_.push_back(s.links.ranked(static_cast<unsigned>(i)));
    if (threadIdx.x == 0) base_ = s.segment_base;
    tile.sync();
    collect_pieces(tile);
    find_leaders(tile);
    write_tile(tile);
  }

  const PlaneGroup<contour_engine::Point32>& group_;
  std::array<unsigned long long, kWarpThreads> high_{}, crossed_{}, saddle_{};
  std::vector<unsigned short> segment_;
  std::vector<unsigned> next_;
  std::vector<SegmentLink> link_;
  unsigned base_ = 0;
};

std::string drawn_pieces(const PlaneGroup<contour_engine::Point32>& group) {
  const auto& work = group.work;
  const auto or_none = [](unsigned v) { return v == kNone ? std::string("-") : std::to_string(v); };
  std::ostringstream out;
  for (unsigned i = 0; i < work.counters->pieces; ++i) {
    const Piece& piece = work.pieces[i];
    out << std::setw(5) << i << std::setw(7) << piece.base << std::setw(8)
        << (piece.length_closed & ~(1U << 31)) << std::setw(8)
        << (piece.length_closed >> 31 != 0 ? "yes" : "no") << std::setw(6) << or_none(piece.head)
        << std::setw(13) << (work.head_points[i] & ~(1U << 31)) << "\n";
  }
  return out.str();
}

/// The links of the open pieces, and which junctions lead to them.
std::string drawn_links(const PlaneGroup<contour_engine::Point32>& group,
                        const std::vector<unsigned>& unset) {
  const auto& work = group.work;
  std::ostringstream out;
  for (unsigned i = 0; i < work.counters->open_pieces; ++i) {
    const PieceLink link = unpack_link(work.piece_links[i]);
    std::string entry = "-";
    for (std::size_t j = 0; j < unset.size(); ++j)
      if (work.junctions[j] != unset[j] && work.junctions[j] == i) entry = std::to_string(j);
    const bool at_junction = (link.next & kAtJunction) != 0;
    out << std::setw(4) << i << std::setw(7) << work.open_pieces[i].piece << std::setw(14) << entry
        << std::setw(15) << (at_junction ? "junction " : "piece ") + std::to_string(link.next & ~kAtJunction)
        << std::setw(8) << link.length << std::setw(9) << link.highest << std::setw(10) << link.distance
        << "\n";
  }
  return out.str();
}

std::string indented(const std::string& text) {
  std::string all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) all += "    " + line + "\n";
  return all;
}

}  // namespace

TEST_CASE("the page of the contour engine draws what the kernels compute") {
  using Point = contour_engine::Point32;
  testing::Case c;
  std::mt19937_64 random(1);
  c.spec.map = {.width = 70, .height = 4, .channels = 1, .type = ElementType::F32, .layout = Layout::Planar};
  c.spec.levels = {1.0};
  c.spec.point_capacity = c.spec.contour_capacity = 32;
  testing::allocate(c, random);
  for (int row = 0; row < 4; ++row)
    for (int col = 0; col < 70; ++col) {
      const bool high = (row == 1 && col == 66) || (row == 2 && (col == 63 || col == 64 || col == 67));
      testing::write_sample(ElementType::F32, c.samples.data() + testing::sample_offset(c, 0, row, col),
                            high ? 4 : 0);
    }
  PlaneGroup<Point> group = plan_group<Point>(c.spec);
  std::size_t clear = 0;
  std::vector<std::uint64_t> workspace(lay_out(group, nullptr) / 8 + 64, 0xBDBDBDBDBDBDBDBDULL);
  lay_out(group, workspace.data(), &clear);
  std::memset(workspace.data(), 0, clear);
  group.map = map_of({c.samples.data(), c.spec.map, c.row_pitch, c.plane_pitch}, {});
  GuardedOutput<Point> out(c.spec);
  group.out = out.view();
  const std::vector<unsigned> unset(group.work.junctions,
                                    group.work.junctions + junction_owners(group) * kTileJunctions);

  const DrawnTile left(group, 0);
  const DrawnTile right(group, 1);
  const std::string links = drawn_links(group, unset);
  emulated::run_grid(1, kRankThreads, 0, false, [&] { join_pieces<Point>(group); });
  emulated::run_grid(1 + group.scan_blocks, kScanThreads, sizeof(NumberShared), false,
                     [&] { finish_and_number<Point>(group); });
  const std::string joined = drawn_links(group, unset);
  const std::string pieces = drawn_pieces(group);
  emulated::run_grid(1, kScatterThreads, 0, false, [&] { scatter_points<Point>(group); });
  std::ostringstream contours;
  for (std::size_t k = 0; k < out.counts[1]; ++k) {
    contours << std::setw(7) << k << std::setw(8) << out.offsets[k] << "  ";
    for (std::size_t i = out.offsets[k]; i < out.offsets[k + 1]; ++i)
      contours << (i == out.offsets[k] + 4 ? "\n                 " : "") << " (" << out.points[i].row << ", "
               << out.points[i].col << ")";
    contours << "\n";
  }
  CHECK(testing::difference(out.result(c.spec), testing::reference_result(c)) == "");

  std::ifstream file(CONTORNO_SOURCE_DIR "/docs/reference/contour-engine.md");
  std::stringstream page;
  page << file.rdbuf();
  for (const std::string& drawn :
       {right.cells(3, 5), right.segments(), left.segments(), links, joined, pieces, contours.str()}) {
    const std::string block = indented(drawn);
    CHECK_MESSAGE(page.str().find(block) != std::string::npos, "the page lacks:\n", block);
  }
}
