// Reads a file of one JSON object whose arrays are large: their elements come one at a time, so that only one
// of them is in memory.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "plugins/files/contours/json_members.h"

namespace contorno {

/// An element of an array. Valid during the call.
struct JsonElement {
  std::string_view array;  ///< the member of the file's object that it lies in
  std::string path;        ///< "annotations[3]"
  JsonPlace place;         ///< where it begins
  nlohmann::json& value;   ///< an object; may be taken
};

/// Calls `take` for each element of those members of the file's object that `arrays` names, in the order of
/// the file; other members are passed over. Gives the names of those that are there. Throws Error(BadData)
/// with file:line:column for what is no such file, and for objects and arrays nested deeper than 32.
std::vector<std::string_view> for_each_element(const std::string& path,
                                               std::span<const std::string_view> arrays,
                                               const std::function<void(const JsonElement&)>& take);

}  // namespace contorno
