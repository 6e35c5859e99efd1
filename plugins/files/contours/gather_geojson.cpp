#include <fmt/format.h>

#include "pipeline/shared/printable.h"
#include "plugins/files/contours/gather.h"
#include "plugins/files/contours/object_text.h"

namespace contorno {
namespace {

using nlohmann::json;

constexpr const char* kUnnamedClass = "class 0";

/// The properties of a feature; none for null.
const json& properties_of(const JsonMembers& members, const JsonElement& element) {
  static const json kNone = json::object();
  const json* found =
      members.optional_member(element.value, "properties", json::value_t::object, element.path);
  return found == nullptr ? kNone : *found;
}

}  // namespace

void GeojsonGatherer::take(const JsonElement& element) {
  const JsonMembers members(element.place);
  const json& properties = properties_of(members, element);
  // A record of an object, which has no geometry. Features of other programs may be of that kind, too.
  if (properties.contains("kind") && properties["kind"] == kObjectKind &&
      element.value.contains("geometry") && element.value["geometry"].is_null())
    return;
  const Feature feature{
      .members = members,
      .path = element.path,
      .frame = frame_of(members, properties, element.path),
      .class_index = class_of(members, properties, element.path),
      .attributes = members.attributes(properties, UnknownAttributes::PassOver, element.path)};
  const json& geometry = members.member(element.value, "geometry", json::value_t::object, element.path);
  const std::string& type =
      members.member(geometry, "type", json::value_t::string, "the geometry of " + element.path)
          .get_ref<const std::string&>();
  if (type != "Polygon" && type != "MultiPolygon" && type != "LineString")
    members.refuse(fmt::format("the geometry of {} is '{}', allowed Polygon, MultiPolygon, LineString",
                               element.path, printable(type)));
  const json& coordinates =
      members.member(geometry, "coordinates", json::value_t::array, "the geometry of " + element.path);
  if (type == "Polygon") take_polygon(feature, coordinates);
  if (type == "MultiPolygon")
    for (const json& polygon : coordinates) take_polygon(feature, polygon);
  if (type != "LineString") return;
  take_positions(feature, coordinates);
  const json* closed = members.optional_member(properties, "closed", json::value_t::boolean, element.path);
  end_contour(feature, RingKind::Outer, closed != nullptr && closed->get<bool>());
}

std::size_t GeojsonGatherer::frame_of(const JsonMembers& members, const json& properties,
                                      const std::string& path) {
  FrameInfo info = members.frame_info(properties, UnknownAttributes::PassOver, path);
  const auto [at, added] = frames_.emplace(info.number, to_.frames.size());
  if (!added) return at->second;
  const auto side = [&](const char* key) -> std::optional<int> {
    if (!properties.contains(key)) return std::nullopt;
    return members.side(properties, key, path);
  };
  to_.frames.push_back({.info = std::move(info), .width = side("width"), .height = side("height")});
  return at->second;
}

std::size_t GeojsonGatherer::class_of(const JsonMembers& members, const json& properties,
                                      const std::string& path) {
  const json* name = members.optional_member(properties, "class", json::value_t::string, path);
  const json* level = members.optional_member(properties, "level", json::value_t::number_float, path);
  ClassSpec spec;
  spec.name = name == nullptr ? kUnnamedClass : name->get<std::string>();
  if (level != nullptr) spec.level = level->get<double>();
  const auto [at, added] = classes_.emplace(std::pair(spec.name, spec.level), to_.classes.size());
  if (added) to_.classes.push_back(std::move(spec));
  return at->second;
}

void GeojsonGatherer::take_positions(const Feature& feature, const json& positions) {
  if (!positions.is_array())
    feature.members.refuse(fmt::format("{} has {} in the place of positions, [[x, y], ...]", feature.path,
                                       positions.type_name()));
  for (const json& position : positions) {
    if (!position.is_array() || position.size() != 2)
      feature.members.refuse(fmt::format("a position of {} is not [x, y]", feature.path));
    to_.add({.row = static_cast<float>(feature.members.coordinate(position[1], feature.path)),
             .col = static_cast<float>(feature.members.coordinate(position[0], feature.path))});
  }
}

void GeojsonGatherer::take_polygon(const Feature& feature, const json& rings) {
  constexpr std::size_t kFewest = 4;
  if (!rings.is_array() || rings.empty())
    feature.members.refuse(fmt::format("a polygon of {} has no rings", feature.path));
  for (std::size_t i = 0; i < rings.size(); ++i) {
    take_positions(feature, rings[i]);
    if (to_.open_points().size() < kFewest)
      feature.members.refuse(
          fmt::format("a ring of {} has {} positions, wanted 4 or more, the last one as the first",
                      feature.path, to_.open_points().size()));
    const RingKind kind = i == 0 ? RingKind::Outer : RingKind::Hole;
    direct_ring(to_.open_points(), kind);
    end_contour(feature, kind, true);
  }
}

void GeojsonGatherer::end_contour(const Feature& feature, RingKind kind, bool closed) {
  const std::span<const Point> points = to_.open_points();
  if (closed && !points.empty() && points.front() != points.back())
    feature.members.refuse(
        fmt::format("{} has a ring that is not closed: its last position is not its first", feature.path));
  to_.end_contour(feature.frame, feature.class_index, closed);
  if (kind == RingKind::Hole) return;
  for (const auto& [attribute, value] : feature.attributes) to_.set(attribute, value);
}

}  // namespace contorno
