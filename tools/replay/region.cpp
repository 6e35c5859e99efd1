#include "tools/replay/region.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace contorno {
namespace {

struct Corner {
  double x = 0, y = 0;
};

/// Takes points of a map to the pixels of an image that covers the same. Points on the border of the map go
/// to the border of the image: the samples there belong to what lies around them.
class ToPixels {
 public:
  ToPixels(const ContoursFormat& map, int width, int height)
      : map_(map),
        scale_x_(static_cast<double>(width) / map.width),
        scale_y_(static_cast<double>(height) / map.height) {}

  Corner operator()(const Point& point) const {
    return {(outermost(point.col, map_.width) + 0.5) * scale_x_ - 0.5,
            (outermost(point.row, map_.height) + 0.5) * scale_y_ - 0.5};
  }

 private:
  static double outermost(float at, int side) {
    return at <= 0 ? -0.5 : at >= static_cast<float>(side - 1) ? side - 0.5 : at;
  }

  const ContoursFormat& map_;
  double scale_x_, scale_y_;
};

/// How often closed lines wind around the pixels of an image: +1 for one that runs clockwise on screen.
class Windings {
 public:
  Windings(int width, int height)
      : width_(width), height_(height), counts_(static_cast<std::size_t>(width + 1) * height) {}

  /// A line that goes up has what it winds around on its right. A row belongs to the lines that begin at or
  /// above it and end below it, so that none is counted twice.
  void add_line(const Corner& from, const Corner& to) {
    if (!std::isfinite(from.x + from.y + to.x + to.y) || from.y == to.y) return;
    const bool goes_up = to.y < from.y;
    const Corner &upper = goes_up ? to : from, &lower = goes_up ? from : to;
    const int first = static_cast<int>(std::max(std::ceil(upper.y), 0.0)),
              last = static_cast<int>(std::min(std::ceil(lower.y), static_cast<double>(height_)));
    for (int y = first; y < last; ++y) {
      const double x = upper.x + (y - upper.y) * (lower.x - upper.x) / (lower.y - upper.y);
      const auto pixel = static_cast<std::size_t>(std::clamp(std::ceil(x), 0.0, static_cast<double>(width_)));
      counts_[static_cast<std::size_t>(y) * row() + pixel] += goes_up ? 1 : -1;
    }
  }

  PixelRegion region(Orientation orientation) {
    const int sign = orientation == Orientation::Low ? 1 : -1;
    int outside = 0;
    for (int y = 0; y < height_; ++y) {
      int* const counts = counts_.data() + static_cast<std::size_t>(y) * row();
      for (int x = 0, sum = 0; x < width_; ++x) {
        sum += sign * counts[x];
        counts[x] = sum;
        outside = std::min(outside, sum);
      }
    }
    PixelRegion region{width_, height_, {}};
    region.in.resize(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_));
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x)
        region.in[region.index(x, y)] =
            counts_[static_cast<std::size_t>(y) * row() + static_cast<std::size_t>(x)] > outside ? 1 : 0;
    return region;
  }

 private:
  std::size_t row() const { return static_cast<std::size_t>(width_) + 1; }

  int width_, height_;
  std::vector<int> counts_;
};

/// The distance of each pixel to the nearest one of its column; more than the sides where there is none.
std::vector<std::int64_t> column_distances(const PixelRegion& region) {
  const std::int64_t none = std::int64_t{region.width} + region.height;
  std::vector<std::int64_t> distances(region.in.size(), none);
  for (int x = 0; x < region.width; ++x) {
    std::int64_t distance = none;
    for (int y = 0; y < region.height; ++y) {
      const std::size_t at = region.index(x, y);
      distance = region.in[at] != 0 ? 0 : std::min(distance + 1, none);
      distances[at] = distance;
    }
    for (int y = region.height - 2; y >= 0; --y) {
      const std::size_t at = region.index(x, y);
      distances[at] = std::min(distances[at], distances[region.index(x, y + 1)] + 1);
    }
  }
  return distances;
}

std::int64_t floored_quotient(std::int64_t a, std::int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

/// Replaces the distances within columns of one row by squared distances: the lower envelope of a parabola a
/// pixel, each of which is the lowest one from `start` on.
class RowEnvelope {
 public:
  explicit RowEnvelope(int width) : apexes_(static_cast<std::size_t>(width)), starts_(apexes_.size()) {}

  void replace(std::int64_t* row) {
    squares_.assign(row, row + apexes_.size());
    for (std::int64_t& value : squares_) value *= value;
    const auto height = [&](std::int64_t x, std::int64_t apex) {
      return (x - apex) * (x - apex) + squares_[static_cast<std::size_t>(apex)];
    };
    const auto width = static_cast<std::int64_t>(apexes_.size());
    std::size_t top = 0;
    apexes_[0] = starts_[0] = 0;
    for (std::int64_t x = 1; x < width; ++x) {
      bool any = true;
      while (height(starts_[top], apexes_[top]) > height(starts_[top], x)) {
        any = top > 0;
        if (!any) break;
        --top;
      }
      if (!any) {
        apexes_[0] = x;
        continue;
      }
      const std::int64_t apex = apexes_[top];
      const std::int64_t start =
          1 + floored_quotient(x * x - apex * apex + squares_[static_cast<std::size_t>(x)] -
                                   squares_[static_cast<std::size_t>(apex)],
                               2 * (x - apex));
      if (start < width) ++top, apexes_[top] = x, starts_[top] = start;
    }
    for (std::int64_t x = width - 1; x >= 0; --x) {
      row[x] = height(x, apexes_[top]);
      if (x == starts_[top] && top > 0) --top;
    }
  }

 private:
  std::vector<std::int64_t> apexes_, starts_, squares_;
};

}  // namespace

PixelRegion region_of_class(const ContoursView& contours, std::size_t k, Orientation orientation, int width,
                            int height) {
  const ToPixels to_pixels(contours.format, width, height);
  const double* const levels = contours.column(Attribute::Level);
  const std::uint32_t first = contours.class_begin[k], last = contours.class_begin[k + 1];
  double lowest = std::numeric_limits<double>::infinity();
  for (std::uint32_t i = first; levels != nullptr && i < last; ++i) lowest = std::min(lowest, levels[i]);
  Windings windings(width, height);
  for (std::uint32_t i = first; i < last; ++i) {
    if (contours.closed[i] == 0 || (levels != nullptr && levels[i] != lowest)) continue;
    const std::span<const Point> points = contours.contour(i);
    for (std::size_t j = 1; j < points.size(); ++j)
      windings.add_line(to_pixels(points[j - 1]), to_pixels(points[j]));
  }
  return windings.region(orientation);
}

PixelRegion edge_of(const PixelRegion& region) {
  PixelRegion edge{region.width, region.height, std::vector<std::uint8_t>(region.in.size())};
  const auto is_in = [&](int x, int y) {
    return x >= 0 && y >= 0 && x < region.width && y < region.height && region.in[region.index(x, y)] != 0;
  };
  for (int y = 0; y < region.height; ++y)
    for (int x = 0; x < region.width; ++x)
      if (is_in(x, y) && !(is_in(x - 1, y) && is_in(x + 1, y) && is_in(x, y - 1) && is_in(x, y + 1)))
        edge.in[edge.index(x, y)] = 1;
  return edge;
}

std::vector<std::int64_t> squared_distances(const PixelRegion& region) {
  std::vector<std::int64_t> distances = column_distances(region);
  RowEnvelope envelope(region.width);
  for (int y = 0; y < region.height; ++y) envelope.replace(distances.data() + region.index(0, y));
  return distances;
}

}  // namespace contorno
