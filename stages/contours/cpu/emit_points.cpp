#include "stages/contours/cpu/emit_points.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "stages/contours/rules/keep_contour.h"

namespace contorno {
namespace {

PointD to_point(const PointD& point, const PointD*) {
  return point;
}
Point to_point(const PointD& point, const Point*) {
  return {static_cast<float>(point.row), static_cast<float>(point.col)};
}

/// A contour in the output. Its places are numbered as if it were not reversed.
template <class Out>
struct Place {
  Out* first = nullptr;  // where place 0 is
  std::ptrdiff_t step = 1;
  std::uint64_t segments = 0;
  bool closed = false;
  std::uint64_t cut = 0;  // closed: rank of the segment whose end is the first point

  Out& at(std::uint64_t place) const { return first[static_cast<std::ptrdiff_t>(place) * step]; }
};

/// What a side of a cell means for the samples: where its two are, and where the walk goes over it.
struct EdgeGeometry {
  std::ptrdiff_t a = 0, b = 0, move = 0;     // bytes from the cell's upper left sample
  double row = 0, col = 0;                   // of the edge, from the cell
  std::uint64_t row_mask = 0, col_mask = 0;  // where the fraction goes
  double row_move = 0, col_move = 0;
};

template <class T, class Out, bool Suspect>
class Emitter {
 public:
  explicit Emitter(const EmitSource& source)
      : cells_(*source.cells), table_(*source.table), samples_(cells_.samples()) {
    const std::ptrdiff_t down = samples_.row_pitch, right = samples_.step;
    constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
    // Indexed by the side through which the next cell is entered, as the walk table has it.
    for (const Side side : {kTop, kRight, kBottom, kLeft}) {
      const GridEdge edge = edge_of_side(0, 0, side);
      const std::ptrdiff_t a = edge.row * down + edge.col * right;
      edges_[opposite(side)] = {.a = a,
                                .b = a + (edge.across ? right : down),
                                .move = row_step(side) * down + column_step(side) * right,
                                .row = static_cast<double>(edge.row),
                                .col = static_cast<double>(edge.col),
                                .row_mask = edge.across ? 0 : kAll,
                                .col_mask = edge.across ? kAll : 0,
                                .row_move = static_cast<double>(row_step(side)),
                                .col_move = static_cast<double>(column_step(side))};
    }
  }

  /// `count` segments from `segment` on, whose rank in the contour is `rank`.
  void emit(const Place<Out>& place, std::uint64_t segment, std::uint64_t rank, std::uint64_t count) const {
    Cursor cursor = cursor_at(segment);
    if (!place.closed) {
      if (rank == 0) place.at(0) = to_point(start_of(segment), place.first);
      walk(cursor, count, &place.at(rank + 1), place.step);
      return;
    }
    // Ranks count from the segment behind the cut; the point where the segment before the cut ends is both
    // the first and the last of the list.
    const std::uint64_t n = place.segments;
    const std::uint64_t from_cut = rank > place.cut ? rank - place.cut - 1 : rank + n - place.cut - 1;
    const std::uint64_t before = std::min(count, n - from_cut);
    walk(cursor, before, &place.at(from_cut + 1), place.step);
    if (from_cut + before == n) place.at(0) = place.at(n);
    if (count > before) walk(cursor, count - before, &place.at(1), place.step);
  }

 private:
  PointD start_of(std::uint64_t segment) const {
    const auto position = static_cast<std::int64_t>(segment >> 1);
    const auto side = table_.from[2 * cells_.code(position) + (segment & 1)] / 16;
    const std::int64_t row_bits = cells_.bits().row_bits();
    return crossing_point<T>(samples_, cells_.level(), position / row_bits, position % row_bits,
                             static_cast<Side>(side));
  }

  struct Cursor {
    std::int64_t position = 0;
    std::uint32_t entry = 0;   // 16 * the side the segment comes from
    const char* at = nullptr;  // the cell's upper left sample
    double row = 0, col = 0;   // whole numbers
  };

  Cursor cursor_at(std::uint64_t segment) const {
    const auto position = static_cast<std::int64_t>(segment >> 1);
    const std::int64_t row = position / cells_.bits().row_bits(), col = position % cells_.bits().row_bits();
    return {position, table_.from[2 * cells_.code(position) + (segment & 1)],
            samples_.data + row * samples_.row_pitch + col * samples_.step, static_cast<double>(row),
            static_cast<double>(col)};
  }

  /// Writes the ends of `count` segments. Leaves the cursor at the segment behind the last one, if there is
  /// one.
  void walk(Cursor& place, std::uint64_t count, Out* out, std::ptrdiff_t step) const {
    const double level = cells_.level();
    Cursor cursor = place;
    for (; count > 0; --count, out += step) {
      const Step& go = table_.forward[cursor.entry + cells_.code(cursor.position)];
      const EdgeGeometry& edge = edges_[go.next / 16];
      const double a = value_of(*reinterpret_cast<const T*>(cursor.at + edge.a), samples_.scale);
      const double b = value_of(*reinterpret_cast<const T*>(cursor.at + edge.b), samples_.scale);
      // crossing_point without a branch.
      const auto fraction = std::bit_cast<std::uint64_t>(crossing_fraction(level, a, b));
      const PointD point{cursor.row + edge.row + std::bit_cast<double>(fraction & edge.row_mask),
                         cursor.col + edge.col + std::bit_cast<double>(fraction & edge.col_mask)};
      *out = to_point(point, out);
      if constexpr (Suspect) {
        if (cells_.is_suspect(static_cast<std::int64_t>(cursor.row), static_cast<std::int64_t>(cursor.col))) {
          const std::uint64_t segment =
              cells_.successor(2 * static_cast<std::uint64_t>(cursor.position) + go.sub);
          if (segment == kNoSegment) return;
          cursor = cursor_at(segment);
          continue;
        }
      }
      cursor.position += go.move;
      cursor.entry = go.next;
      cursor.at += edge.move;
      cursor.row += edge.row_move;
      cursor.col += edge.col_move;
    }
    place = cursor;
  }

  const CellBits& cells_;
  const WalkTable& table_;
  const Plane& samples_;
  EdgeGeometry edges_[kSides];
};

template <class Out>
Place<Out> place_at(Out* points, std::uint64_t offset, std::uint64_t segments, bool closed, std::uint64_t cut,
                    Orientation orientation) {
  const bool reversed = orientation == Orientation::High;
  return {points + offset + (reversed ? segments : 0), reversed ? -1 : 1, segments, closed, cut};
}

/// Calls f(run, detail, contour, offset) for the runs that stand for a contour, and f with no detail for
/// short ones.
template <class F>
void for_contours(const ChunkPool& pool, Chunk& chunk, const F& f) {
  std::uint64_t contour = chunk.first_contour, offset = chunk.first_point;
  const Run* runs = chunk.items<Run>();
  for (std::uint32_t i = 0; i < chunk.count; ++i) {
    const Run& run = runs[i];
    Detail* detail = (run.first & Run::kDetailed) != 0 ? pool.detail(run.extra) : nullptr;
    if (detail != nullptr && (detail->owner != detail || detail->dropped)) continue;
    f(i, run, detail, contour, offset);
    ++contour;
    offset += points_of(detail != nullptr ? detail->total : std::uint64_t{run.length});
  }
}

template <class T, class Out, bool Suspect>
void emit_typed(const ChunkPool& pool, Chunk& chunk, std::uint32_t part, const EmitSource& source,
                const EmitTarget& target, Out* points) {
  const Emitter<T, Out, Suspect> emitter(source);
  const std::uint32_t begin = chunk.count * part / kPartsPerChunk;
  const std::uint32_t end = chunk.count * (part + 1) / kPartsPerChunk;
  if (chunk.kind == ChunkKind::Sections) {
    for (std::uint32_t i = begin; i < end; ++i) {
      const Section& section = chunk.items<Section>()[i];
      const Detail& own = *section.detail;
      if (own.owner->dropped) continue;
      const Detail& owner = *own.owner;
      const auto rank = own.base + static_cast<std::uint64_t>(section.rank + own.before);
      const auto place =
          place_at(points, owner.offset, owner.total, owner.closed, owner.cut, target.orientation);
      emitter.emit(place, section.segment, rank, section.count);
    }
    return;
  }
  for_contours(pool, chunk,
               [&](std::uint32_t i, const Run& run, const Detail* detail, std::uint64_t contour,
                   std::uint64_t offset) {
                 if (i < begin || i >= end) return;
                 const bool closed = detail != nullptr ? detail->closed : (run.first & Run::kClosed) != 0;
                 target.offsets[contour] = static_cast<std::uint32_t>(offset);
                 target.closed[contour] = closed ? 1 : 0;
                 if (detail != nullptr) return;  // by its sections
                 const auto place =
                     place_at(points, offset, run.length, closed, run.extra, target.orientation);
                 emitter.emit(place, run.segment(), 0, run.length);
               });
}

}  // namespace

void place_details(const ChunkPool& pool, Chunk& chunk) {
  for_contours(pool, chunk,
               [](std::uint32_t, const Run&, Detail* detail, std::uint64_t, std::uint64_t offset) {
                 if (detail != nullptr) detail->offset = offset;
               });
}

void emit_part(const ChunkPool& pool, Chunk& chunk, std::uint32_t part, const EmitSource& source,
               const EmitTarget& target) {
  with_sample_type(source.cells->samples().type, [&]<class T>(const T*) {
    const auto emit = [&](auto* points) {
      using Out = std::remove_pointer_t<decltype(points)>;
      if (source.any_suspect)
        emit_typed<T, Out, true>(pool, chunk, part, source, target, points);
      else
        emit_typed<T, Out, false>(pool, chunk, part, source, target, points);
    };
    if (target.points != nullptr)
      emit(target.points);
    else
      emit(target.exact_points);
  });
}

}  // namespace contorno
