#include "plugins/files/contours/contour_frame.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/error.h"
#include "pipeline/value/copy_contours.h"

namespace contorno {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void ContourParts::end_contour(bool closed) {
  if (points_.size() > std::numeric_limits<std::uint32_t>::max())
    throw Error(ExitCode::BadData, "there are more than 2^32 points in a frame");
  closed_.push_back(closed ? 1 : 0);
  offsets_.push_back(static_cast<std::uint32_t>(points_.size()));
}

void ContourParts::set(Attribute attribute, double value) {
  std::vector<double>& column = columns_[attribute];
  column.resize(closed_.size(), kNone);
  column.back() = value;
}

void ContourParts::pack(int width, int height, ContourFrame& frame) {
  constexpr std::uint64_t kFewest = 1024;
  ContoursFormat format{.width = width,
                        .height = height,
                        .classes = static_cast<int>(class_begin_.size() - 1),
                        .point_capacity = std::bit_ceil(std::max<std::uint64_t>(points_.size(), kFewest)),
                        .contour_capacity = std::bit_ceil(std::max<std::uint64_t>(closed_.size(), kFewest)),
                        .placement = {},
                        .attributes = {}};
  ContoursFormat plain = format;
  for (const auto& [attribute, column] : columns_)
    format.attributes = format.attributes.with(Attributes(attribute));
  frame.allot(format);
  ContourCounts counts{.points = points_.size(), .contours = closed_.size()};
  copy_contours({.format = plain,
                 .counts = &counts,
                 .points = points_.data(),
                 .offsets = offsets_.data(),
                 .closed = closed_.data(),
                 .class_begin = class_begin_.data()},
                frame.view);
  for (const auto& [attribute, column] : columns_) {
    double* const to = frame.view.column(attribute);
    std::fill_n(to, closed_.size(), kNone);
    std::copy(column.begin(), column.end(), to);
  }
}

}  // namespace contorno
