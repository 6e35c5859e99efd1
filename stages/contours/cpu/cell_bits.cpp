#include "stages/contours/cpu/cell_bits.h"

#include "stages/contours/rules/sample_node.h"

namespace contorno {
namespace {

bool bit_at(const std::uint64_t* row, std::int64_t col) {
  return (row[col >> 6] >> (col & 63) & 1) != 0;
}

}  // namespace

bool CellBits::is_cell(std::int64_t row, std::int64_t col) const {
  if (row < 0 || col < 0 || row >= bits_.height - 1 || col >= bits_.width - 1) return false;
  for (const std::int64_t r : {row, row + 1}) {
    if ((bits_.row_flags[r] & kRowHasUnusable) == 0) continue;
    if (!bit_at(bits_.usable_row(r), col) || !bit_at(bits_.usable_row(r), col + 1)) return false;
  }
  return true;
}

bool CellBits::is_suspect(std::int64_t row, std::int64_t col) const {
  for (const std::int64_t r : {row, row + 1}) {
    if ((bits_.row_flags[r] & kRowHasSuspect) == 0) continue;
    if (bit_at(bits_.suspect_row(r), col) || bit_at(bits_.suspect_row(r), col + 1)) return true;
  }
  return false;
}

CellBits::Place CellBits::place_of(std::uint64_t segment) const {
  const auto position = static_cast<std::int64_t>(segment >> 1);
  return {position / bits_.row_bits(), position % bits_.row_bits(), static_cast<int>(segment & 1)};
}

CellSegment CellBits::sides(const Place& place) const {
  const auto code = static_cast<int>(this->code(position(place.row, place.col)));
  return cell_case(code, connectivity_).segment[place.sub];
}

PointD CellBits::point(const Place& place, Side side) const {
  return with_sample_type(samples_.type, [&]<class T>(const T*) {
    return crossing_point<T>(samples_, level_, place.row, place.col, side);
  });
}

bool CellBits::has_segment(std::int64_t row, std::int64_t col, int sub) const {
  const Place place{row, col, sub};
  if (cell_case(static_cast<int>(code(position(row, col))), connectivity_).count <= sub) return false;
  if (!is_suspect(row, col)) return true;
  const CellSegment segment = sides(place);
  return !(point(place, segment.from) == point(place, segment.to));
}

std::uint64_t CellBits::neighbour(std::uint64_t segment, bool forward) const {
  const Place place = place_of(segment);
  const CellSegment ends = sides(place);
  const Side side = forward ? ends.to : ends.from;
  if (!is_suspect(place.row, place.col)) return across_edge(place, side, forward);
  const PointD end = point(place, side);
  switch (node_of(end, is_across(side))) {
    case NodeKind::None:
      break;
    case NodeKind::Edge:
      return across_edge(place, side, forward);
    case NodeKind::Sample:
      return around_sample(static_cast<std::int64_t>(end.row), static_cast<std::int64_t>(end.col), segment,
                           forward);
  }
  return kNoSegment;
}

std::uint64_t CellBits::across_edge(const Place& place, Side side, bool forward) const {
  const std::int64_t row = place.row + row_step(side);
  const std::int64_t col = place.col + column_step(side);
  if (!is_cell(row, col)) return kNoSegment;
  const std::int64_t at = position(row, col);
  const CellCase& cell = cell_case(static_cast<int>(code(at)), connectivity_);
  for (int sub = 0; sub < cell.count; ++sub) {
    const CellSegment& ends = cell.segment[sub];
    if ((forward ? ends.from : ends.to) == opposite(side))
      return 2 * static_cast<std::uint64_t>(at) + static_cast<std::uint64_t>(sub);
  }
  return kNoSegment;
}

unsigned CellBits::exact_code(std::int64_t row, std::int64_t col) const {
  if (!bits_.partial) return code(position(row, col));
  return with_sample_type(samples_.type, [&]<class T>(const T*) {
    unsigned code = 0;
    for (int corner = 0; corner < 4; ++corner)
      if (samples_.at<T>(static_cast<int>(row) + corner / 2, static_cast<int>(col) + corner % 2) > level_)
        code |= 1U << corner;
    return code;
  });
}

std::uint64_t CellBits::around_sample(std::int64_t row, std::int64_t col, std::uint64_t segment,
                                      bool forward) const {
  const PointD sample{static_cast<double>(row), static_cast<double>(col)};
  const auto place_around = [&](int k) { return Place{row - 1 + k / 4, col - 1 + k / 2 % 2, k % 2}; };
  unsigned ends = 0;
  for (int k = 0; k < kAroundSample; ++k) {
    const Place place = place_around(k);
    if (!is_cell(place.row, place.col)) continue;
    const CellCase& cell = cell_case(static_cast<int>(exact_code(place.row, place.col)), connectivity_);
    if (cell.count <= place.sub) continue;
    const CellSegment& sides = cell.segment[place.sub];
    const PointD from = point(place, sides.from), to = point(place, sides.to);
    if (from == to) continue;
    if (to == sample)
      ends |= arriving_end(k);
    else if (from == sample)
      ends |= leaving_end(k);
  }
  const Place own = place_of(segment);
  const int k = static_cast<int>(4 * (own.row - row + 1) + 2 * (own.col - col + 1)) + own.sub;
  const int other = forward ? neighbour_at_sample<true>(ends, k) : neighbour_at_sample<false>(ends, k);
  if (other < 0) return kNoSegment;
  const Place place = place_around(other);
  return 2 * static_cast<std::uint64_t>(position(place.row, place.col)) +
         static_cast<std::uint64_t>(place.sub);
}

}  // namespace contorno
