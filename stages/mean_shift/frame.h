// The coordinates in which mean shift of points is computed: their origin and unit. Internal.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace contorno {

/// Converts between the points' units and those of the tree: u = (x - centre) / unit. The unit is the largest
/// power of two that is not above sigma, and the centre the mean of the points, rounded to a multiple of the
/// unit; so whole numbers stay multiples of a power of two, and comparisons of distances do not change.
struct MeanShiftFrame {
  std::vector<double> centre;
  double unit = 1;

  MeanShiftFrame() = default;
  MeanShiftFrame(std::span<const double> points, std::size_t dims, double sigma) : centre(dims, 0.0) {
    unit = std::exp2(std::floor(std::log2(sigma)));
    const std::size_t count = points.size() / dims;
    for (std::size_t k = 0; k < dims; ++k) {
      double sum = 0;
      for (std::size_t i = 0; i < count; ++i) sum += points[i * dims + k] / static_cast<double>(count);
      centre[k] = std::round(sum / unit) * unit;
    }
  }
  double to_tree(double value, std::size_t k) const { return (value - centre[k]) / unit; }
  double from_tree(double value, std::size_t k) const { return centre[k] + value * unit; }
};

}  // namespace contorno
