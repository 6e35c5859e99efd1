#include "plugins/files/zarr/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/error.h"
#include "pipeline/shared/printable.h"

namespace contorno::zarr {
namespace {
namespace fs = std::filesystem;
using nlohmann::json;

bool is_within(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

/// An object whose members may be missing.
json member_of(const json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found == object.end() ? json() : *found;
}

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

json parsed(const fs::path& file) {
  std::ifstream text(file);
  return text ? json::parse(text, nullptr, false) : json();
}

}  // namespace

void check_files(const fs::path& store, const std::string& path) {
  const auto refuse = [&](const fs::path& entry, std::string_view what) {
    throw Error(ExitCode::BadData, fmt::format("'{}': '{}' in it {}", path,
                                               printable(entry.lexically_relative(store).string()), what));
  };
  std::error_code error;
  const fs::path whole = fs::canonical(store, error);
  constexpr auto kOptions = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(store, kOptions, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code ignored;
    if (at->is_symlink(ignored)) {
      const fs::path target = fs::canonical(at->path(), ignored);
      if (!ignored && !is_within(target, whole))
        refuse(at->path(), "is a link out of the store, which is not followed");
    }
    const fs::file_type type = at->status(ignored).type();
    if (type != fs::file_type::regular && type != fs::file_type::directory &&
        type != fs::file_type::not_found)
      refuse(at->path(), "is not a regular file");
  }
}

Description describe_array(const fs::path& folder) {
  if (const json array = parsed(folder / ".zarray"); array.is_object())
    return {.boolean = text_of(member_of(array, "dtype")) == "|b1",
            .separator = text_of(member_of(array, "dimension_separator"))};
  const json array = parsed(folder / "zarr.json"), keys = member_of(array, "chunk_key_encoding");
  return {.boolean = text_of(member_of(array, "data_type")) == "bool",
          .separator = text_of(member_of(member_of(keys, "configuration"), "separator"))};
}

}  // namespace contorno::zarr
