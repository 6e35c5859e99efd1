// Which files make up a dataset, and which frame belongs to which map.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace contorno {

/// A map, a frame, or both.
struct DatasetItem {
  std::filesystem::path map;    ///< empty: the frame has none
  std::filesystem::path frame;  ///< empty: the map has none

  /// Its file name, by which items are in order.
  std::string name() const { return (map.empty() ? frame : map).filename().string(); }
};

struct DatasetFiles {
  std::vector<DatasetItem> items;  ///< in natural order of their names; at least one with a map
  std::filesystem::path map_folder, frame_folder;  ///< where maps and frames were looked for
  bool has_frames = false;                         ///< every item should have one
};

/// Throws Error(MissingInput) when there is nothing at `location`, or no map in it. Frames are only looked
/// for when `with_frames`.
DatasetFiles find_dataset(const std::filesystem::path& location, bool with_frames);

}  // namespace contorno
