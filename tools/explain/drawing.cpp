#include "tools/explain/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace contorno::explain {
namespace {

// A character is about twice as high as it is wide.
constexpr int kWidth = 33, kHeight = 15;

char mark_of(SampleState state) {
  switch (state) {
    case SampleState::Low:
      return '.';
    case SampleState::High:
      return '#';
    case SampleState::Nan:
      return '?';
    case SampleState::Masked:
      return 'x';
  }
  throw InternalError("unknown state of a sample");
}

struct Spot {
  int x = 0, y = 0;
};

/// 0 to 1 of a side as a character; a crossing that falls on no sample leaves the corners free.
int along(double share, int size, NodeKind node) {
  const auto at = static_cast<int>(std::lround(share * (size - 1)));
  return node == NodeKind::Sample ? at : std::clamp(at, 1, size - 2);
}

class Canvas {
 public:
  explicit Canvas(const Cell& cell) : cell_(cell) {
    for (int x = 0; x < kWidth; ++x) at({x, 0}) = at({x, kHeight - 1}) = '-';
    for (int y = 0; y < kHeight; ++y) at({0, y}) = at({kWidth - 1, y}) = '|';
    for (int i = 0; i < 4; ++i)
      at({i % 2 * (kWidth - 1), i / 2 * (kHeight - 1)}) =
          mark_of(cell.samples[static_cast<std::size_t>(i)].state);
  }

  void draw(const Segment& segment, char from, char to) {
    const Spot a = spot_of(segment.from), b = spot_of(segment.to);
    const int steps = std::max(std::abs(b.x - a.x), std::abs(b.y - a.y));
    for (int i = 1; i < steps; ++i) {
      const double share = static_cast<double>(i) / steps;
      const Spot between{static_cast<int>(std::lround(a.x + share * (b.x - a.x))),
                         static_cast<int>(std::lround(a.y + share * (b.y - a.y)))};
      if (at(between) == ' ') at(between) = '*';
    }
    at(a) = from, at(b) = to;
  }

  const std::string& line(int y) const { return lines_[static_cast<std::size_t>(y)]; }

 private:
  char& at(Spot spot) { return lines_[static_cast<std::size_t>(spot.y)][static_cast<std::size_t>(spot.x)]; }
  Spot spot_of(const SegmentEnd& end) const {
    return {is_across(end.side) ? along(end.point.col - cell_.col, kWidth, end.node)
                                : (end.side == kRight ? kWidth - 1 : 0),
            is_across(end.side) ? (end.side == kBottom ? kHeight - 1 : 0)
                                : along(end.point.row - cell_.row, kHeight, end.node)};
  }

  const Cell& cell_;
  std::vector<std::string> lines_ = std::vector<std::string>(kHeight, std::string(kWidth, ' '));
};

}  // namespace

std::string stored_text(double stored, ElementType type) {
  switch (type) {
    case ElementType::F16:
    case ElementType::F32:
      return fmt::format("{}", static_cast<float>(stored));
    case ElementType::U8:
    case ElementType::U16:
    case ElementType::F64:
      break;
  }
  return fmt::format("{}", stored);
}

char first_letter(std::size_t segment) {
  return segment == 0 ? 'A' : 'C';
}
char second_letter(std::size_t segment) {
  return segment == 0 ? 'B' : 'D';
}

std::string drawing_of(const Cell& cell, const std::vector<Segment>& segments, ElementType type) {
  Canvas canvas(cell);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Segment& segment = segments[i];
    if (segment.exists() && segment.from.node != NodeKind::None && segment.to.node != NodeKind::None)
      canvas.draw(segment, first_letter(i), second_letter(i));
  }
  const auto text = [&](std::size_t i) { return stored_text(cell.samples[i].stored, type); };
  const std::size_t digits = std::to_string(cell.row + 1).size();
  const std::size_t values = std::max(text(0).size(), text(2).size());
  const std::string margin(digits + values + 8, ' ');
  const std::string left = std::to_string(cell.col), right = std::to_string(cell.col + 1);
  std::string drawing = fmt::format("{}column {}{:>{}}\n", margin.substr(7), left, right,
                                    static_cast<std::size_t>(kWidth) - left.size());
  for (int y = 0; y < kHeight; ++y) {
    if (y == 0 || y == kHeight - 1) {
      const std::size_t first = y == 0 ? 0 : 2;
      drawing += fmt::format("row {:>{}}  {:>{}}  {}  {}\n", cell.samples[first].row, digits, text(first),
                             values, canvas.line(y), text(first + 1));
    } else {
      drawing += margin + canvas.line(y) + "\n";
    }
  }
  return drawing;
}

}  // namespace contorno::explain
