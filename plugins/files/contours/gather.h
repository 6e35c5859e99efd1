// Gather the contours of COCO and GeoJSON files, element by element, as other programs write them and as the
// sinks `coco` and `geojson` do. Rings around regions come out with positive area and holes with negative
// area, as contours around high regions have it, whichever way round the file has them; what already runs so
// keeps its points and its first one. A region's attributes go to its outer rings. All throw Error(BadData)
// with file:line:column of the element.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "plugins/files/contours/contour_collection.h"
#include "plugins/files/contours/json_elements.h"

namespace contorno {

/// Whether a ring runs around a region or a hole in one.
enum class RingKind : bool { Outer, Hole };

/// Turns the points of a closed ring round where its area has the wrong sign.
void direct_ring(std::span<Point> ring, RingKind kind);

/// Frames are the elements of "images", classes those of "categories", in the order of the file. Holes that
/// are cut in as the sink does it are contours again. Half a pixel is taken from the coordinates.
class CocoGatherer {
 public:
  explicit CocoGatherer(ContourCollection& to) : to_(to) {}
  void take(const JsonElement& element);
  /// When all are there: finds images and categories of the annotations.
  void finish();

 private:
  using Ids = std::map<std::int64_t, std::size_t>;
  struct Annotation {
    JsonPlace place;
    std::string path;
    std::int64_t image, category;
  };
  void take_image(const JsonMembers& members, const JsonElement& element);
  void take_category(const JsonMembers& members, const JsonElement& element);
  void take_annotation(const JsonMembers& members, const JsonElement& element);
  void take_polygon(const JsonMembers& members, const nlohmann::json& polygon, const std::string& path);

  ContourCollection& to_;
  Ids images_, categories_;
  std::vector<Annotation> annotations_;
  // Attributes of the annotation, and points of the polygon, that are being read.
  std::vector<std::pair<Attribute, double>> attributes_;
  std::vector<Point> ring_;
};

/// Frames are what features have as "frame" among their properties, or all one; classes their "class" and
/// "level". Both are numbered as they come first in the file.
class GeojsonGatherer {
 public:
  explicit GeojsonGatherer(ContourCollection& to) : to_(to) {}
  void take(const JsonElement& element);

 private:
  /// The feature that is being read.
  struct Feature {
    const JsonMembers& members;
    const std::string path;
    std::size_t frame, class_index;
    std::vector<std::pair<Attribute, double>> attributes;
  };
  std::size_t frame_of(const JsonMembers& members, const nlohmann::json& properties, const std::string& path);
  std::size_t class_of(const JsonMembers& members, const nlohmann::json& properties, const std::string& path);
  void take_positions(const Feature& feature, const nlohmann::json& positions);
  void take_polygon(const Feature& feature, const nlohmann::json& rings);
  void end_contour(const Feature& feature, RingKind kind, bool closed);

  ContourCollection& to_;
  std::map<std::uint64_t, std::size_t> frames_;
  std::map<std::pair<std::string, double>, std::size_t> classes_;
};

}  // namespace contorno
