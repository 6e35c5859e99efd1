// Members of the JSON objects in files of contours, with errors that say where the file is wrong, and in
// what.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/graph/source.h"
#include "pipeline/value/attributes.h"
#include "pipeline/value/classes.h"

namespace contorno {

/// A line and column of a file, both from 1; column 0 = not known.
struct JsonPlace {
  std::string_view file;
  std::size_t line = 0, column = 0;
};

/// What becomes of attributes whose names are not known.
enum class UnknownAttributes : std::uint8_t {
  Refuse,
  PassOver,  ///< for formats in which other programs have attributes of their own
};

/// Finds members that an object has twice, of which nlohmann's parser takes the last one without a word.
class DoubledMembers {
 public:
  using Json = nlohmann::json;
  /// To be told all that the parser says, or all from the begin of an object to its end. The name of a member
  /// that its object has already; null: it is none.
  const std::string* see(int depth, Json::parse_event_t event, const Json& parsed);

 private:
  std::vector<std::set<std::string>> names_;  // of the objects that are open, by the depth of their members
};

/// Looks up members in an object that begins at `place`. `path` is where an owner lies, as "classes[1]"; it
/// ends messages. All throw Error(BadData).
class JsonMembers {
 public:
  using Json = nlohmann::json;

  explicit JsonMembers(const JsonPlace& place) : place_(place) {}

  [[noreturn]] void refuse(const std::string& what) const;
  /// Every number is a number_float here, and whole ones from 0 are number_unsigned.
  const Json& member(const Json& owner, const char* key, Json::value_t kind, const std::string& path) const;
  /// The member `key` of `owner`; null when there is none, or a JSON null.
  const Json* optional_member(const Json& owner, const char* key, Json::value_t kind,
                              const std::string& path) const;
  /// What an object says of its frame by "frame", a whole number, "name" and "pts_ns". What it does not say,
  /// or by null, stays as it is without; so do those of another kind with `others` PassOver.
  FrameInfo frame_info(const Json& object, UnknownAttributes others, const std::string& path) const;
  /// A side of the map, up to kMaxSide.
  int side(const Json& owner, const char* key, const std::string& path) const;
  /// A number within 1e9 of 0.
  double coordinate(const Json& value, const std::string& path) const;
  /// The member "attributes"; NaN for null. None when there is no such member.
  std::vector<std::pair<Attribute, double>> attributes(const Json& owner, UnknownAttributes unknown,
                                                       const std::string& path) const;
  /// Sets the level of a class by its member "level", or its levels by "levels". False: it has neither.
  bool read_levels(const Json& owner, const std::string& path, ClassSpec& spec) const;

 private:
  std::uint64_t whole_number(const Json& value, const char* key, const std::string& path) const;
  void check_kind(const Json& value, const char* key, Json::value_t kind, const std::string& path) const;

  JsonPlace place_;
};

/// What is wrong with a text that nlohmann's parser refused with `error`; `wanted` ends it.
std::string json_fault(const nlohmann::json::exception& error, std::string_view wanted);

}  // namespace contorno
