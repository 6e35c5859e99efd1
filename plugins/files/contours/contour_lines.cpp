#include "plugins/files/contours/contour_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "cuda/error.h"
#include "pipeline/shared/printable.h"
#include "pipeline/value/copy_contours.h"

namespace contorno {
namespace {

using nlohmann::json;

/// The members of one line, with errors that say which is wrong.
class Line {
 public:
  explicit Line(std::string place) : place_(std::move(place)) {}

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ExitCode::BadData, fmt::format("{}: {}", place_, what));
  }
  /// `path` is where `owner` lies, as "classes[1]"; it ends messages.
  const json& member(const json& owner, const char* key, json::value_t kind, const std::string& path) const {
    if (!owner.is_object()) refuse(fmt::format("{} is {}, wanted an object", path, owner.type_name()));
    const auto found = owner.find(key);
    if (found == owner.end()) refuse(fmt::format("there is no '{}' in {}", key, path));
    const bool number = kind == json::value_t::number_float && found->is_number();
    const bool whole = kind == json::value_t::number_unsigned;
    if (found->type() != kind && !number)
      refuse(fmt::format("'{}' in {} is {}, wanted {}", key, path,
                         found->is_number() ? found->dump() : found->type_name(),
                         whole ? "a whole number" : json(kind).type_name()));
    return *found;
  }
  int side(const json& frame, const char* key) const {
    const json& value = member(frame, key, json::value_t::number_unsigned, "the line");
    if (value.get<std::uint64_t>() > kMaxSide)
      refuse(fmt::format("'{}' is {}, allowed 0 to {}", key, value.dump(), kMaxSide));
    return value.get<int>();
  }
  float coordinate(const json& value, const std::string& path) const {
    if (value.is_null()) return std::numeric_limits<float>::quiet_NaN();
    if (!value.is_number()) refuse(fmt::format("a point of {} is not [x, y]", path));
    return value.get<float>();
  }

 private:
  std::string place_;
};

/// What the arrays of a frame hold, while it is not known how many there are.
struct Parsed {
  std::vector<Point> points;
  std::vector<std::uint32_t> offsets{0}, class_begin{0};
  std::vector<std::uint8_t> closed;
  /// Of all attributes that some contour has: a number a contour so far, NaN where one has none.
  std::map<Attribute, std::vector<double>> columns;
};

void parse_attributes(const Line& line, const json& contour, const std::string& path, Parsed& parsed) {
  const auto attributes = contour.find("attributes");
  if (attributes == contour.end()) return;
  if (!attributes->is_object())
    line.refuse(fmt::format("'attributes' in {} is {}, wanted an object", path, attributes->type_name()));
  for (const auto& [name, value] : attributes->items()) {
    const std::optional<Attribute> attribute = attribute_called(name);
    if (!attribute)
      line.refuse(fmt::format("the attribute '{}' of {} is not known; known are {}", printable(name), path,
                              fmt::join(kAttributeNames, ", ")));
    if (!value.is_number() && !value.is_null())
      line.refuse(
          fmt::format("attribute '{}' of {} is {}, wanted a number or null", name, path, value.type_name()));
    std::vector<double>& column = parsed.columns[*attribute];
    column.resize(parsed.closed.size(), std::numeric_limits<double>::quiet_NaN());
    if (value.is_number()) column.back() = value.get<double>();
  }
}

/// The same point, also where it has no number.
bool is_same(const Point& one, const Point& other) {
  const auto same = [](float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  return same(one.row, other.row) && same(one.col, other.col);
}

void parse_contour(const Line& line, const json& contour, const std::string& path, Parsed& parsed) {
  parsed.closed.push_back(line.member(contour, "closed", json::value_t::boolean, path).get<bool>() ? 1 : 0);
  for (const json& point : line.member(contour, "points", json::value_t::array, path)) {
    if (!point.is_array() || point.size() != 2) line.refuse(fmt::format("a point of {} is not [x, y]", path));
    parsed.points.push_back({.row = line.coordinate(point[1], path), .col = line.coordinate(point[0], path)});
  }
  const std::size_t first = parsed.offsets.back();
  if (parsed.closed.back() != 0 && parsed.points.size() > first &&
      !is_same(parsed.points[first], parsed.points.back()))
    line.refuse(fmt::format("{} is closed, but its last point is not its first", path));
  if (parsed.points.size() > std::numeric_limits<std::uint32_t>::max())
    line.refuse("there are more than 2^32 points");
  parsed.offsets.push_back(static_cast<std::uint32_t>(parsed.points.size()));
  parse_attributes(line, contour, path, parsed);
}

Parsed parse_classes(const Line& line, const json& object, std::vector<ClassSpec>& classes) {
  Parsed parsed;
  classes.clear();
  for (const json& one : line.member(object, "classes", json::value_t::array, "the line")) {
    const std::string path = fmt::format("classes[{}]", classes.size());
    ClassSpec spec;
    spec.name = line.member(one, "name", json::value_t::string, path).get<std::string>();
    spec.level = line.member(one, "level", json::value_t::number_float, path).get<double>();
    classes.push_back(std::move(spec));
    const json& contours = line.member(one, "contours", json::value_t::array, path);
    for (std::size_t i = 0; i < contours.size(); ++i)
      parse_contour(line, contours[i], fmt::format("{}.contours[{}]", path, i), parsed);
    parsed.class_begin.push_back(static_cast<std::uint32_t>(parsed.closed.size()));
  }
  return parsed;
}

/// What the line says of the frame; what it does not say stays as it is without.
FrameInfo info_of(const json& object) {
  FrameInfo info;
  if (!object.is_object()) return info;
  if (const auto number = object.find("frame"); number != object.end() && number->is_number_unsigned())
    info.number = number->get<std::uint64_t>();
  if (const auto name = object.find("name"); name != object.end() && name->is_string())
    info.name = name->get<std::string>();
  if (const auto time = object.find("pts_ns"); time != object.end() && time->is_number_integer())
    info.pts_ns = time->get<std::int64_t>();
  return info;
}

/// Puts what was parsed into the packed arrays of `frame`.
void pack(Parsed& parsed, int width, int height, ContourFrame& frame) {
  constexpr std::uint64_t kFewest = 1024;
  ContoursFormat format{
      .width = width,
      .height = height,
      .classes = static_cast<int>(frame.classes.size()),
      .point_capacity = std::bit_ceil(std::max<std::uint64_t>(parsed.points.size(), kFewest)),
      .contour_capacity = std::bit_ceil(std::max<std::uint64_t>(parsed.closed.size(), kFewest)),
      .placement = {},
      .attributes = {}};
  for (const auto& [attribute, column] : parsed.columns)
    format.attributes = format.attributes.with(Attributes(attribute));
  frame.memory.resize(packed_bytes(format));
  frame.view = packed_view(frame.memory.data(), format);
  ContourCounts counts{.points = parsed.points.size(), .contours = parsed.closed.size()};
  ContoursFormat plain = format;
  plain.attributes = {};
  copy_contours({.format = plain,
                 .counts = &counts,
                 .points = parsed.points.data(),
                 .offsets = parsed.offsets.data(),
                 .closed = parsed.closed.data(),
                 .class_begin = parsed.class_begin.data()},
                frame.view);
  for (const auto& [attribute, column] : parsed.columns) {
    double* const to = frame.view.column(attribute);
    std::fill_n(to, parsed.closed.size(), std::numeric_limits<double>::quiet_NaN());
    std::copy(column.begin(), column.end(), to);
  }
}

}  // namespace

ContourLines::ContourLines(const std::string& path) : path_(path), file_(path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    throw Error(ExitCode::MissingInput, fmt::format("'{}' does not exist", printable(path)));
  if (!file_ || std::filesystem::is_directory(path, ignored))
    throw Error(ExitCode::BadData, fmt::format("'{}' cannot be read as a file", printable(path)));
}

bool ContourLines::next(ContourFrame& frame) {
  std::string text;
  do {
    if (!std::getline(file_, text)) return false;
    ++line_;
  } while (text.find_first_not_of(" \t\r") == std::string::npos);
  const std::string place = fmt::format("{}:{}", printable(path_), line_);
  json object;
  try {
    object = json::parse(text);
  } catch (const json::parse_error& error) {
    throw Error(
        ExitCode::BadData,
        fmt::format("{}:{}: this is not valid JSON; wanted a complete object a line, as the sink jsonl of "
                    "contorno run writes it",
                    place, error.byte));
  }
  const Line line(place);
  frame.info = info_of(object);
  const int width = line.side(object, "width"), height = line.side(object, "height");
  Parsed parsed = parse_classes(line, object, frame.classes);
  pack(parsed, width, height, frame);
  return true;
}

}  // namespace contorno
