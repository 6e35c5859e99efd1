#include "plugins/files/contours/writer.h"

#include "base/error.h"

namespace contorno {

std::vector<const SinkType*> contour_sinks() {
  return {&contour_jsonl_sink(), &contour_coco_sink(), &contour_geojson_sink(), &contour_svg_sink()};
}

std::vector<std::pair<std::string, Coordinates>> coordinate_words() {
  return {{"frame", Coordinates::Frame}, {"map", Coordinates::Map}};
}

void write_levels(TextBuffer& text, const ClassSpec& spec) {
  if (spec.levels.empty()) {
    text << R"(,"level":)" << spec.level;
    return;
  }
  text << R"(,"levels":[)";
  for (const double level : spec.levels) text << level << ',';
  text.drop_last();
  text << ']';
}

void ContourPlacer::open(const SinkContext& context, Coordinates coordinates) {
  const auto* format = std::get_if<ContoursFormat>(&context.format);
  if (format == nullptr) throw InternalError("a contour writer was given something else than contours");
  classes_.assign(context.classes.begin(), context.classes.end());
  // Names and levels are looked up by the class's number; a graph with fewer of them is no reason to crash.
  for (auto i = classes_.size(); i < static_cast<std::size_t>(format->classes); ++i)
    classes_.push_back({.name = "class " + std::to_string(i)});
  width_ = format->width;
  height_ = format->height;
  placement_ = {};
  if (coordinates == Coordinates::Frame) {
    const auto& space = context.stream.frame ? context.stream.frame : context.stream.maps;
    placement_ = format->placement;
    if (space) {
      width_ = space->width;
      height_ = space->height;
    }
  }
  identity_ = placement_ == Placement{};
}

std::span<const Point> ContourPlacer::points(const ContoursView& view, std::uint32_t index) {
  const std::span<const Point> points = view.contour(index);
  if (identity_) return points;
  placed_.resize(points.size());
  for (std::size_t i = 0; i < points.size(); ++i)
    placed_[i] = {.row = static_cast<float>(placement_.frame_y(points[i].row)),
                  .col = static_cast<float>(placement_.frame_x(points[i].col))};
  return placed_;
}

AttributeValues ContourPlacer::attributes(const ContoursView& view, std::uint32_t index) {
  return placed_attributes(view, index, placement_, points(view, index));
}

void write_attributes(TextBuffer& text, const ContoursView& view, std::uint32_t index,
                      ContourPlacer& placer) {
  if (view.format.attributes.empty()) return;
  const AttributeValues values = placer.attributes(view, index);
  text << R"(,"attributes":{)";
  view.format.attributes.for_each([&](Attribute attribute) {
    text << '"' << name_of(attribute) << R"(":)" << values[static_cast<std::size_t>(attribute)] << ',';
  });
  text.drop_last();
  text << '}';
}

}  // namespace contorno
