#include <algorithm>
#include <array>

#include "stages/overlay/painter.h"

namespace contorno {
namespace {

/// blend_pixel for a tile's whole row, a byte a lane of 16 bits: the same integers, which all fit.
class InsideRow {
 public:
  InsideRow(const Colour& colour, unsigned alpha, int channels) : bytes_(kTileSide * channels) {
    const std::array<unsigned, 3> source{colour.red, colour.green, colour.blue};
    for (int i = 0; i < bytes_; ++i) {
      const bool kept = i % channels == 3;
      added_[i] = static_cast<std::uint16_t>(
          kept ? 127U : alpha * source[static_cast<std::size_t>(i % channels)] + 127U);
      factor_[i] = static_cast<std::uint16_t>(kept ? 255U : 255U - alpha);
    }
  }
  void operator()(std::uint8_t* row) const {
    for (int i = 0; i < bytes_; ++i) {
      const auto v = static_cast<std::uint16_t>(factor_[i] * row[i] + added_[i]);
      row[i] = static_cast<std::uint8_t>(static_cast<std::uint16_t>(v + 1U + (v >> 8U)) >> 8U);
    }
  }

 private:
  int bytes_;
  std::uint16_t added_[kTileSide * 4], factor_[kTileSide * 4];
};

}  // namespace

/// Squared distances of a tile's pixels, and the rows that were touched.
struct OverlayPainter::Field {
  alignas(64) std::array<float, kTileSide * kTileSide> squared;
  int top = kTileSide, bottom = -1;

  void clear() {
    squared.fill(kUnreached);
    top = kTileSide, bottom = -1;
  }
  /// Takes in every pixel within reach, in whole vectors: what is computed beyond it is true as well.
  void add(const OverlaySegment segment, const TileWindow& window, int x0, int y0) {
    const int from = window.groups.low * kGroupColumns, to = (window.groups.high + 1) * kGroupColumns;
    top = std::min(top, window.rows.low), bottom = std::max(bottom, window.rows.high);
    for (int line = window.rows.low; line <= window.rows.high; ++line) {
      float* row = squared.data() + static_cast<std::ptrdiff_t>(line) * kTileSide;
      const auto py = static_cast<float>(y0 + line);
#pragma omp simd simdlen(4)
      for (int x = from; x < to; ++x) {
        const float d = segment.squared_distance(static_cast<float>(x0 + x), py);
        row[x] = d < row[x] ? d : row[x];
      }
    }
  }
};

void OverlayPainter::paint_tile_row(const OverlayWork& work, const ImageView& out, int tile_row) const {
  for (int column = 0; column < grid_.tiles_x; ++column) paint_tile(work, out, tile_row, column);
  const Span rows = grid_.rows_of(tile_row);
  for (int i = 0; i < work.label_count; ++i) paint_label(work, out, i, rows);
  if (plan_.legend >= 0) paint_stamp(out, plan_.legend_place, rows);
  if (plan_.first_digit >= 0) paint_counts(work, out, rows);
  for (int i = 0; i < work.legend_piece_count; ++i) paint_stamp(out, work.legend_pieces[i], rows);
}

void OverlayPainter::paint_tile(const OverlayWork& work, const ImageView& out, int tile_row,
                                int tile_column) const {
  const ContoursView& contours = *work.contours;
  const int tile = tile_row * grid_.tiles_x + tile_column;
  std::uint32_t next = work.tile_begin[tile];
  const std::uint32_t end = work.tile_begin[tile + 1];
  Field field, dots;
  for (int k = 0; k < contours.format.classes; ++k) {
    const OverlayPen& pen_of_class = pen(k);
    if (pen_of_class.hidden) continue;
    const std::uint32_t class_end = contours.offsets[contours.class_begin[k + 1]];
    const std::uint32_t first = next;
    while (next < end && work.references[next] < class_end) ++next;
    if (next == first) {
      if (slot(k) >= 0 && touches_inside(work, k, tile_row, tile_column))
        paint_inside(work, out, k, tile_row, tile_column);
      continue;
    }
    measure(work, pen_of_class, {work.references + first, next - first}, tile_row, tile_column, field, dots);
    paint_class(work, out, k, tile_row, tile_column, field, dots);
  }
}

void OverlayPainter::measure(const OverlayWork& work, const OverlayPen& pen_of_class,
                             std::span<const std::uint32_t> segments, int tile_row, int tile_column,
                             Field& field, Field& dots) const {
  field.clear();
  if (pen_of_class.marker > 0) dots.clear();
  const auto add = [&](FramePoint a, FramePoint b, Field& to) {
    const TileWindow window = grid_.window(a, b, pen_of_class.reach, tile_row, tile_column);
    if (!window.empty()) to.add(OverlaySegment(a, b), window, tile_column * kTileSide, tile_row * kTileSide);
  };
  for (const std::uint32_t i : segments) {
    add(work.points[i], work.points[i + 1], field);
    if (pen_of_class.marker <= 0) continue;
    add(work.points[i], work.points[i], dots);
    add(work.points[i + 1], work.points[i + 1], dots);
  }
}

void OverlayPainter::paint_class(const OverlayWork& work, const ImageView& out, int k, int tile_row,
                                 int tile_column, const Field& field, const Field& dots) const {
  const OverlayPen pen_of_class = pen(k);
  const bool filled = slot(k) >= 0, dotted = pen_of_class.marker > 0;
  const Span rows = grid_.rows_of(tile_row);
  const int x0 = tile_column * kTileSide, columns = std::min(grid_.width - x0, kTileSide);
  for (int y = rows.low; y <= rows.high; ++y) {
    const std::uint32_t bits = filled ? inside_row(work, k, y)[tile_column] : 0U;
    const int line = y - rows.low;
    if (bits == 0 && (line < field.top || line > field.bottom)) continue;
    const float* squared = field.squared.data() + static_cast<std::ptrdiff_t>(line) * kTileSide;
    const float* dot = dotted ? dots.squared.data() + static_cast<std::ptrdiff_t>(line) * kTileSide : squared;
    std::uint8_t* pixel = out.row<std::uint8_t>(y) + static_cast<std::ptrdiff_t>(x0) * channels_;
    const std::uint32_t plain = pen_of_class.fill;
    for (int x = 0; x < columns; ++x, pixel += channels_) {
      const bool inside = ((bits >> static_cast<unsigned>(x)) & 1U) != 0;
      const bool near = squared[x] < pen_of_class.squared_reach || dot[x] < pen_of_class.squared_reach;
      if (near)
        pen_of_class(pixel, squared[x], dot[x], inside);
      else if (inside)
        blend_pixel(pixel, pen_of_class.line, plain);
    }
  }
}

bool OverlayPainter::touches_inside(const OverlayWork& work, int k, int tile_row, int tile_column) const {
  const Span rows = grid_.rows_of(tile_row);
  std::uint32_t any = 0;
  for (int y = rows.low; y <= rows.high; ++y) any |= inside_row(work, k, y)[tile_column];
  return any != 0;
}

void OverlayPainter::paint_inside(const OverlayWork& work, const ImageView& out, int k, int tile_row,
                                  int tile_column) const {
  const Span rows = grid_.rows_of(tile_row);
  const int x0 = tile_column * kTileSide, columns = std::min(grid_.width - x0, kTileSide);
  const InsideRow blend_row(pen(k).line, pen(k).fill, channels_);
  for (int y = rows.low; y <= rows.high; ++y) {
    const std::uint32_t bits = inside_row(work, k, y)[tile_column];
    if (bits == 0) continue;
    std::uint8_t* pixel = out.row<std::uint8_t>(y) + static_cast<std::ptrdiff_t>(x0) * channels_;
    if (bits == ~0U && columns == kTileSide) {
      blend_row(pixel);
      continue;
    }
    for (int x = 0; x < columns; ++x, pixel += channels_)
      if (((bits >> static_cast<unsigned>(x)) & 1U) != 0) blend_pixel(pixel, pen(k).line, pen(k).fill);
  }
}

void OverlayPainter::paint_label(const OverlayWork& work, const ImageView& out, int label, Span rows) const {
  const PlacedLabel& placed = work.labels[label];
  if (placed.box.y > rows.high || placed.box.y + placed.box.size.height <= rows.low) return;
  const PlacedStamp* pieces = pieces_of(work, label);
  for (int i = 0; i < placed.pieces; ++i)
    paint_stamp(out, {placed.box.x + pieces[i].x, placed.box.y, pieces[i].stamp}, rows);
}

void OverlayPainter::paint_stamp(const ImageView& out, const PlacedStamp& place, Span rows) const {
  const Stamp& picture = stamp(place.stamp);
  const int top = std::max({place.y, rows.low, 0}),
            bottom = std::min(place.y + picture.height - 1, rows.high);
  const int left = std::max(place.x, 0), right = std::min(place.x + picture.width, grid_.width);
  for (int y = top; y <= bottom; ++y) {
    const Colour* from = picture.pixels.data() + static_cast<std::ptrdiff_t>(y - place.y) * picture.width;
    std::uint8_t* pixel = out.row<std::uint8_t>(y) + static_cast<std::ptrdiff_t>(left) * channels_;
    for (int x = left; x < right; ++x, pixel += channels_)
      if (from[x - place.x].alpha != 0) blend_pixel(pixel, from[x - place.x], from[x - place.x].alpha);
  }
}

void OverlayPainter::count_contours(const OverlayWork& work) const {
  const ContoursView& contours = *work.contours;
  for (int k = 0; k < contours.format.classes; ++k) {
    work.counted[k] = 0;
    for (std::uint32_t i = contours.class_begin[k]; i < contours.class_begin[k + 1]; ++i)
      work.counted[k] += is_counted(contours, i) ? 1 : 0;
  }
}

void OverlayPainter::paint_counts(const OverlayWork& work, const ImageView& out, Span rows) const {
  const auto size_of = [&](int n) { return stamp(n).size(); };
  const auto put = [&](const PlacedStamp& digit) { paint_stamp(out, digit, rows); };
  for (int k = 0; k < work.contours->format.classes; ++k)
    if (const FramePoint end = plan_.count_ends[static_cast<std::size_t>(k)]; end.x >= 0)
      LeftwardStamps(end, size_of, put).number(work.counted[k], plan_.first_digit);
}

}  // namespace contorno
