// scatter_points on the host, by an emulator, on pieces that no map has to be found for: few and many, short
// ones and long ones, with contours that are open, closed or left out, of one piece or of several.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "stages/contours/cuda/scatter.cuh"

#include <doctest/doctest.h>

using namespace contorno;
using namespace contorno::contour_engine;

namespace {

/// Contours and their pieces, as the kernels before scatter_points leave them.
class Pieces {
 public:
  /// Divides pieces with these numbers of segments into contours of up to three, of which a fifth is left out
  /// and half of the others are closed. Pieces keep their order, and their points lie in another one.
  explicit Pieces(const std::vector<unsigned>& counts) : pieces_(counts.size()), points_(counts.size()) {
    std::vector<std::size_t> order(counts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random_);
    for (const std::size_t piece : order) {
      points_[piece] = {segments_, counts[piece]};
      segments_ += counts[piece];
    }
    from_.resize(counts.size(), {-1, -1});
    head_offset_.resize(counts.size(), kNone);
    work_points_.resize(segments_);
    for (std::size_t first = 0, end = 0; first < counts.size(); first = end) {
      end = std::min(first + 1 + random_() % 3, counts.size());
      if (random_() % 5 == 0)
        leave_out(first, end);
      else
        add_contour(first, end, random_() % 2 == 0);
    }
  }

  /// What scatter_points writes, called by so many blocks.
  std::vector<Point32> scattered(unsigned blocks, bool reverse) {
    std::vector<unsigned> head_points(pieces_.size(), 77);
    Counters counters{};
    counters.pieces = static_cast<unsigned>(pieces_.size()), counters.segments = segments_;
    std::vector<Point32> out(wanted_.size() + 1, Point32{-9, -9});
    PlaneGroup<Point32> group{};
    group.work.counters = &counters;
    group.work.points = work_points_.data(), group.work.piece_points = points_.data();
    group.work.pieces = pieces_.data(), group.work.from = from_.data();
    group.work.head_offset = head_offset_.data(), group.work.head_points = head_points.data();
    group.out.points = out.data();
    group.last_planes = 1, group.reverse = reverse ? 1 : 0;
    group.segment_capacity = segments_, group.piece_capacity = counters.pieces;
    group.point_capacity = wanted_.size();
    emulated::run_grid(blocks, kScatterThreads, sizeof(ScatterShared), false,
                       [&] { scatter_points<Point32>(group); });
    CHECK(out.back().row == -9);
    CHECK(std::count(head_points.begin(), head_points.end(), 0U) == std::ssize(head_points));
    out.pop_back();
    return out;
  }

  /// The contours' points, each contour from its end to its begin if `reverse`.
  std::vector<Point32> wanted(bool reverse) const {
    std::vector<Point32> points = wanted_;
    for (std::size_t k = 0; reverse && k + 1 < begins_.size(); ++k)
      std::reverse(points.begin() + begins_[k], points.begin() + begins_[k + 1]);
    return points;
  }

 private:
  Point32 next_point() { return {next_ += 1, next_ * 2}; }

  /// Pieces of a contour of which nothing is to be written, not even where it begins.
  void leave_out(std::size_t first, std::size_t end) {
    for (std::size_t k = first; k < end; ++k) pieces_[k] = {0, points_[k].count, kNone, k == first ? 1U : 0U};
  }

  void add_contour(std::size_t first, std::size_t end, bool closed) {
    unsigned length = 0;
    for (std::size_t k = first; k < end; ++k) length += points_[k].count;
    const auto offset = static_cast<std::ptrdiff_t>(wanted_.size());
    wanted_.resize(wanted_.size() + length + 1);
    head_offset_[first] = static_cast<unsigned>(offset);
    // A closed contour begins anywhere in a piece.
    unsigned position = closed ? static_cast<unsigned>(random_() % length) : 0;
    for (std::size_t k = first; k < end; ++k) {
      pieces_[k] = {position, length | (closed ? 1U << 31 : 0), static_cast<unsigned>(first),
                    !closed && k == first ? 1U : 0U};
      for (unsigned i = 0; i < points_[k].count; ++i) {
        const Point32 point = work_points_[points_[k].begin + i] = next_point();
        wanted_[static_cast<std::size_t>(offset) + position + (closed ? 0 : 1)] = point;
        if (closed && position == 0) wanted_.back() = point;
        if (++position == length && closed) position = 0;
      }
    }
    if (!closed) wanted_[static_cast<std::size_t>(offset)] = from_[first] = next_point();
    begins_.push_back(offset + length + 1);
  }

  std::mt19937_64 random_{5};
  std::vector<Piece> pieces_;
  std::vector<PiecePoints> points_;
  std::vector<Point32> from_, work_points_, wanted_;
  std::vector<unsigned> head_offset_;
  std::vector<std::ptrdiff_t> begins_{0};
  unsigned segments_ = 0;
  float next_ = 0;
};

void check(const std::vector<unsigned>& counts, unsigned blocks) {
  CAPTURE(counts.size());
  CAPTURE(blocks);
  Pieces pieces(counts);
  for (const bool reverse : {false, true}) {
    const std::vector<Point32> got = pieces.scattered(blocks, reverse), want = pieces.wanted(reverse);
    CHECK(std::equal(got.begin(), got.end(), want.begin(), want.end(),
                     [](const Point32& a, const Point32& b) { return a.row == b.row && a.col == b.col; }));
  }
}

}  // namespace

TEST_CASE("scatter_points writes the points of all contours but those left out, however long pieces are") {
  std::mt19937_64 random(3);
  for (const std::size_t count : {1, 2, 31, 33, 511, 512, 513, 1600, 2100}) {
    std::vector<unsigned> counts(count);
    for (unsigned& one : counts) one = 1 + static_cast<unsigned>(random() % 40);
    for (const unsigned blocks : {1U, 3U}) check(counts, blocks);
    // The last piece of a block, and the first, may have most of its points.
    std::fill(counts.begin(), counts.end(), 2U);
    for (std::size_t k = 0; k < count; k += 512) counts[std::min(k + 511, count - 1)] = 900;
    for (const unsigned blocks : {1U, 3U}) check(counts, blocks);
    std::reverse(counts.begin(), counts.end());
    check(counts, 1);
  }
}
