#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "plugins/files/contours/gather.h"
#include "plugins/files/contours/measures.h"

namespace contorno {
namespace {

using nlohmann::json;

constexpr double kCornerShift = 0.5;  // pixel corners at integers there, sample centres here
constexpr std::size_t kFewestRing = 4;

/// Where a hole ends that begins at `begin`: at its first point again, behind which the ring goes back to its
/// own first one. 0 when there is none.
std::size_t end_of_hole(std::span<const Point> ring, std::size_t begin) {
  for (std::size_t i = begin + kFewestRing - 1; i + 1 < ring.size(); ++i)
    if (ring[i] == ring[begin] && ring[i + 1] == ring.front()) return i + 1;
  return 0;
}

/// Begin and end of the rings that `ring` consists of: itself alone, or the ring around a region and its
/// holes, to each of which it goes from its first point and back.
std::vector<std::pair<std::size_t, std::size_t>> rings_in(std::span<const Point> ring) {
  // How many points equal to the first are tried as the end of the outer ring: keeps the time linear.
  constexpr int kMostTries = 8;
  int tries = 0;
  for (std::size_t outer = kFewestRing - 1; outer + 1 < ring.size() && tries < kMostTries; ++outer) {
    if (ring[outer] != ring.front()) continue;
    ++tries;
    std::vector<std::pair<std::size_t, std::size_t>> rings{{0, outer + 1}};
    const double area = measure_box_and_area(ring.first(outer + 1), Closure::Closed).area;
    std::size_t begin = outer + 1;
    while (begin < ring.size()) {
      const std::size_t end = end_of_hole(ring, begin);
      if (end == 0 ||
          measure_box_and_area(ring.subspan(begin, end - begin), Closure::Closed).area * area >= 0)
        break;
      rings.emplace_back(begin, end);
      begin = end + 1;
    }
    if (begin == ring.size()) return rings;
  }
  return {{0, ring.size()}};
}

std::int64_t whole_number(const JsonMembers& members, const json& owner, const char* key,
                          const std::string& path) {
  return members.member(owner, key, json::value_t::number_integer, path).get<std::int64_t>();
}

std::string ids_of(const std::map<std::int64_t, std::size_t>& ids) {
  constexpr std::size_t kMost = 10;
  std::vector<std::int64_t> first;
  for (auto it = ids.begin(); it != ids.end() && first.size() < kMost; ++it) first.push_back(it->first);
  return ids.empty() ? "none"
                     : fmt::format("{}{}", fmt::join(first, ", "), ids.size() > kMost ? ", ..." : "");
}

}  // namespace

void direct_ring(std::span<Point> ring, RingKind kind) {
  const double area = measure_box_and_area(ring, Closure::Closed).area;
  if (kind == RingKind::Outer ? area < 0 : area > 0) std::reverse(ring.begin(), ring.end());
}

void CocoGatherer::take(const JsonElement& element) {
  const JsonMembers members(element.place);
  if (element.array == "images") return take_image(members, element);
  if (element.array == "categories") return take_category(members, element);
  take_annotation(members, element);
}

void CocoGatherer::take_image(const JsonMembers& members, const JsonElement& element) {
  const std::int64_t id = whole_number(members, element.value, "id", element.path);
  if (!images_.emplace(id, to_.frames.size()).second)
    members.refuse(fmt::format("{} has the id {}, which another image has", element.path, id));
  FrameInfo info = members.frame_info(element.value, UnknownAttributes::PassOver, element.path);
  if (!element.value.contains("frame")) info.number = to_.frames.size();
  info.name.clear();
  if (const json* name =
          members.optional_member(element.value, "file_name", json::value_t::string, element.path))
    info.name = name->get<std::string>();
  // What the sink calls a frame without a name.
  if (info.name == fmt::format("{:06}.png", info.number)) info.name.clear();
  const int width = members.side(element.value, "width", element.path),
            height = members.side(element.value, "height", element.path);
  to_.frames.push_back({.info = std::move(info), .width = width, .height = height});
}

void CocoGatherer::take_category(const JsonMembers& members, const JsonElement& element) {
  const std::int64_t id = whole_number(members, element.value, "id", element.path);
  if (!categories_.emplace(id, to_.classes.size()).second)
    members.refuse(fmt::format("{} has the id {}, which another category has", element.path, id));
  ClassSpec spec;
  spec.name = members.member(element.value, "name", json::value_t::string, element.path).get<std::string>();
  members.read_levels(element.value, element.path, spec);
  to_.classes.push_back(std::move(spec));
}

void CocoGatherer::take_annotation(const JsonMembers& members, const JsonElement& element) {
  const json& annotation = element.value;
  annotations_.push_back({.place = element.place,
                          .path = element.path,
                          .image = whole_number(members, annotation, "image_id", element.path),
                          .category = whole_number(members, annotation, "category_id", element.path)});
  if (const auto found = annotation.find("segmentation"); found != annotation.end() && found->is_object())
    members.refuse(fmt::format(
        "the segmentation of {} is a mask (RLE), which is not read; wanted polygons, [[x, y, ...], ...]",
        element.path));
  const json& polygons = members.member(annotation, "segmentation", json::value_t::array, element.path);
  if (polygons.empty()) members.refuse(fmt::format("the segmentation of {} has no polygons", element.path));
  attributes_ = members.attributes(annotation, UnknownAttributes::PassOver, element.path);
  for (std::size_t i = 0; i < polygons.size(); ++i)
    take_polygon(members, polygons[i], fmt::format("{}.segmentation[{}]", element.path, i));
}

void CocoGatherer::take_polygon(const JsonMembers& members, const json& polygon, const std::string& path) {
  if (!polygon.is_array())
    members.refuse(fmt::format("{} is {}, wanted [x, y, ...]", path, polygon.type_name()));
  constexpr std::size_t kFewestNumbers = 6;
  if (polygon.size() % 2 != 0 || polygon.size() < kFewestNumbers)
    members.refuse(
        fmt::format("{} has {} numbers, wanted x and y of 3 points or more", path, polygon.size()));
  ring_.clear();
  for (std::size_t i = 0; i < polygon.size(); i += 2)
    ring_.push_back({.row = static_cast<float>(members.coordinate(polygon[i + 1], path) - kCornerShift),
                     .col = static_cast<float>(members.coordinate(polygon[i], path) - kCornerShift)});
  if (ring_.front() != ring_.back()) ring_.push_back(ring_.front());
  RingKind kind = RingKind::Outer;
  for (const auto& [begin, end] : rings_in(ring_)) {
    for (std::size_t i = begin; i < end; ++i) to_.add(ring_[i]);
    direct_ring(to_.open_points(), kind);
    to_.end_contour(annotations_.size() - 1, 0, true);
    if (kind == RingKind::Outer)
      for (const auto& [attribute, value] : attributes_) to_.set(attribute, value);
    kind = RingKind::Hole;
  }
}

void CocoGatherer::finish() {
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (const Annotation& annotation : annotations_) {
    const auto find = [&annotation](const Ids& ids, std::int64_t id, const char* what, const char* list) {
      const auto found = ids.find(id);
      if (found == ids.end())
        JsonMembers(annotation.place)
            .refuse(fmt::format("{} is of the {} {}, which is not among '{}'; their ids are {}",
                                annotation.path, what, id, list, ids_of(ids)));
      return found->second;
    };
    places.emplace_back(find(images_, annotation.image, "image", "images"),
                        find(categories_, annotation.category, "category", "categories"));
  }
  to_.place_contours([&places](std::size_t& frame, std::size_t& class_index) {
    std::tie(frame, class_index) = places[frame];
  });
}

}  // namespace contorno
