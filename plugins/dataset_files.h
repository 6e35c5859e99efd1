// Which files make up a dataset, and which frame belongs to which map.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace contorno {

struct DatasetItem {
  std::filesystem::path map;
  std::filesystem::path frame;  ///< empty: the map has none
};

struct DatasetFiles {
  std::vector<DatasetItem> items;      ///< in natural order of the maps' names; at least one
  std::filesystem::path frame_folder;  ///< where frames were looked for
  bool has_frames = false;             ///< every item should have one
};

/// Throws Error(MissingInput) when there is nothing at `location`, or no map in it. Frames are only looked
/// for when `with_frames`.
DatasetFiles find_dataset(const std::filesystem::path& location, bool with_frames);

}  // namespace contorno
