// Contours that were read from a file, frame by frame, and how they get there one by one.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "geometry/contour_table.h"
#include "pipeline/graph/source.h"
#include "pipeline/value/classes.h"
#include "pipeline/value/contours.h"

namespace contorno {

/// One frame of a file: the contours, and what it says of the frame and its classes (name and level). Points
/// have the coordinates of the map; closed contours repeat their first point.
struct ContourFrame : ContourTable {
  FrameInfo info;
  std::vector<ClassSpec> classes;
};

/// Collects the contours of a frame while it is not known how many there are. Contours come class by class.
class ContourParts {
 public:
  void add(Point point) { points_.push_back(point); }
  /// The points since the last contour.
  std::span<const Point> open_points() const {
    return std::span<const Point>(points_).subspan(offsets_.back());
  }
  /// Makes a contour of the points since the last one. Throws Error(BadData) for more than 2^32 points.
  void end_contour(bool closed);
  /// Sets an attribute of the last contour; those without it have NaN.
  void set(Attribute attribute, double value);
  void end_class() { class_begin_.push_back(static_cast<std::uint32_t>(closed_.size())); }

  /// Puts them into the packed arrays of `frame`, for as many classes as were ended. The capacities of the
  /// format are powers of two, so that frames of about the same size have the same format.
  void pack(int width, int height, ContourFrame& frame);

 private:
  std::vector<Point> points_;
  std::vector<std::uint32_t> offsets_{0}, class_begin_{0};
  std::vector<std::uint8_t> closed_;
  /// For each attribute that some contour has, its value of every contour so far.
  std::map<Attribute, std::vector<double>> columns_;
};

/// Gives the frames of a file in their order.
class ContourReader {
 public:
  ContourReader() = default;
  ContourReader(const ContourReader&) = delete;
  ContourReader& operator=(const ContourReader&) = delete;
  virtual ~ContourReader() = default;

  /// Reads the next frame. False at the end. Throws Error(BadData) with file:line, and with the column where
  /// it is known.
  virtual bool next(ContourFrame& frame) = 0;
};

}  // namespace contorno
