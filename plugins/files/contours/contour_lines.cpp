#include "plugins/files/contours/contour_lines.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "pipeline/shared/printable.h"
#include "plugins/files/contours/json_members.h"
#include "plugins/files/contours/message.h"
#include "plugins/files/contours/object_text.h"

namespace contorno {
namespace {

using nlohmann::json;

float coordinate(const JsonMembers& members, const json& value, const std::string& path) {
  if (value.is_null()) return std::numeric_limits<float>::quiet_NaN();
  return static_cast<float>(members.coordinate(value, path));
}

/// Whether two points are the same; NaN equals NaN.
bool is_same(const Point& one, const Point& other) {
  const auto same = [](float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  return same(one.row, other.row) && same(one.col, other.col);
}

/// Makes the values of a line, and refuses a member that an object has twice. nlohmann's own parser takes the
/// last of them without a word, and with a callback it looks through all objects of an array for each one.
class LineParser final : public json::json_sax_t {
 public:
  explicit LineParser(const JsonMembers& members) : members_(members) {}
  json take() { return std::move(root_); }

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t&) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // not in text
  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    const auto [member, is_new] = open_.back()->emplace(name, nullptr);
    if (!is_new) members_.refuse(fmt::format("an object has the member '{}' twice", printable(name)));
    member_ = &*member;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    if (const auto* fault = dynamic_cast<const json::parse_error*>(&error)) throw *fault;
    if (const auto* fault = dynamic_cast<const json::out_of_range*>(&error)) throw *fault;
    return false;
  }

 private:
  /// Where the next value belongs; containers that are open do not move.
  json& place() {
    if (open_.empty()) return root_;
    return open_.back()->is_array() ? open_.back()->emplace_back(nullptr) : *member_;
  }
  bool put(json value) {
    place() = std::move(value);
    return true;
  }
  bool open(json value) {
    json& at = place();
    at = std::move(value);
    open_.push_back(&at);
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  const JsonMembers& members_;
  json root_;
  std::vector<json*> open_;  ///< values that are open, from the outermost
  json* member_ = nullptr;   ///< the member of the innermost object that waits for its value
};

void parse_points(const JsonMembers& members, const json& contour, const std::string& path,
                  ContourParts& parts) {
  for (const json& point : members.member(contour, "points", json::value_t::array, path)) {
    if (!point.is_array() || point.size() != 2)
      members.refuse(fmt::format("a point of {} is not [x, y]", path));
    parts.add({.row = coordinate(members, point[1], path), .col = coordinate(members, point[0], path)});
  }
}

/// Points in a typed array of RFC 8746.
void parse_packed_points(const JsonMembers& members, const json::binary_t& packed, const std::string& path,
                         ContourParts& parts) {
  constexpr std::size_t kPointBytes = 2 * sizeof(float);
  if (!packed.has_subtype() || packed.subtype() != kFloat32Array || packed.size() % kPointBytes != 0)
    members.refuse(fmt::format("the points of {} are no float32 array (tag 85) of x and y", path));
  const auto number = [&](std::size_t at) {
    std::uint32_t bits = 0;
    for (int i = 3; i >= 0; --i) bits = bits << 8 | packed[at + static_cast<std::size_t>(i)];
    const auto value = std::bit_cast<float>(bits);
    return std::isnan(value) ? value : coordinate(members, value, path);
  };
  for (std::size_t at = 0; at < packed.size(); at += kPointBytes)
    parts.add({.row = number(at + sizeof(float)), .col = number(at)});
}

void parse_contour(const JsonMembers& members, const json& contour, const std::string& path,
                   ContourParts& parts) {
  const bool closed = members.member(contour, "closed", json::value_t::boolean, path).get<bool>();
  if (const auto packed = contour.find("points"); packed != contour.end() && packed->is_binary())
    parse_packed_points(members, packed->get_binary(), path, parts);
  else
    parse_points(members, contour, path, parts);
  const std::span<const Point> points = parts.open_points();
  if (closed && !points.empty() && !is_same(points.front(), points.back()))
    members.refuse(fmt::format("{} is closed, but its last point is not its first", path));
  parts.end_contour(closed);
  for (const auto& [attribute, value] : members.attributes(contour, UnknownAttributes::Refuse, path))
    parts.set(attribute, value);
}

void parse_classes(const JsonMembers& members, const json& object, std::vector<ClassSpec>& classes,
                   ContourParts& parts) {
  classes.clear();
  for (const json& one : members.member(object, "classes", json::value_t::array, "the line")) {
    const std::string path = fmt::format("classes[{}]", classes.size());
    ClassSpec spec;
    spec.name = members.member(one, "name", json::value_t::string, path).get<std::string>();
    if (!members.read_levels(one, path, spec))
      members.member(one, "level", json::value_t::number_float, path);
    classes.push_back(std::move(spec));
    const json& contours = members.member(one, "contours", json::value_t::array, path);
    for (std::size_t i = 0; i < contours.size(); ++i)
      parse_contour(members, contours[i], fmt::format("{}.contours[{}]", path, i), parts);
    parts.end_class();
  }
}

/// The next line that is not empty.
bool next_object(std::ifstream& file, const std::string& path, std::size_t& line, json& object) {
  std::string text;
  do {
    if (!std::getline(file, text)) return false;
    ++line;
  } while (text.find_first_not_of(" \t\r") == std::string::npos);
  constexpr std::string_view kWanted =
      "a complete object a line, as the sink jsonl of contorno run writes it";
  const JsonMembers members({.file = path, .line = line});
  LineParser parser(members);
  try {
    json::sax_parse(text, &parser);
  } catch (const json::parse_error& error) {
    JsonMembers({.file = path, .line = line, .column = error.byte}).refuse(json_fault(error, kWanted));
  } catch (const json::exception& error) {
    JsonMembers({.file = path, .line = line}).refuse(json_fault(error, kWanted));
  }
  object = parser.take();
  return true;
}

/// Records of objects, and messages that are not of a frame's contours.
bool is_passed_over(const json& object) {
  if (!object.is_object()) return false;
  const auto kind = object.find("kind");
  if (kind == object.end() || !kind->is_string()) return false;
  const auto& word = kind->get_ref<const std::string&>();
  for (const std::string_view other :
       {kObjectKind, kFailedKind, kGapKind, kRunStartKind, kRunEndKind, kCameraKind})
    if (word == other) return true;
  return false;
}

void parse_frame(const JsonMembers& members, const json& object, ContourFrame& frame) {
  frame.info = members.frame_info(object, UnknownAttributes::Refuse, "the line");
  const int width = members.side(object, "width", "the line"),
            height = members.side(object, "height", "the line");
  ContourParts parts;
  parse_classes(members, object, frame.classes, parts);
  parts.pack(width, height, frame);
}

}  // namespace

bool ContourLines::next(ContourFrame& frame) {
  json object;
  do {
    if (!next_object(file_, path_, line_, object)) return false;
  } while (is_passed_over(object));
  parse_frame(JsonMembers({.file = path_, .line = line_}), object, frame);
  return true;
}

bool ContourMessages::next(ContourFrame& frame) {
  json object;
  do {
    if (!items_.next(object)) return false;
    ++message_;
  } while (is_passed_over(object));
  parse_frame(JsonMembers({.file = path_, .line = message_}), object, frame);
  return true;
}

}  // namespace contorno
