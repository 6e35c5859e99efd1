#include "plugins/files/dataset/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <system_error>

#include "base/error.h"
#include "plugins/files/arrays/array_file.h"
#include "plugins/files/dataset/manifest.h"
#include "plugins/files/shared/file_names.h"

namespace contorno {
namespace {
namespace fs = std::filesystem;

/// "7" of "007_left", nothing of "left".
std::optional<std::string> leading_number(const std::string& stem) {
  const std::size_t end = std::min(stem.find_first_not_of("0123456789"), stem.size());
  if (end == 0) return std::nullopt;
  const std::size_t begin = std::min(stem.find_first_not_of('0'), end);
  return stem.substr(begin, end - begin);
}

/// Files of a folder in natural order, hidden ones and folders left out, but for stores, which are folders.
std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  fs::directory_iterator at(folder, error);
  if (error)
    throw Error(ExitCode::MissingInput,
                fmt::format("cannot read folder '{}': {}", folder.string(), error.message()));
  for (; at != fs::directory_iterator(); at.increment(error)) {
    std::error_code ignored;
    if (at->path().filename().string().front() != '.' && (!at->is_directory(ignored) || is_zarr(at->path())))
      files.push_back(at->path());
  }
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    return natural_less(a.filename().string(), b.filename().string());
  });
  return files;
}

DatasetItem item_of(fs::path map, fs::path frame) {
  DatasetItem item;
  item.map = std::move(map), item.frame = std::move(frame);
  return item;
}

std::vector<fs::path> maps_in(const fs::path& folder) {
  std::vector<fs::path> files = files_in(folder);
  std::erase_if(files, [](const fs::path& file) { return !has_array_extension(file); });
  if (files.empty())
    throw Error(ExitCode::MissingInput,
                fmt::format("there is no {} file in '{}'", kArrayExtensions, folder.string()));
  return files;
}

/// Gives every map the frame with its stem, else the one with its leading number. A number that several
/// frames share belongs to none of them. Pictures that no map takes become items of their own.
void match_frames(DatasetFiles& dataset) {
  const std::vector<fs::path> files = files_in(dataset.frame_folder);
  std::map<std::string, fs::path> by_stem, by_number;
  for (const fs::path& file : files) {
    by_stem.emplace(file.stem().string(), file);
    if (const auto number = leading_number(file.stem().string())) {
      const auto [at, is_new] = by_number.emplace(*number, file);
      if (!is_new) at->second.clear();
    }
  }
  dataset.has_frames = !files.empty();
  std::set<fs::path> taken;
  for (DatasetItem& item : dataset.items) {
    const std::string stem = item.map.stem().string();
    if (const auto same = by_stem.find(stem); same != by_stem.end()) {
      item.frame = same->second;
    } else if (const auto number = leading_number(stem)) {
      if (const auto at = by_number.find(*number); at != by_number.end()) item.frame = at->second;
    }
    taken.insert(item.frame);
  }
  for (const fs::path& file : files)
    if (has_picture_extension(file) && !taken.contains(file)) dataset.items.push_back(item_of({}, file));
  std::stable_sort(
      dataset.items.begin(), dataset.items.end(),
      [](const DatasetItem& a, const DatasetItem& b) { return natural_less(a.name(), b.name()); });
}

/// Gives every item the labels with the stem of its map or frame.
void match_truth(DatasetFiles& dataset, const fs::path& folder) {
  std::map<std::string, fs::path> by_stem;
  for (const fs::path& file : files_in(folder)) by_stem.emplace(file.stem().string(), file);
  for (DatasetItem& item : dataset.items)
    if (const auto at = by_stem.find(fs::path(item.name()).stem().string()); at != by_stem.end())
      item.truth = at->second;
}

}  // namespace

DatasetFiles find_dataset(const fs::path& location, const DatasetChoice& choice) {
  std::error_code error;
  const fs::file_status status = fs::status(location, error);
  if (!fs::exists(status))
    throw Error(ExitCode::MissingInput, fmt::format("there is no dataset at '{}'", location.string()));
  if (is_manifest(location)) return read_manifest(location, choice);
  DatasetFiles dataset;
  if (!fs::is_directory(status) || is_zarr(location)) {
    dataset.items.push_back(item_of(location, {}));
    return dataset;
  }
  const fs::path maps = fs::is_directory(location / "maps", error) ? location / "maps" : location;
  dataset.map_folder = maps;
  for (fs::path& map : maps_in(maps)) dataset.items.push_back(item_of(std::move(map), {}));
  dataset.frame_folder = location / "frames";
  if (choice.frames && fs::is_directory(dataset.frame_folder, error)) match_frames(dataset);
  if (fs::is_directory(location / "truth", error)) match_truth(dataset, location / "truth");
  return dataset;
}

}  // namespace contorno
