// The sinks that write contours to files: JSON lines, COCO, GeoJSON, SVG; and what they share. In files x
// points to the right and y down, and sample centres are at integers (COCO: pixel corners, as its tools
// expect).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pipeline/graph/sink.h"
#include "plugins/files/contours/measures.h"
#include "plugins/files/contours/placed_attributes.h"
#include "plugins/files/contours/text_buffer.h"

namespace contorno {

const SinkType& contour_jsonl_sink();
const SinkType& contour_coco_sink();
const SinkType& contour_geojson_sink();
const SinkType& contour_svg_sink();
/// The sink `jsonl` for one file that is made in one go: in coordinates of the map, and under its name only
/// when it is finished.
std::unique_ptr<Sink> make_whole_jsonl(const std::string& path);
/// The four types above, for the catalogue.
std::vector<const SinkType*> contour_sinks();

/// What coordinates are counted in.
enum class Coordinates : std::uint8_t {
  Frame,  ///< pixels of the source's frame (of its maps where it has no frames)
  Map,    ///< samples of the map that the contours were found on
};
/// The choices of the parameter `coordinates`.
std::vector<std::pair<std::string, Coordinates>> coordinate_words();

/// The help text of the flag `skip_hidden`.
inline constexpr const char* kSkipHiddenSentence = "Leaves hidden classes out (a background class).";

/// Appends a comma and the member "level" of a class, a number, or "levels", a list where it has several.
void write_levels(TextBuffer& text, const ClassSpec& spec);

/// Brings a frame's contours into the coordinates that are written. One per sink; keeps its memory.
class ContourPlacer {
 public:
  void open(const SinkContext& context, Coordinates coordinates);

  int width() const { return width_; }  ///< of the space of coordinates
  int height() const { return height_; }
  std::span<const ClassSpec> classes() const { return classes_; }

  /// The points of contour `index`, rounded to float32 after placing; untouched where the map lies one to one
  /// on the frame. Valid until the next call.
  std::span<const Point> points(const ContoursView& view, std::uint32_t index);
  /// The attributes of contour `index` in these coordinates. The points given before are no longer valid.
  AttributeValues attributes(const ContoursView& view, std::uint32_t index);

 private:
  int width_ = 0, height_ = 0;
  Placement placement_;
  bool identity_ = true;
  std::vector<ClassSpec> classes_;
  std::vector<Point> placed_;
};

/// Appends a comma and the member "attributes" of a JSON object: the attributes of contour `index` by their
/// names, in the coordinates of `placer`, null where one is NaN. Appends nothing when the contours have no
/// attributes. The points that `placer` gave before are no longer valid.
void write_attributes(TextBuffer& text, const ContoursView& view, std::uint32_t index, ContourPlacer& placer);

}  // namespace contorno
