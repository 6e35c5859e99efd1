// The page that draws a small map through the arrays of the contour engine
// (docs/reference/contour-engine.md): the kernels run on the host by an emulator, and what they leave in
// their arrays must stand on the page.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include <array>
#include <fstream>
#include <iomanip>
#include <sstream>

#include "stages/contours/cuda/workspace.cuh"
#include "tests/gpu/contour_cases.h"
#include "tests/source_folder.h"

#include <doctest/doctest.h>

using namespace contorno;
using namespace contorno::contour_engine;

namespace {

/// What is drawn of a tile on the page of the contour engine: its arrays after each step, seen by a warp that
/// traces it.
class DrawnTile {
 public:
  DrawnTile(const PlaneGroup<Point32>& group, int tile) : group_(group) {
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
      const unsigned at = base_ + place_[i], piece = piece_at(at);
      const unsigned rank = at - group_.work.piece_points[piece].begin;
      const Point32 point = group_.work.points[at];
      const bool open_end = link_[i].highest >= WarpLinks::kOpenEnd;
      out << std::setw(5) << i << std::setw(6) << segment.row << std::setw(4) << segment.col << std::setw(4)
          << segment.sub << "    " << kSideNames[segment.from] << "->" << kSideNames[segment.to] << "  "
          << std::setw(6) << (next_[i] == kNone ? "-" : std::to_string(next_[i])) << std::setw(7)
          << (open_end ? "end " : "") + std::to_string(link_[i].highest % WarpLinks::kOpenEnd) << std::setw(7)
          << link_[i].distance << std::setw(8) << piece << std::setw(6) << rank << "   (" << point.row << ", "
          << point.col << ")\n";
    }
    return out.str();
  }

 private:
  static std::string bits(unsigned long long word, int count) {
    std::string text;
    for (int k = 0; k < count; ++k) text += (word >> k & 1) != 0 ? '#' : '.';
    return text;
  }
  /// The piece that has the point with this index.
  unsigned piece_at(unsigned at) const {
    unsigned piece = 0;
    while (at - group_.work.piece_points[piece].begin >= group_.work.piece_points[piece].count) ++piece;
    return piece;
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
    Tile<TileTypes<float, Point32, WarpLinks, kWarpThreads, false>> tile(group_, s, bounds);
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
    tile.sync();
    if (threadIdx.x == 0)
      for (int i = 0; i < tile.segments; ++i) place_.push_back(place_of(tile, static_cast<unsigned>(i)));
  }

  const PlaneGroup<Point32>& group_;
  std::array<unsigned long long, kWarpThreads> high_{}, crossed_{}, saddle_{};
  std::vector<unsigned short> segment_;
  std::vector<unsigned> next_;
  std::vector<SegmentLink> link_;
  std::vector<unsigned> place_;
  unsigned base_ = 0;
};

std::string drawn_pieces(const PlaneGroup<Point32>& group) {
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
std::string drawn_links(const PlaneGroup<Point32>& group, const std::vector<unsigned>& unset) {
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

/// A map of two tiles: one contour in both, and two that meet in a saddle of the second.
testing::Case drawn_map() {
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
  return c;
}

/// The arrays of the contours.
struct Found {
  std::array<unsigned long long, 2> counts{};
  std::vector<Point32> points = std::vector<Point32>(32);
  std::vector<std::uint32_t> offsets = std::vector<std::uint32_t>(33), class_begin = {0, 0};
  std::vector<std::uint8_t> closed = std::vector<std::uint8_t>(32);

  std::string drawn() const {
    std::ostringstream out;
    for (std::size_t k = 0; k < counts[1]; ++k) {
      out << std::setw(7) << k << std::setw(8) << offsets[k] << "  ";
      for (std::size_t i = offsets[k]; i < offsets[k + 1]; ++i)
        out << (i == offsets[k] + 4 ? "\n                 " : "") << " (" << points[i].row << ", "
            << points[i].col << ")";
      out << "\n";
    }
    return out.str();
  }
};

}  // namespace

TEST_CASE("the page of the contour engine draws what the kernels compute") {
  const testing::Case c = drawn_map();
  PlaneGroup<Point32> group = plan_group<Point32>(c.spec);
  std::size_t clear = 0;
  std::vector<std::uint64_t> workspace(lay_out(group, nullptr) / 8 + 64, 0xBDBDBDBDBDBDBDBDULL);
  lay_out(group, workspace.data(), &clear);
  std::memset(workspace.data(), 0, clear);
  std::vector<unsigned char> samples = c.samples;
  group.map = map_of({samples.data(), c.spec.map, c.row_pitch, c.plane_pitch}, {});
  Found found;
  group.out = {found.counts.data(), found.points.data(), found.offsets.data(), found.closed.data(),
               found.class_begin.data()};
  const std::vector<unsigned> unset(group.work.junctions,
                                    group.work.junctions + all_tiles(group) * kTileJunctions);

  const DrawnTile left(group, 0);
  const DrawnTile right(group, 1);
  const std::string links = drawn_links(group, unset);
  emulated::run_grid(1, kRankThreads, 0, false, [&] { join_pieces<Point32>(group); });
  emulated::run_grid(1 + group.scan_blocks, kScanThreads, sizeof(NumberShared), false,
                     [&] { finish_and_number<Point32>(group); });
  const std::string joined = drawn_links(group, unset);
  const std::string pieces = drawn_pieces(group);
  emulated::run_grid(1, kScatterThreads, sizeof(ScatterShared), false,
                     [&] { scatter_points<Point32>(group); });

  const testing::Result want = testing::reference_result(c);
  REQUIRE(found.counts[0] == want.points);
  for (std::size_t i = 0; i < want.points; ++i)
    CHECK(std::pair<double, double>{found.points[i].row, found.points[i].col} == want.at[i]);
  std::ifstream file(test::source_folder() / "docs/reference/contour-engine.md");
  std::stringstream page;
  page << file.rdbuf();
  for (const std::string& drawn :
       {right.cells(3, 5), right.segments(), left.segments(), links, joined, pieces, found.drawn()}) {
    const std::string block = indented(drawn);
    CHECK_MESSAGE(page.str().find(block) != std::string::npos, "the page lacks:\n", block);
  }
}
