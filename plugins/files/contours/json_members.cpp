#include "plugins/files/contours/json_members.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <optional>

#include "base/error.h"
#include "pipeline/shared/printable.h"

namespace contorno {

using nlohmann::json;

void JsonMembers::refuse(const std::string& what) const {
  const std::string column = place_.column > 0 ? fmt::format(":{}", place_.column) : "";
  throw Error(ExitCode::BadData,
              fmt::format("{}:{}{}: {}", printable(place_.file), place_.line, column, what));
}

bool JsonMembers::read_levels(const Json& owner, const std::string& path, ClassSpec& spec) const {
  if (const Json* levels = optional_member(owner, "levels", Json::value_t::array, path)) {
    for (const Json& level : *levels) {
      if (!level.is_number()) refuse(fmt::format("the levels of {} are not numbers alone", path));
      spec.levels.push_back(level.get<double>());
    }
    if (spec.levels.empty()) refuse(fmt::format("the levels of {} are an empty list", path));
    spec.level = spec.levels.front();
    return true;
  }
  const Json* level = optional_member(owner, "level", Json::value_t::number_float, path);
  if (level != nullptr) spec.level = level->get<double>();
  return level != nullptr;
}

void JsonMembers::check_kind(const json& value, const char* key, json::value_t kind,
                             const std::string& path) const {
  const bool number = kind == json::value_t::number_float && value.is_number();
  const bool integer = kind == json::value_t::number_integer && value.is_number_integer();
  if (value.type() != kind && !number && !integer)
    refuse(fmt::format("'{}' in {} is {}, wanted {}", key, path,
                       value.is_number() ? value.dump() : value.type_name(),
                       kind == json::value_t::number_unsigned  ? "a whole number from 0"
                       : kind == json::value_t::number_integer ? "a whole number"
                                                               : json(kind).type_name()));
}

const json& JsonMembers::member(const json& owner, const char* key, json::value_t kind,
                                const std::string& path) const {
  if (!owner.is_object()) refuse(fmt::format("{} is {}, wanted an object", path, owner.type_name()));
  const auto found = owner.find(key);
  if (found == owner.end()) refuse(fmt::format("there is no '{}' in {}", key, path));
  check_kind(*found, key, kind, path);
  return *found;
}

const json* JsonMembers::optional_member(const json& owner, const char* key, json::value_t kind,
                                         const std::string& path) const {
  const auto found = owner.find(key);
  if (found == owner.end() || found->is_null()) return nullptr;
  check_kind(*found, key, kind, path);
  return &*found;
}

int JsonMembers::side(const json& owner, const char* key, const std::string& path) const {
  const json& value = member(owner, key, json::value_t::number_unsigned, path);
  if (value.get<std::uint64_t>() > kMaxSide)
    refuse(fmt::format("'{}' is {}, allowed 0 to {}", key, value.dump(), kMaxSide));
  return value.get<int>();
}

double JsonMembers::coordinate(const json& value, const std::string& path) const {
  constexpr double kMost = 1e9;
  if (!value.is_number())
    refuse(fmt::format("a coordinate of {} is {}, wanted a number", path, value.type_name()));
  const auto number = value.get<double>();
  if (!(std::abs(number) <= kMost))
    refuse(fmt::format("a coordinate of {} is {}, allowed -1000000000 to 1000000000 px", path, value.dump()));
  return number;
}

std::vector<std::pair<Attribute, double>> JsonMembers::attributes(const json& owner,
                                                                  UnknownAttributes unknown,
                                                                  const std::string& path) const {
  std::vector<std::pair<Attribute, double>> all;
  const auto found = owner.find("attributes");
  if (found == owner.end()) return all;
  if (!found->is_object()) {
    if (unknown == UnknownAttributes::PassOver) return all;
    refuse(fmt::format("'attributes' in {} is {}, wanted an object", path, found->type_name()));
  }
  for (const auto& [name, value] : found->items()) {
    const std::optional<Attribute> attribute = attribute_called(name);
    if (!attribute && unknown == UnknownAttributes::PassOver) continue;
    if (!attribute)
      refuse(fmt::format("the attribute '{}' of {} is not known; known are {}", printable(name), path,
                         fmt::join(kAttributeNames, ", ")));
    if (!value.is_number() && !value.is_null())
      refuse(
          fmt::format("attribute '{}' of {} is {}, wanted a number or null", name, path, value.type_name()));
    all.emplace_back(*attribute,
                     value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN());
  }
  return all;
}

FrameInfo JsonMembers::frame_info(const json& object, UnknownAttributes others,
                                  const std::string& path) const {
  FrameInfo info;
  if (!object.is_object()) return info;
  const auto find = [&](const char* key, json::value_t kind, auto is_kind) -> const json* {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return nullptr;
    if (!is_kind(*found) && others == UnknownAttributes::PassOver) return nullptr;
    if (!is_kind(*found)) check_kind(*found, key, kind, path);
    return &*found;
  };
  const auto is_number = [](const json& value) { return value.is_number(); };
  if (const json* number = find("frame", json::value_t::number_unsigned, is_number))
    info.number = whole_number(*number, "frame", path);
  if (const json* name =
          find("name", json::value_t::string, [](const json& value) { return value.is_string(); }))
    info.name = name->get<std::string>();
  if (const json* time = find("pts_ns", json::value_t::number_integer,
                              [](const json& value) { return value.is_number_integer(); }))
    info.pts_ns = time->get<std::int64_t>();
  return info;
}

std::uint64_t JsonMembers::whole_number(const json& value, const char* key, const std::string& path) const {
  constexpr double kMost = 9007199254740992;  // beyond it a double does not tell whole numbers apart
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  const auto number = value.get<double>();
  if (!(number >= 0 && number <= kMost && number == std::floor(number)))
    refuse(fmt::format("'{}' in {} is {}, wanted a whole number from 0", key, path, value.dump()));
  return static_cast<std::uint64_t>(number);
}

const std::string* DoubledMembers::see(int depth, json::parse_event_t event, const json& parsed) {
  const auto at = static_cast<std::size_t>(depth);
  if (event == json::parse_event_t::object_start) {
    if (names_.size() <= at + 1) names_.resize(at + 2);
    names_[at + 1].clear();
  }
  if (event != json::parse_event_t::key || names_.size() <= at) return nullptr;
  const auto& name = parsed.get_ref<const std::string&>();
  return names_[at].insert(name).second ? nullptr : &name;
}

std::string json_fault(const json::exception& error, std::string_view wanted) {
  constexpr int kNumberOverflow = 406;
  if (error.id == kNumberOverflow) return "a number is too large, allowed up to 1.8e308 in magnitude";
  return fmt::format("this is not valid JSON (which has no NaN or Infinity); wanted {}", wanted);
}

}  // namespace contorno
