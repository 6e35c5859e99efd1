// How the bins of exclude's region are laid and filled, once, when the stage is made.
#include "stages/contour_prep/exclude/stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace contorno {
namespace {

Point point_at(const std::vector<double>& numbers, std::size_t at) {
  return {static_cast<float>(numbers[at + 1]), static_cast<float>(numbers[at])};
}

void check_count(const char* name, std::size_t count, std::size_t each, const char* what) {
  if (count % each != 0)
    throw Error(ExitCode::BadConfig, fmt::format("{} has {} numbers, allowed {}", name, count, what));
}

std::vector<Stroke> strokes_of(const ExcludeParams& params) {
  check_points(params);
  check_strokes(params);
  std::vector<Stroke> strokes;
  for (std::size_t i = 0; i < params.points.size(); i += 2)
    strokes.push_back({point_at(params.points, i), point_at(params.points, i)});
  for (std::size_t i = 0; i < params.strokes.size(); i += 4)
    strokes.push_back({point_at(params.strokes, i), point_at(params.strokes, i + 2)});
  return strokes;
}

double length_of(const Stroke& stroke) {
  return std::hypot(static_cast<double>(stroke.b.row) - static_cast<double>(stroke.a.row),
                    static_cast<double>(stroke.b.col) - static_cast<double>(stroke.a.col));
}

/// The coordinates from one number to the other.
struct Range {
  double low, high;
};
Range range_of(float a, float b) {
  return {static_cast<double>(std::min(a, b)), static_cast<double>(std::max(a, b))};
}

/// The columns of the part of a stroke whose rows are in `rows`; low > high where there is none.
Range cols_in(const Stroke& stroke, const Range& rows) {
  const double a_row = static_cast<double>(stroke.a.row), a_col = static_cast<double>(stroke.a.col);
  const double steps = static_cast<double>(stroke.b.row) - a_row,
               cols = static_cast<double>(stroke.b.col) - a_col;
  Range part{0, 1};
  if (steps != 0) {
    part = {(rows.low - a_row) / steps, (rows.high - a_row) / steps};
    if (part.low > part.high) std::swap(part.low, part.high);
    part = {std::max(part.low, 0.0), std::min(part.high, 1.0)};
    if (part.low > part.high) return {1, 0};
  }
  const double one = a_col + part.low * cols, other = a_col + part.high * cols;
  return {std::min(one, other), std::max(one, other)};
}

}  // namespace

void check_points(const ExcludeParams& params) {
  check_count("points", params.points.size(), 2, "pairs x, y");
}
void check_strokes(const ExcludeParams& params) {
  check_count("strokes", params.strokes.size(), 4, "four a stroke: x0, y0, x1, y1");
}

Region::Region(const ExcludeParams& params) : radius_(params.radius) {
  shape_.under.radius_square = radius_ * radius_;
  const std::vector<Stroke> strokes = strokes_of(params);
  lay_grid(strokes);
  // First how many strokes each bin lists, then where its list begins, then the lists.
  begins_.assign(static_cast<std::size_t>(shape_.rows) * static_cast<std::size_t>(shape_.cols) + 1, 0);
  for (const Stroke& stroke : strokes) visit_bins(stroke, [&](std::size_t bin) { ++begins_[bin + 1]; });
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  lists_.resize(begins_.back());
  std::vector<std::uint32_t> next = begins_;
  for (const Stroke& stroke : strokes)
    visit_bins(stroke, [&](std::size_t bin) { lists_[next[bin]++] = stroke; });
  if (params.mask == nullptr) return;
  shape_.mask_width = params.mask->width, shape_.mask_height = params.mask->height;
  for (const double value : params.mask->values) mask_.push_back(value != 0 ? 1 : 0);
}

RegionView Region::view() const {
  RegionView view = shape_;
  view.begins = begins_.data(), view.lists = lists_.data(), view.mask = mask_.data();
  return view;
}

/// What is added to the radius and the sides of a stroke because numbers are rounded.
double Region::padding(const Stroke& stroke) const {
  return radius_ + 0x1p-30 * (radius_ + length_of(stroke));
}

/// About as many bins as strokes, none smaller than the radius, and large enough that long strokes do not
/// come into too many.
void Region::lay_grid(const std::vector<Stroke>& strokes) {
  constexpr double kMostPassed = 1 << 22;  // bins that all strokes pass along their lengths
  if (strokes.empty()) return;
  Range rows{1e300, -1e300}, cols{1e300, -1e300};
  const auto extend = [](Range& all, const Range& one, double by) {
    all = {std::min(all.low, one.low - by), std::max(all.high, one.high + by)};
  };
  double lengths = 0;
  for (const Stroke& stroke : strokes) {
    extend(rows, range_of(stroke.a.row, stroke.b.row), padding(stroke));
    extend(cols, range_of(stroke.a.col, stroke.b.col), padding(stroke));
    lengths += length_of(stroke);
  }
  const double height = rows.high - rows.low, width = cols.high - cols.low;
  const auto count = static_cast<double>(strokes.size());
  double side =
      std::max({radius_, std::sqrt(height / count * width), (height + width) / count, lengths / kMostPassed});
  if (side == 0) side = 1;
  shape_.first_row = rows.low, shape_.first_col = cols.low, shape_.bins_a_px = 1 / side;
  shape_.rows = static_cast<int>(height * shape_.bins_a_px) + 1;
  shape_.cols = static_cast<int>(width * shape_.bins_a_px) + 1;
}

int Region::bin_at(double coordinate, double first, int count) const {
  return static_cast<int>(std::clamp((coordinate - first) * shape_.bins_a_px, 0.0, count - 1.0));
}

/// Calls visit(bin) for each bin that a stroke comes into, and perhaps for some beside it.
template <class Visit>
void Region::visit_bins(const Stroke& stroke, const Visit& visit) const {
  const double side = 1 / shape_.bins_a_px, pad = padding(stroke);
  const Range rows = range_of(stroke.a.row, stroke.b.row);
  const int last = bin_at(rows.high + pad, shape_.first_row, shape_.rows);
  for (int row = bin_at(rows.low - pad, shape_.first_row, shape_.rows); row <= last; ++row) {
    // A hundredth of a bin more on both sides, for what rounding moves across the side of a bin.
    const double top = shape_.first_row + (row - 0.01) * side;
    const Range cols = cols_in(stroke, {top - pad, top + 1.02 * side + pad});
    if (cols.low > cols.high) continue;
    const int last_col = bin_at(cols.high + pad + 0.01 * side, shape_.first_col, shape_.cols);
    for (int col = bin_at(cols.low - pad - 0.01 * side, shape_.first_col, shape_.cols); col <= last_col;
         ++col)
      visit(static_cast<std::size_t>(row) * static_cast<std::size_t>(shape_.cols) +
            static_cast<std::size_t>(col));
  }
}

}  // namespace contorno
