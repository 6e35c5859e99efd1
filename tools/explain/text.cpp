#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "pipeline/shared/printable.h"
#include "tools/explain/drawing.h"
#include "tools/explain/explanation.h"

namespace contorno::explain {
namespace {

/// A fact with its name in front; further lines of the same fact have none.
std::string fact(std::string_view name, const std::string& sentence) {
  return fmt::format("{:<9} {}\n", name, sentence);
}

std::string head(const Explanation& all) {
  const ImageFormat& map = all.map;
  std::string text = fmt::format("{}{}: {} rows, {} columns, {}\n", printable_sentence(all.name),
                                 map.channels > 1 ? fmt::format(", class {}", all.channel) : "", map.height,
                                 map.width, name_of(map.type));
  return text + fmt::format("cell ({}, {}), level {}\n\n", all.cell.row, all.cell.col, all.cell.level);
}

std::string samples(const Explanation& all) {
  const ElementType type = all.map.type;
  const double divisor = probability_scale(type).divisor;
  std::size_t width = 0;
  for (const CellSample& sample : all.cell.samples)
    width = std::max(width, stored_text(sample.stored, type).size());
  std::string text;
  for (const CellSample& sample : all.cell.samples) {
    const char* equal = sample.value == all.cell.level ? ", as it is equal to the level" : "";
    const std::string share = divisor > 1 ? fmt::format(" / {} = {:<20}", divisor, sample.value) : "";
    text += fact(text.empty() ? "samples" : "",
                 fmt::format("({}, {})  {:>{}}{}  {}{}", sample.row, sample.col,
                             stored_text(sample.stored, type), width, share, name_of(sample.state), equal));
  }
  if (divisor > 1 && all.cell.level > 1)
    text += fact(
        "", fmt::format("the level is above all of them, as samples of {} are divided by {}; {} of {} is "
                        "{}",
                        name_of(type), divisor, all.cell.level, divisor, all.cell.level / divisor));
  return text;
}

std::string skipped(const Cell& cell) {
  for (const CellSample& sample : cell.samples)
    if (sample.state != SampleState::Low && sample.state != SampleState::High)
      return fact("case",
                  fmt::format("none: ({}, {}) is {}, so the cell is skipped; a contour that comes to it "
                              "ends at its side",
                              sample.row, sample.col, name_of(sample.state)));
  return {};
}

std::string case_of(const Cell& cell) {
  static constexpr const char* kCorners[] = {"upper left", "upper right", "lower left", "lower right"};
  std::vector<std::string> high;
  for (int i = 0; i < 4; ++i)
    if ((cell.code >> i & 1) != 0) high.emplace_back(kCorners[i]);
  const std::string which = high.empty()       ? "no sample is high, no contour passes"
                            : high.size() == 4 ? "all samples are high, no contour passes"
                                               : fmt::format("high is {}", fmt::join(high, ", "));
  return fact("case", fmt::format("{} of 0 to 15: {}", cell.code, which));
}

std::string joins(const std::vector<Segment>& segments) {
  std::vector<std::string> all;
  for (const Segment& segment : segments)
    all.push_back(fmt::format("{} to {}", name_of(segment.from.side), name_of(segment.to.side)));
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string saddle(const Explanation& all) {
  const bool low = all.connectivity == Connectivity::Low;
  const auto line = [&](const char* name, const char* which, const std::vector<Segment>& segments,
                        bool used) {
    return fact(name, fmt::format("fully_connected {} joins the {} samples: {}{}", which, which,
                                  joins(segments), used ? " (used here)" : ""));
  };
  return line("saddle", "low", low ? all.segments : all.others, low) +
         line("", "high", low ? all.others : all.segments, !low);
}

std::string end_text(char letter, const SegmentEnd& end) {
  std::string text =
      fmt::format("{} {:<7}({}, {})  float32 ({}, {})", letter, name_of(end.side), end.point.row,
                  end.point.col, static_cast<float>(end.point.row), static_cast<float>(end.point.col));
  if (end.node == NodeKind::Sample) text += ", exactly on that sample";
  if (end.node == NodeKind::None) text += ", beside an infinite sample: joins nothing";
  return text;
}

std::string contour_text(const Explanation& all, std::size_t i) {
  const Segment& segment = all.segments[i];
  const char from = first_letter(i), to = second_letter(i);
  if (!segment.exists())
    return fmt::format("{} and {} are one point, so this segment does not exist", from, to);
  const auto place = place_of(segment, all.found, all.orientation);
  if (!place) return "no contour has it";
  const auto points = all.found.contour(place->contour);
  const auto rows = std::minmax_element(points.begin(), points.end(),
                                        [](const PointD& a, const PointD& b) { return a.row < b.row; });
  const auto cols = std::minmax_element(points.begin(), points.end(),
                                        [](const PointD& a, const PointD& b) { return a.col < b.col; });
  return fmt::format(
      "contour {}: {}, {} points, rows {:.1f} to {:.1f}, columns {:.1f} to {:.1f}; {} is its point {}, {} "
      "its "
      "point {}",
      place->contour, all.found.closed[place->contour] != 0 ? "closed" : "open", points.size(),
      rows.first->row, rows.second->row, cols.first->col, cols.second->col, from, place->from, to, place->to);
}

std::string segment_text(const Explanation& all) {
  std::string text;
  for (std::size_t i = 0; i < all.segments.size(); ++i) {
    const Segment& segment = all.segments[i];
    text += fact("segment", end_text(first_letter(i), segment.from));
    text += fact("", end_text(second_letter(i), segment.to));
    text += fact("", contour_text(all, i));
  }
  return text;
}

std::string whole_map(const Explanation& all) {
  std::string text =
      fact("map", fmt::format("{} contours, {} points; contours are numbered from 0, in scikit-image's order",
                              all.found.count(), all.found.points.size()));
  if (all.map.type == ElementType::F64)
    text += fact("", "its samples are float64; a graph makes float32 of them before it looks at them");
  if (all.by_device)
    text += fact(
        "device",
        all.difference.empty()
            ? "finds the same contours as the CPU, bit for bit"
            : fmt::format("finds others than the CPU, which is a fault worth reporting: {}", all.difference));
  return text;
}

}  // namespace

std::string text_of(const Explanation& all) {
  const Cell& cell = all.cell;
  std::string text = head(all) + drawing_of(cell, all.segments, all.map.type) + "\n" + samples(all);
  text += cell.usable() ? case_of(cell) : skipped(cell);
  if (cell.usable() && is_saddle(cell.code)) text += saddle(all);
  return text + segment_text(all) + whole_map(all);
}

}  // namespace contorno::explain
