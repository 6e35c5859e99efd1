// What is looked at of a Zarr store before GDAL opens it, which would follow every name and link.
#pragma once

#include <filesystem>
#include <string>

namespace contorno::zarr {

/// Throws Error(BadData) for anything in the folder `store` but folders and regular files: a pipe would be
/// waited for. Links are followed as far as they stay inside of it. `path` is its name in messages.
void check_files(const std::filesystem::path& store, const std::string& path);

/// What the description of an array says that GDAL does not tell.
struct Description {
  bool boolean = false;   ///< GDAL reads such samples as bytes
  std::string separator;  ///< between the indices in the names of its chunks; empty: not said
};
/// Describes the array in `folder`, of version 2 or 3. Nothing where it cannot be read, which GDAL then says.
Description describe_array(const std::filesystem::path& folder);

}  // namespace contorno::zarr
