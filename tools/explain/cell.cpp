#include "tools/explain/cell.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace contorno::explain {

std::string_view name_of(SampleState state) {
  switch (state) {
    case SampleState::Low:
      return "low";
    case SampleState::High:
      return "high";
    case SampleState::Nan:
      return "NaN";
    case SampleState::Masked:
      return "masked";
  }
  throw InternalError("unknown state of a sample");
}

std::string_view name_of(Side side) {
  switch (side) {
    case kTop:
      return "top";
    case kRight:
      return "right";
    case kBottom:
      return "bottom";
    case kLeft:
      return "left";
  }
  throw InternalError("unknown side");
}

bool Cell::usable() const {
  return std::all_of(samples.begin(), samples.end(), [](const CellSample& sample) {
    return sample.state == SampleState::Low || sample.state == SampleState::High;
  });
}

namespace {

SampleState state_of(const CellSample& sample, const ImageView& mask, double level) {
  if (sample.value != sample.value) return SampleState::Nan;
  if (mask.data != nullptr && mask.row<const std::uint8_t>(sample.row)[sample.col] == 0)
    return SampleState::Masked;
  // The plain rule; the engine has it in a faster form (level_test.h).
  return sample.value > level ? SampleState::High : SampleState::Low;
}

}  // namespace

Cell cell_at(const Plane& map, const ImageView& mask, double level, int row, int col) {
  Cell cell{.row = row, .col = col, .level = level};
  Plane stored = map;
  stored.scale = {};
  for (int i = 0; i < 4; ++i) {
    CellSample& sample = cell.samples[static_cast<std::size_t>(i)];
    sample.row = row + i / 2, sample.col = col + i % 2;
    sample.stored = stored.at(sample.row, sample.col);
    sample.value = map.at(sample.row, sample.col);
    sample.state = state_of(sample, mask, level);
    if (sample.state == SampleState::High) cell.code |= 1 << i;
  }
  return cell;
}

namespace {

SegmentEnd end_on(const Cell& cell, Side side) {
  const GridEdge edge = edge_of_side(cell.row, cell.col, side);
  const auto first = static_cast<std::size_t>(2 * (edge.row - cell.row) + edge.col - cell.col);
  const CellSample &a = cell.samples[first], &b = cell.samples[first + (edge.across ? 1 : 2)];
  const PointD point = crossing_point(edge, cell.level, a.value, b.value);
  return {side, point, node_of(point, edge.across)};
}

bool is_same(double a, double b) {
  return a == b || (a != a && b != b);
}
bool is_same(const PointD& a, const PointD& b) {
  return is_same(a.row, b.row) && is_same(a.col, b.col);
}

}  // namespace

std::vector<Segment> segments_of(const Cell& cell, Connectivity connectivity) {
  const CellCase& known = cell_case(cell.code, connectivity);
  std::vector<Segment> segments;
  for (int i = 0; i < known.count; ++i)
    segments.push_back({end_on(cell, known.segment[i].from), end_on(cell, known.segment[i].to)});
  return segments;
}

std::optional<SegmentPlace> place_of(const Segment& segment, const FoundContours& found,
                                     Orientation orientation) {
  const bool reversed = orientation == Orientation::High;
  const PointD& first = reversed ? segment.to.point : segment.from.point;
  const PointD& second = reversed ? segment.from.point : segment.to.point;
  for (std::size_t contour = 0; contour < found.count(); ++contour) {
    const auto points = found.contour(contour);
    for (std::size_t i = 0; i + 1 < points.size(); ++i)
      if (is_same(points[i], first) && is_same(points[i + 1], second))
        return SegmentPlace{contour, reversed ? i + 1 : i, reversed ? i : i + 1};
  }
  return {};
}

std::string first_difference(const FoundContours& cpu, const FoundContours& device) {
  if (cpu.count() != device.count())
    return fmt::format("the CPU has {} contours, the device {}", cpu.count(), device.count());
  for (std::size_t i = 0; i < cpu.count(); ++i) {
    const auto ours = cpu.contour(i), others = device.contour(i);
    if (ours.size() != others.size())
      return fmt::format("contour {} has {} points by the CPU, {} by the device", i, ours.size(),
                         others.size());
    if (cpu.closed[i] != device.closed[i])
      return fmt::format("contour {} is {} by the CPU, but not by the device", i,
                         cpu.closed[i] != 0 ? "closed" : "open");
    for (std::size_t k = 0; k < ours.size(); ++k)
      if (!is_same(ours[k], others[k]))
        return fmt::format("point {} of contour {} is ({}, {}) by the CPU, ({}, {}) by the device", k, i,
                           ours[k].row, ours[k].col, others[k].row, others[k].col);
  }
  return {};
}

}  // namespace contorno::explain
