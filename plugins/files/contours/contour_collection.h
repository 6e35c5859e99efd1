// The contours of a file that has them in any order: gathered one by one, given frame by frame.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "plugins/files/contours/contour_frame.h"

namespace contorno {

/// Holds 8 bytes for each point, 16 for each attribute of a contour, and about 60 for each contour. Those of
/// a frame's class keep their order.
class ContourCollection final : public ContourReader {
 public:
  /// What is known of a frame; without sides its map is the smallest one from (0, 0)
  /// that has all points whose coordinates are not negative.
  struct Frame {
    FrameInfo info;
    std::optional<int> width, height;
  };

  /// Filled by who reads the file: `frame` and `class_index` below are places in them.
  std::vector<ClassSpec> classes;
  std::vector<Frame> frames;

  void add(Point point) { points_.push_back(point); }
  /// The points since the last contour, to be turned round for example.
  std::span<Point> open_points() { return std::span(points_).subspan(closed_end_); }
  /// Makes a contour of the points since the last one. The two numbers may be any until place_contours();
  /// when finish() is called they are places in `frames` and `classes`.
  void end_contour(std::size_t frame, std::size_t class_index, bool closed);
  /// Sets an attribute of the last contour. Contours without it have NaN where another of their frame has it.
  void set(Attribute attribute, double value) {
    attributes_.emplace_back(attribute, value);
    contours_.back().attributes_end = attributes_.size();
  }

  /// For each contour: `place(frame, class_index)` may replace the numbers that it was added with.
  template <class Place>
  void place_contours(Place place) {
    for (Contour& contour : contours_) place(contour.frame, contour.class_index);
  }
  /// Called when all are there. Throws Error(BadData) where a frame has no sides and points beyond the
  /// largest map.
  void finish(const std::string& path);

  bool next(ContourFrame& frame) override;

 private:
  struct Contour {
    std::size_t frame, class_index;
    std::size_t begin, end;  ///< of its points
    std::size_t attributes_begin, attributes_end;
    bool closed;
  };
  void find_sides(Frame& frame, std::span<const Contour> contours, const std::string& path) const;

  std::vector<Point> points_;
  std::vector<Contour> contours_;
  std::vector<std::pair<Attribute, double>> attributes_;
  std::size_t closed_end_ = 0, next_frame_ = 0, next_contour_ = 0;
};

}  // namespace contorno
