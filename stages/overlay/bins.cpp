#include <algorithm>

#include "stages/overlay/painter.h"

namespace contorno {

/// f(class, contour) for every contour that is drawn, in order.
template <class F>
void OverlayPainter::for_contours(const ContoursView& contours, const F& f) const {
  for (int k = 0; k < contours.format.classes; ++k) {
    if (pen(k).hidden) continue;
    for (std::uint32_t c = contours.class_begin[k]; c < contours.class_begin[k + 1]; ++c) f(k, c);
  }
}

/// f(class, first point) for every segment of them.
template <class F>
void OverlayPainter::for_segments(const ContoursView& contours, const F& f) const {
  for_contours(contours, [&](int k, std::uint32_t c) {
    for (std::uint32_t i = contours.offsets[c]; i + 1 < contours.offsets[c + 1]; ++i) f(k, i);
  });
}

/// f(tile) for the tiles in tile rows [from, to) that a segment reaches.
template <class F>
void OverlayPainter::for_tiles(FramePoint a, FramePoint b, float reach, int from, int to, const F& f) const {
  const Span rows = grid_.tile_rows(a, b, reach);
  for (int row = std::max(rows.low, from); row <= std::min(rows.high, to - 1); ++row) {
    const Span columns = grid_.tile_columns(a, b, row, reach);
    for (int column = columns.low; column <= columns.high; ++column) f(row * grid_.tiles_x + column);
  }
}

void OverlayPainter::count_references(const OverlayWork& work, int from, int to) const {
  std::fill(work.tile_fill + from * grid_.tiles_x, work.tile_fill + to * grid_.tiles_x, 0U);
  for_segments(*work.contours, [&](int k, std::uint32_t i) {
    for_tiles(work.points[i], work.points[i + 1], pen(k).reach, from, to,
              [&](int tile) { ++work.tile_fill[tile]; });
  });
}

void OverlayPainter::fill_references(const OverlayWork& work, int from, int to) const {
  for_segments(*work.contours, [&](int k, std::uint32_t i) {
    for_tiles(work.points[i], work.points[i + 1], pen(k).reach, from, to,
              [&](int tile) { work.references[work.tile_fill[tile]++] = i; });
  });
}

void OverlayPainter::find_insides(const OverlayWork& work, int from_tile, int to_tile) const {
  const ContoursView& contours = *work.contours;
  const int from = from_tile * kTileSide, to = std::min(grid_.height, to_tile * kTileSide);
  for (int k = 0; k < contours.format.classes; ++k)
    if (slot(k) >= 0) std::fill(inside_row(work, k, from), inside_row(work, k, to), 0U);
  const auto mark = [&](int k, FramePoint a, FramePoint b) {
    const int first = std::max(from, ceil_to_int(std::min(a.y, b.y)));
    const int end = std::min(to, ceil_to_int(std::max(a.y, b.y)));
    for (int y = first; y < end; ++y) {
      const int column = std::max(0, crossing_column(a, b, y));
      if (column < grid_.width) inside_row(work, k, y)[column / kTileSide] ^= 1U << (column % kTileSide);
    }
  };
  for_contours(contours, [&](int k, std::uint32_t c) {
    const std::uint32_t first = contours.offsets[c], end = contours.offsets[c + 1];
    if (slot(k) < 0 || first == end) return;
    if (contours.closed[c] == 0) {
      const Point begins = contours.points[first], ends = contours.points[end - 1];
      if (!plan_.border.closes(begins, ends)) return;
      const OverlayClosing closing = plan_.border.close(begins, ends);
      for (int i = 0; i + 1 < OverlayClosing::kPoints; ++i) mark(k, closing.points[i], closing.points[i + 1]);
    }
    for (std::uint32_t i = first; i + 1 < end; ++i) mark(k, work.points[i], work.points[i + 1]);
  });
  for (int k = 0; k < contours.format.classes; ++k) {
    if (slot(k) < 0) continue;
    for (int y = from; y < to; ++y) {
      std::uint32_t* row = inside_row(work, k, y);
      std::uint32_t carry = 0;
      for (int column = 0; column < grid_.tiles_x; ++column) {
        row[column] = running_parity(row[column]) ^ carry;
        carry = 0U - (row[column] >> 31U);
      }
    }
  }
}

}  // namespace contorno
