#include "plugins/files/contours/contour_collection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/error.h"
#include "pipeline/shared/printable.h"

namespace contorno {

void ContourCollection::end_contour(std::size_t frame, std::size_t class_index, bool closed) {
  contours_.push_back({.frame = frame,
                       .class_index = class_index,
                       .begin = closed_end_,
                       .end = points_.size(),
                       .attributes_begin = attributes_.size(),
                       .attributes_end = attributes_.size(),
                       .closed = closed});
  closed_end_ = points_.size();
}

void ContourCollection::finish(const std::string& path) {
  std::stable_sort(contours_.begin(), contours_.end(), [](const Contour& a, const Contour& b) {
    return std::tie(a.frame, a.class_index) < std::tie(b.frame, b.class_index);
  });
  auto begin = contours_.begin();
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto end =
        std::find_if(begin, contours_.end(), [i](const Contour& contour) { return contour.frame != i; });
    find_sides(frames[i], {begin, end}, path);
    begin = end;
  }
}

void ContourCollection::find_sides(Frame& frame, std::span<const Contour> contours,
                                   const std::string& path) const {
  float last_row = 0, last_col = 0;
  for (const Contour& contour : contours)
    for (std::size_t i = contour.begin; i < contour.end; ++i) {
      last_row = std::max(last_row, points_[i].row);
      last_col = std::max(last_col, points_[i].col);
    }
  const auto side = [&](std::optional<int> given, float last, const char* name) {
    if (given) return *given;
    if (last > static_cast<float>(kMaxSide - 1))
      throw Error(ExitCode::BadData,
                  fmt::format("{}: there is no '{}' of the map, and a point is at {}, allowed up to {}",
                              printable(path), name, last, kMaxSide - 1));
    return static_cast<int>(std::ceil(last)) + 1;
  };
  frame.width = side(frame.width, last_col, "width");
  frame.height = side(frame.height, last_row, "height");
}

bool ContourCollection::next(ContourFrame& frame) {
  if (next_frame_ == frames.size()) return false;
  const Frame& from = frames[next_frame_];
  ContourParts parts;
  for (std::size_t k = 0; k < classes.size(); ++k, parts.end_class()) {
    for (; next_contour_ < contours_.size(); ++next_contour_) {
      const Contour& contour = contours_[next_contour_];
      if (contour.frame != next_frame_ || contour.class_index != k) break;
      for (std::size_t i = contour.begin; i < contour.end; ++i) parts.add(points_[i]);
      parts.end_contour(contour.closed);
      for (std::size_t i = contour.attributes_begin; i < contour.attributes_end; ++i)
        parts.set(attributes_[i].first, attributes_[i].second);
    }
  }
  ++next_frame_;
  frame.info = from.info;
  frame.classes = classes;
  parts.pack(*from.width, *from.height, frame);
  return true;
}

}  // namespace contorno
