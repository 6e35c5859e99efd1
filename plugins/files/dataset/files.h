// Which files make up a dataset, and which frame belongs to which map: found in a folder, or listed by a
// manifest.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace contorno {

/// A map, a frame, or both, and what a manifest says of them.
struct DatasetItem {
  std::filesystem::path map;    ///< empty: the frame has none
  std::filesystem::path frame;  ///< empty: the map has none
  std::filesystem::path truth;  ///< a picture of labels, or with {class} a mask a class; empty: there is none
  std::optional<std::int64_t> time_ns = std::nullopt;  ///< when it was recorded; the zero is the manifest's
  std::string camera = {};
  std::string entry = {};  ///< which entry of a manifest it is: "frames.csv:7"
  std::string fault = {};  ///< why the entry cannot be used, with file:line:column; empty: it can

  /// The file name of the item, by which the items of a folder are ordered.
  std::string name() const {
    return map.empty() && frame.empty() ? entry : (map.empty() ? frame : map).filename().string();
  }
};

struct DatasetFiles {
  /// The frames, at least one, in natural order of their names or in the order of the manifest.
  std::vector<DatasetItem> items;
  std::filesystem::path map_folder, frame_folder;  ///< where maps and frames were looked for
  std::filesystem::path manifest;                  ///< empty: the folder was looked through
  bool has_maps = true;                            ///< every item should have one
  bool has_frames = false;                         ///< likewise
  bool has_times = false;                          ///< likewise
};

/// What of a dataset is wanted.
struct DatasetChoice {
  bool frames = true;       ///< frames are looked for
  std::string camera = {};  ///< only entries of a manifest with this camera; empty: all
};

/// Throws Error(MissingInput) when there is nothing at `location`, or neither a map in it nor a manifest, and
/// what read_manifest throws.
DatasetFiles find_dataset(const std::filesystem::path& location, const DatasetChoice& choice);

}  // namespace contorno
