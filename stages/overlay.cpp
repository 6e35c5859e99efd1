#include "stages/overlay.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "cuda/error.h"
#include "pipeline/loops.h"
#include "stages/overlay_plan.h"

namespace contorno {
namespace {

constexpr int kPointsAtATime = 4096;
constexpr int kMaxLabels = 16;

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(ExitCode::BadConfig, "overlay: " + sentence);
}

/// What one run works with. Everything is in the slot's memory.
struct Work {
  const ContoursView* contours;
  FramePoint* points;         ///< the contours' points on the drawn image
  std::uint32_t* tile_begin;  ///< tiles + 1; references of tile t are [tile_begin[t], tile_begin[t + 1])
  std::uint32_t* tile_fill;   ///< where the next reference of the tile goes
  std::uint32_t* references;  ///< first point of a segment, ascending in a tile, hence in class order
  std::uint32_t* inside;      ///< bits of filled classes: [class slot][row][tile column]
  PlacedStamp* labels;
  int label_count = 0;
  int points_used = 0;
};

/// Kept in scratch for `overflow`.
struct Outcome {
  std::uint64_t references_needed = 0;
};

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

/// The work of drawing, apart from planning: binning segments into tiles, tiles, stamps.
class Painter {
 public:
  Painter(const OverlayPlan& plan, const ImageFormat& format, const std::vector<int>& slots)
      : plan_(plan),
        slots_(slots),
        width_(format.width),
        height_(format.height),
        channels_(format.channels),
        tiles_x_((width_ + kTileSide - 1) / kTileSide),
        tiles_y_((height_ + kTileSide - 1) / kTileSide) {}

  int tiles_x() const { return tiles_x_; }
  int tiles_y() const { return tiles_y_; }

  /// f(class, first point) for every segment that is drawn, in order.
  template <class F>
  void for_segments(const ContoursView& contours, const F& f) const {
    for (int k = 0; k < contours.format.classes; ++k) {
      if (plan_.pens[static_cast<std::size_t>(k)].hidden) continue;
      for (std::uint32_t c = contours.class_begin[k]; c < contours.class_begin[k + 1]; ++c)
        for (std::uint32_t i = contours.offsets[c]; i + 1 < contours.offsets[c + 1]; ++i)
          f(k, i, contours.closed[c] != 0);
    }
  }

  Span rows_of(int tile_row) const {
    return {tile_row * kTileSide, std::min(height_, (tile_row + 1) * kTileSide) - 1};
  }

  /// f(tile) for the tiles in tile rows [from, to) that a segment reaches.
  template <class F>
  void for_tiles(FramePoint a, FramePoint b, float reach, int from, int to, const F& f) const {
    const Span rows = reached(a.y, b.y, reach, height_);
    if (rows.empty()) return;
    const int last = std::min(rows.high / kTileSide, to - 1);
    for (int row = std::max(rows.low / kTileSide, from); row <= last; ++row) {
      const Span columns = reached_columns(a, b, rows_of(row), reach, width_);
      if (columns.empty()) continue;
      for (int column = columns.low / kTileSide; column <= columns.high / kTileSide; ++column)
        f(row * tiles_x_ + column);
    }
  }

  void count_references(const Work& work, int from, int to) const {
    std::fill(work.tile_fill + from * tiles_x_, work.tile_fill + to * tiles_x_, 0U);
    for_segments(*work.contours, [&](int k, std::uint32_t i, bool) {
      for_tiles(work.points[i], work.points[i + 1], pen(k).reach, from, to,
                [&](int tile) { ++work.tile_fill[tile]; });
    });
  }

  void fill_references(const Work& work, int from, int to) const {
    for_segments(*work.contours, [&](int k, std::uint32_t i, bool) {
      for_tiles(work.points[i], work.points[i + 1], pen(k).reach, from, to,
                [&](int tile) { work.references[work.tile_fill[tile]++] = i; });
    });
  }

  /// Marks in every row where the insides of filled classes begin and end, then makes that inside bits.
  void find_insides(const Work& work, int from_tile, int to_tile) const {
    const int from = from_tile * kTileSide, to = std::min(height_, to_tile * kTileSide);
    for (int k = 0; k < work.contours->format.classes; ++k)
      if (slot(k) >= 0) std::fill(inside_row(work, k, from), inside_row(work, k, to), 0U);
    for_segments(*work.contours, [&](int k, std::uint32_t i, bool closed) {
      if (!closed || slot(k) < 0) return;
      const FramePoint a = work.points[i], b = work.points[i + 1];
      const int first = std::max(from, ceil_to_int(std::min(a.y, b.y)));
      const int end = std::min(to, ceil_to_int(std::max(a.y, b.y)));
      for (int y = first; y < end; ++y) {
        const int column = std::max(0, crossing_column(a, b, y));
        if (column < width_) inside_row(work, k, y)[column / kTileSide] ^= 1U << (column % kTileSide);
      }
    });
    for (int k = 0; k < work.contours->format.classes; ++k) {
      if (slot(k) < 0) continue;
      for (int y = from; y < to; ++y) {
        std::uint32_t* row = inside_row(work, k, y);
        std::uint32_t carry = 0;
        for (int column = 0; column < tiles_x_; ++column) {
          row[column] = running_parity(row[column]) ^ carry;
          carry = 0U - (row[column] >> 31U);
        }
      }
    }
  }

  void paint_tile_row(const Work& work, const ImageView& out, int tile_row) const {
    for (int column = 0; column < tiles_x_; ++column) paint_tile(work, out, tile_row, column);
    const Span rows = rows_of(tile_row);
    for (int i = 0; i < work.label_count; ++i) paint_stamp(out, work.labels[i], rows);
    if (plan_.legend >= 0) paint_stamp(out, plan_.legend_place, rows);
    if (plan_.first_digit >= 0) paint_counts(work, out, rows);
  }

  /// Places a label at each of a class's largest contours (by box, the first of equals) that is larger than
  /// the label and whose label covers none that is placed already.
  int place_labels(const Work& work, int a_class) const {
    int count = 0;
    for (int k = 0; k < work.contours->format.classes; ++k) {
      const int stamp = plan_.labels[static_cast<std::size_t>(k)];
      if (stamp < 0 || pen(k).hidden) continue;
      std::array<Box, kMaxLabels> best{};
      const int found = largest(work, k, a_class, best);
      for (int i = 0; i < found; ++i) {
        const PlacedStamp label = label_at(best[static_cast<std::size_t>(i)], stamp);
        if (is_free(label, work.labels, count)) work.labels[count++] = label;
      }
    }
    return count;
  }

 private:
  struct Box {
    float left = 0, top = 0, right = 0, bottom = 0;
    float area() const { return (right - left) * (bottom - top); }
  };

  const OverlayPen& pen(int k) const { return plan_.pens[static_cast<std::size_t>(k)]; }
  const Stamp& stamp(int number) const { return plan_.stamps[static_cast<std::size_t>(number)]; }
  int slot(int k) const { return slots_[static_cast<std::size_t>(k)]; }
  std::uint32_t* inside_row(const Work& work, int k, int y) const {
    return work.inside + (static_cast<std::ptrdiff_t>(slot(k)) * height_ + y) * tiles_x_;
  }

  /// Squared distances of a tile's pixels, and the rows and columns that were touched.
  struct Field {
    alignas(64) std::array<float, kTileSide * kTileSide> squared;
    int top = kTileSide, bottom = -1, left = kTileSide, right = -1;

    void clear() {
      squared.fill(kFar);
      top = left = kTileSide, bottom = right = -1;
    }
    /// Takes in every pixel within reach, in whole vectors: what is computed beyond it is true as well.
    void add(const OverlaySegment segment, Span rows, Span columns, int x0, int y0) {
      const int from = (columns.low - x0) / 4 * 4, to = (columns.high - x0) / 4 * 4 + 4;
      top = std::min(top, rows.low - y0), bottom = std::max(bottom, rows.high - y0);
      left = std::min(left, from), right = std::max(right, to - 1);
      for (int y = rows.low; y <= rows.high; ++y) {
        float* row = squared.data() + static_cast<std::ptrdiff_t>(y - y0) * kTileSide;
        const auto py = static_cast<float>(y);
#pragma omp simd simdlen(4)
        for (int x = from; x < to; ++x) {
          const float d = segment.squared_distance(static_cast<float>(x0 + x), py);
          row[x] = d < row[x] ? d : row[x];
        }
      }
    }
  };

  void paint_tile(const Work& work, const ImageView& out, int tile_row, int tile_column) const {
    const ContoursView& contours = *work.contours;
    const int tile = tile_row * tiles_x_ + tile_column;
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
      measure(work, pen_of_class, {work.references + first, next - first}, tile_column * kTileSide,
              rows_of(tile_row), field, dots);
      paint_class(work, out, k, tile_row, tile_column, field, dots);
    }
  }

  void measure(const Work& work, const OverlayPen& pen_of_class, std::span<const std::uint32_t> segments,
               int x0, Span tile_rows, Field& field, Field& dots) const {
    const int right = std::min(width_ - 1, x0 + kTileSide - 1);
    field.clear();
    if (pen_of_class.marker > 0) dots.clear();
    const auto add = [&](FramePoint a, FramePoint b, Field& to) {
      Span rows = reached(a.y, b.y, pen_of_class.reach, height_);
      Span columns = reached(a.x, b.x, pen_of_class.reach, width_);
      rows = {std::max(rows.low, tile_rows.low), std::min(rows.high, tile_rows.high)};
      columns = {std::max(columns.low, x0), std::min(columns.high, right)};
      if (!rows.empty() && !columns.empty()) to.add(OverlaySegment(a, b), rows, columns, x0, tile_rows.low);
    };
    for (const std::uint32_t i : segments) {
      add(work.points[i], work.points[i + 1], field);
      if (pen_of_class.marker <= 0) continue;
      add(work.points[i], work.points[i], dots);
      add(work.points[i + 1], work.points[i + 1], dots);
    }
  }

  void paint_class(const Work& work, const ImageView& out, int k, int tile_row, int tile_column,
                   const Field& field, const Field& dots) const {
    const OverlayPen pen_of_class = pen(k);
    const bool filled = slot(k) >= 0, dotted = pen_of_class.marker > 0;
    const Span rows = rows_of(tile_row);
    const int x0 = tile_column * kTileSide, columns = std::min(width_ - x0, kTileSide);
    for (int y = rows.low; y <= rows.high; ++y) {
      const std::uint32_t bits = filled ? inside_row(work, k, y)[tile_column] : 0U;
      const int line = y - rows.low;
      if (bits == 0 && (line < field.top || line > field.bottom)) continue;
      const float* squared = field.squared.data() + static_cast<std::ptrdiff_t>(line) * kTileSide;
      const float* dot =
          dotted ? dots.squared.data() + static_cast<std::ptrdiff_t>(line) * kTileSide : squared;
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

  bool touches_inside(const Work& work, int k, int tile_row, int tile_column) const {
    const Span rows = rows_of(tile_row);
    std::uint32_t any = 0;
    for (int y = rows.low; y <= rows.high; ++y) any |= inside_row(work, k, y)[tile_column];
    return any != 0;
  }

  void paint_inside(const Work& work, const ImageView& out, int k, int tile_row, int tile_column) const {
    const Span rows = rows_of(tile_row);
    const int x0 = tile_column * kTileSide, columns = std::min(width_ - x0, kTileSide);
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

  void paint_stamp(const ImageView& out, const PlacedStamp& place, Span rows) const {
    const Stamp& picture = stamp(place.stamp);
    const int top = std::max({place.y, rows.low, 0}),
              bottom = std::min(place.y + picture.height - 1, rows.high);
    const int left = std::max(place.x, 0), right = std::min(place.x + picture.width, width_);
    for (int y = top; y <= bottom; ++y) {
      const Colour* from = picture.pixels.data() + static_cast<std::ptrdiff_t>(y - place.y) * picture.width;
      std::uint8_t* pixel = out.row<std::uint8_t>(y) + static_cast<std::ptrdiff_t>(left) * channels_;
      for (int x = left; x < right; ++x, pixel += channels_)
        if (from[x - place.x].alpha != 0) blend_pixel(pixel, from[x - place.x], from[x - place.x].alpha);
    }
  }

  /// Numbers of contours, right-aligned in the legend.
  void paint_counts(const Work& work, const ImageView& out, Span rows) const {
    for (int k = 0; k < work.contours->format.classes; ++k) {
      const FramePoint end = plan_.count_ends[static_cast<std::size_t>(k)];
      if (end.x < 0) continue;
      std::uint32_t number = work.contours->class_begin[k + 1] - work.contours->class_begin[k];
      int x = static_cast<int>(end.x);
      do {
        const int digit = plan_.first_digit + static_cast<int>(number % 10);
        x -= stamp(digit).width;
        paint_stamp(out, {x, static_cast<int>(end.y), digit}, rows);
        number /= 10;
      } while (number != 0);
    }
  }

  int largest(const Work& work, int k, int wanted, std::array<Box, kMaxLabels>& best) const {
    const ContoursView& contours = *work.contours;
    const Stamp& label = stamp(plan_.labels[static_cast<std::size_t>(k)]);
    const float smallest = static_cast<float>(label.height) * static_cast<float>(label.height);
    int found = 0;
    for (std::uint32_t c = contours.class_begin[k]; c < contours.class_begin[k + 1]; ++c) {
      const Box box = box_of(work, contours.offsets[c], contours.offsets[c + 1]);
      if (!(box.area() >= smallest)) continue;
      int at = std::min(found, wanted);
      while (at > 0 && best[static_cast<std::size_t>(at - 1)].area() < box.area()) --at;
      if (at == wanted) continue;
      found = std::min(found + 1, wanted);
      for (int i = found - 1; i > at; --i)
        best[static_cast<std::size_t>(i)] = best[static_cast<std::size_t>(i - 1)];
      best[static_cast<std::size_t>(at)] = box;
    }
    return found;
  }

  static Box box_of(const Work& work, std::uint32_t from, std::uint32_t to) {
    if (from >= to) return {};
    Box box{work.points[from].x, work.points[from].y, work.points[from].x, work.points[from].y};
    for (std::uint32_t i = from + 1; i < to; ++i) {
      const FramePoint p = work.points[i];
      box.left = std::min(box.left, p.x), box.right = std::max(box.right, p.x);
      box.top = std::min(box.top, p.y), box.bottom = std::max(box.bottom, p.y);
    }
    return box;
  }

  PlacedStamp label_at(const Box& box, int number) const {
    const Stamp& label = stamp(number);
    const int gap = 3;
    int y = floor_to_int(box.top) - label.height - gap;
    if (y < 0) y = std::min(floor_to_int(box.top) + gap, height_ - label.height);
    const int x = floor_to_int((box.left + box.right) / 2) - label.width / 2;
    return {std::max(0, std::min(x, width_ - label.width)), std::max(0, y), number};
  }

  bool is_free(const PlacedStamp& label, const PlacedStamp* placed, int count) const {
    const auto apart = [&](const PlacedStamp& other) {
      const Stamp &a = stamp(label.stamp), &b = stamp(other.stamp);
      return label.x + a.width <= other.x || other.x + b.width <= label.x || label.y + a.height <= other.y ||
             other.y + b.height <= label.y;
    };
    if (plan_.legend >= 0 && !apart(plan_.legend_place)) return false;
    return std::all_of(placed, placed + count, apart);
  }

  const OverlayPlan& plan_;
  const std::vector<int>& slots_;
  int width_, height_, channels_, tiles_x_, tiles_y_;
};

class OverlayCpu final : public Stage {
 public:
  explicit OverlayCpu(const ParamSet& params) : params_(params.as<OverlayParams>()) {}

  void plan(PlanContext& context) override {
    format_ = context.image(0);
    if (format_.type != ElementType::U8 || format_.layout != Layout::Interleaved ||
        (format_.channels != 3 && format_.channels != 4))
      refuse(fmt::format(
          "the frame is {}, allowed 3 or 4 interleaved channels of uint8 (preprocess with colour: rgb "
          "makes them)",
          describe(format_)));
    const auto& contours = std::get<ContoursFormat>(context.input(1));
    plan_ = make_overlay_plan(params_, context.classes(), contours.classes, format_, context.text());
    transform_ = transform_of(contours.placement, format_.placement);
    context.set_output(0, format_);

    slots_.clear();
    int filled = 0;
    for (const OverlayPen& pen : plan_.pens) slots_.push_back(pen.fill != 0 && !pen.hidden ? filled++ : -1);
    const Painter painter(plan_, format_, slots_);
    const std::size_t tiles =
        static_cast<std::size_t>(painter.tiles_x()) * static_cast<std::size_t>(painter.tiles_y());
    reference_capacity_ = context.capacity(2 * contours.point_capacity + 4 * tiles);
    const auto take = [&](std::size_t bytes) { return context.scratch(bytes, MemoryKind::Host); };
    points_ = take(contours.point_capacity * sizeof(FramePoint));
    tile_begin_ = take((tiles + 1) * sizeof(std::uint32_t));
    tile_fill_ = take(tiles * sizeof(std::uint32_t));
    references_ = take(reference_capacity_ * sizeof(std::uint32_t));
    inside_ = take(static_cast<std::size_t>(filled) * static_cast<std::size_t>(format_.height) *
                   static_cast<std::size_t>(painter.tiles_x()) * sizeof(std::uint32_t));
    labels_ = take(plan_.pens.size() * kMaxLabels * sizeof(PlacedStamp));
    outcome_ = take(sizeof(Outcome));
    bands_ = std::max(1, std::min(context.threads(), painter.tiles_y()));
  }

  void run(const RunContext& context) const override {
    const ImageView& in = context.image_in(0);
    const ImageView& out = context.image_out(0);
    const auto& contours = std::get<ContoursView>(context.inputs[1]);
    const Painter painter(plan_, format_, slots_);
    Work work = work_of(context, contours);
    const bool drawable = prepare(context, painter, work);
    for_tasks(context.threads, painter.tiles_y(), [&](int tile_row) {
      const Span rows = painter.rows_of(tile_row);
      for (int y = rows.low; y <= rows.high; ++y)
        std::memcpy(out.row<char>(y), in.row<const char>(y), format_.row_bytes());
      if (drawable) painter.paint_tile_row(work, out, tile_row);
    });
  }

  std::uint64_t overflow(const RunContext& context) const override {
    const std::uint64_t needed = context.scratch<Outcome>(outcome_)->references_needed;
    return needed > reference_capacity_ ? needed : 0;
  }

 private:
  static PointTransform transform_of(const Placement& map, const Placement& image) {
    const double gain_x = map.scale_x / image.scale_x, gain_y = map.scale_y / image.scale_y;
    const double first_x = map.frame_x(0), first_y = map.frame_y(0);
    return {.gain_x = gain_x,
            .gain_y = gain_y,
            .bias_x = (first_x + 0.5 - image.offset_x) / image.scale_x - 0.5,
            .bias_y = (first_y + 0.5 - image.offset_y) / image.scale_y - 0.5};
  }

  Work work_of(const RunContext& context, const ContoursView& contours) const {
    Work work{};
    work.contours = &contours;
    work.points = context.scratch<FramePoint>(points_);
    work.tile_begin = context.scratch<std::uint32_t>(tile_begin_);
    work.tile_fill = context.scratch<std::uint32_t>(tile_fill_);
    work.references = context.scratch<std::uint32_t>(references_);
    work.inside = context.scratch<std::uint32_t>(inside_);
    work.labels = context.scratch<PlacedStamp>(labels_);
    return work;
  }

  /// Everything before the first pixel; false when a capacity is too small and the frame will be run again.
  bool prepare(const RunContext& context, const Painter& painter, Work& work) const {
    const ContoursView& contours = *work.contours;
    Outcome& outcome = *context.scratch<Outcome>(outcome_);
    outcome.references_needed = 0;
    if (contours.counts->points > contours.format.point_capacity ||
        contours.counts->contours > contours.format.contour_capacity)
      return false;
    const auto points = static_cast<int>(contours.counts->points);
    for_rows(context.threads, (points + kPointsAtATime - 1) / kPointsAtATime, [&](int chunk) {
      const int end = std::min(points, (chunk + 1) * kPointsAtATime);
      for (int i = chunk * kPointsAtATime; i < end; ++i) work.points[i] = transform_(contours.points[i]);
    });
    const auto in_bands = [&](const auto& f) {
      for_rows(context.threads, bands_, [&](int band) {
        f(painter.tiles_y() * band / bands_, painter.tiles_y() * (band + 1) / bands_);
      });
    };
    in_bands([&](int from, int to) { painter.count_references(work, from, to); });
    const int tiles = painter.tiles_x() * painter.tiles_y();
    std::uint64_t sum = 0;
    for (int tile = 0; tile < tiles; ++tile) {
      const std::uint32_t count = work.tile_fill[tile];
      work.tile_begin[tile] = work.tile_fill[tile] = static_cast<std::uint32_t>(sum);
      sum += count;
    }
    work.tile_begin[tiles] = static_cast<std::uint32_t>(sum);
    outcome.references_needed = sum;
    if (sum > reference_capacity_) return false;
    in_bands([&](int from, int to) {
      painter.fill_references(work, from, to);
      painter.find_insides(work, from, to);
    });
    work.label_count = painter.place_labels(work, params_.labels);
    return true;
  }

  OverlayParams params_;
  ImageFormat format_;
  OverlayPlan plan_;
  PointTransform transform_;
  std::vector<int> slots_;  ///< a class: number among the filled ones, -1 = not filled
  std::uint64_t reference_capacity_ = 0;
  int bands_ = 1;
  Scratch points_, tile_begin_, tile_fill_, references_, inside_, labels_, outcome_;
};

ParamDeclaration overlay_params() {
  ParamList<OverlayParams> list;
  list.number("line_width", &OverlayParams::line_width, 0, 64, Unit::Pixels,
              "Width of the lines of classes that name none; 0 = by the size of the frame.");
  list.number("halo", &OverlayParams::halo, 0, 32, Unit::Pixels,
              "Width of the outline on either side of a line, which keeps it visible on any background.");
  list.colour("halo_colour", &OverlayParams::halo_colour, "Colour and opacity of the outline.");
  list.number("fill", &OverlayParams::fill, 0, 1, Unit::Fraction,
              "Opacity of the inside of closed contours of classes that name none; 0 = not filled.");
  list.number("markers", &OverlayParams::markers, 0, 32, Unit::Pixels,
              "Radius of a dot at every contour point; 0 = none.");
  list.integer("labels", &OverlayParams::labels, 0, kMaxLabels, Unit::None,
               "How many of a class's largest contours carry its name.");
  list.choice("legend", &OverlayParams::legend,
              {{"none", LegendCorner::None},
               {"top_left", LegendCorner::TopLeft},
               {"top_right", LegendCorner::TopRight},
               {"bottom_left", LegendCorner::BottomLeft},
               {"bottom_right", LegendCorner::BottomRight}},
              "Corner of the box with the colours and names of the classes.");
  list.flag("counts", &OverlayParams::counts,
            "Whether the legend shows the number of contours of each class.");
  list.integer("text_height", &OverlayParams::text_height, 0, 256, Unit::Pixels,
               "Height of a line of text; 0 = by the size of the frame.");
  return declare(std::move(list));
}

}  // namespace

const StageType& overlay_stage() {
  static const StageType type{
      .name = "overlay",
      .summary = "Draws contours, labels and a legend on a copy of the frame.",
      .inputs = {{"frame", PortType::Image, "What is drawn on.", "source.frame"},
                 {"contours", PortType::Contours, "What is drawn."}},
      .outputs = {{"image", PortType::Image, "The frame with the drawing."}},
      .params = overlay_params(),
      .example = "- type: overlay\n  line_width: 2\n  fill: 0.25\n  legend: top_left\n",
      .make_cpu = [](const ParamSet& params) { return std::make_unique<OverlayCpu>(params); },
      .make_cuda = {},
  };
  return type;
}

}  // namespace contorno
