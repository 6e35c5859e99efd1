// A naive, serial contour finder written from the rules alone (specs of find_contours), to judge the engines:
// dictionaries of nodes, float64, one plane at a time. Nothing in it is shared with what it judges.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace contorno::reference {

struct Contour {
  std::vector<std::pair<double, double>> points;  ///< (row, col)
  bool closed = false;
};

struct Field {
  int height = 0, width = 0;
  std::vector<double> values;  ///< NaN also for masked samples
  double at(int row, int col) const {
    return values[static_cast<std::size_t>(row) * static_cast<std::size_t>(width) +
                  static_cast<std::size_t>(col)];
  }
};

inline std::vector<Contour> find_contours(const Field& field, double level, bool connect_high, bool reverse) {
  using Pt = std::pair<double, double>;
  struct Segment {
    Pt from, to;
    // Nodes: {0, row, col} a sample, {1, row, col} the edge to the right of a sample, {2, ..} the one below,
    // {-1, ..} none.
    std::array<int, 3> from_node, to_node;
  };
  std::vector<Segment> segments;
  const auto frac = [level](double a, double b) { return a == b ? 0.0 : (level - a) / (b - a); };
  for (int r = 0; r + 1 < field.height; ++r)
    for (int c = 0; c + 1 < field.width; ++c) {
      const double ul = field.at(r, c);
      const double ur = field.at(r, c + 1);
      const double ll = field.at(r + 1, c);
      const double lr = field.at(r + 1, c + 1);
      if (std::isnan(ul) || std::isnan(ur) || std::isnan(ll) || std::isnan(lr)) continue;
      const int code = (ul > level) + 2 * (ur > level) + 4 * (ll > level) + 8 * (lr > level);
      struct End {
        Pt point;
        std::array<int, 3> node;
      };
      const auto across = [&](int row, double a, double b) {
        const double x = c + frac(a, b);
        End end{{static_cast<double>(row), x}, {1, row, c}};
        if (std::isnan(x)) end.node = {-1, 0, 0};
        if (x == std::rint(x)) end.node = {0, row, static_cast<int>(x)};
        return end;
      };
      const auto down = [&](int col, double a, double b) {
        const double y = r + frac(a, b);
        End end{{y, static_cast<double>(col)}, {2, r, col}};
        if (std::isnan(y)) end.node = {-1, 0, 0};
        if (y == std::rint(y)) end.node = {0, static_cast<int>(y), col};
        return end;
      };
      const auto top = [&] { return across(r, ul, ur); };
      const auto bottom = [&] { return across(r + 1, ll, lr); };
      const auto left = [&] { return down(c, ul, ll); };
      const auto right = [&] { return down(c + 1, ur, lr); };
      const auto add = [&](const End& from, const End& to) {
        if (from.point == to.point) return;
        segments.push_back({from.point, to.point, from.node, to.node});
      };
      switch (code) {
        case 1:
          add(top(), left());
          break;
        case 2:
          add(right(), top());
          break;
        case 3:
          add(right(), left());
          break;
        case 4:
          add(left(), bottom());
          break;
        case 5:
          add(top(), bottom());
          break;
        case 6:
          if (connect_high) {
            add(left(), top());
            add(right(), bottom());
          } else {
            add(right(), top());
            add(left(), bottom());
          }
          break;
        case 7:
          add(right(), bottom());
          break;
        case 8:
          add(bottom(), right());
          break;
        case 9:
          if (connect_high) {
            add(top(), right());
            add(bottom(), left());
          } else {
            add(top(), left());
            add(bottom(), right());
          }
          break;
        case 10:
          add(bottom(), top());
          break;
        case 11:
          add(bottom(), left());
          break;
        case 12:
          add(left(), right());
          break;
        case 13:
          add(top(), right());
          break;
        case 14:
          add(left(), top());
          break;
        default:
          break;
      }
    }
  // Visiting all ends in raster order, every node links a waiting end and a waiting start.
  struct Registers {
    int start = -1, end = -1;
  };
  std::map<std::array<int, 3>, Registers> nodes;
  std::vector<int> next(segments.size(), -1);
  std::vector<int> previous(segments.size(), -1);
  const auto link = [&](int a, int b) {
    next[static_cast<std::size_t>(a)] = b;
    previous[static_cast<std::size_t>(b)] = a;
  };
  for (int i = 0; i < static_cast<int>(segments.size()); ++i) {
    const Segment& s = segments[static_cast<std::size_t>(i)];
    if (s.to_node[0] >= 0) {
      Registers& node = nodes[s.to_node];
      if (node.start >= 0) {
        link(i, node.start);
        node.start = -1;
      } else {
        node.end = i;
      }
    }
    if (s.from_node[0] >= 0) {
      Registers& node = nodes[s.from_node];
      if (node.end >= 0) {
        link(node.end, i);
        node.end = -1;
      } else {
        node.start = i;
      }
    }
  }
  std::vector<Contour> contours;
  std::vector<bool> seen(segments.size(), false);
  for (int i = 0; i < static_cast<int>(segments.size()); ++i) {
    if (seen[static_cast<std::size_t>(i)]) continue;
    int first = i;
    int largest = i;
    bool closed = false;
    while (previous[static_cast<std::size_t>(first)] >= 0) {
      first = previous[static_cast<std::size_t>(first)];
      largest = std::max(largest, first);
      if (first == i) {
        closed = true;
        break;
      }
    }
    Contour contour;
    contour.closed = closed;
    if (closed) first = next[static_cast<std::size_t>(largest)];
    contour.points.push_back(closed ? segments[static_cast<std::size_t>(largest)].to
                                    : segments[static_cast<std::size_t>(first)].from);
    for (int s = first; s >= 0 && !seen[static_cast<std::size_t>(s)]; s = next[static_cast<std::size_t>(s)]) {
      seen[static_cast<std::size_t>(s)] = true;
      contour.points.push_back(segments[static_cast<std::size_t>(s)].to);
    }
    if (reverse) std::reverse(contour.points.begin(), contour.points.end());
    contours.push_back(std::move(contour));
  }
  return contours;
}

}  // namespace contorno::reference
