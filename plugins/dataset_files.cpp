#include "plugins/dataset_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <system_error>

#include "cuda/error.h"
#include "plugins/dataset.h"

namespace contorno {
namespace {
namespace fs = std::filesystem;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The digits at `at` without leading zeros; moves `at` behind them.
std::string_view take_number(std::string_view text, std::size_t& at) {
  while (at < text.size() && text[at] == '0') ++at;
  const std::size_t begin = at;
  while (at < text.size() && is_digit(text[at])) ++at;
  return text.substr(begin, at - begin);
}

/// "7" of "007_left", nothing of "left".
std::optional<std::string> leading_number(std::string_view stem) {
  if (stem.empty() || !is_digit(stem[0])) return std::nullopt;
  std::size_t at = 0;
  return std::string(take_number(stem, at));
}

/// Files of a folder in natural order, hidden ones and folders left out.
std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  fs::directory_iterator at(folder, error);
  if (error)
    throw Error(ExitCode::MissingInput,
                fmt::format("cannot read folder '{}': {}", folder.string(), error.message()));
  for (; at != fs::directory_iterator(); at.increment(error)) {
    std::error_code ignored;
    if (at->path().filename().string().front() != '.' && !at->is_directory(ignored))
      files.push_back(at->path());
  }
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    return natural_less(a.filename().string(), b.filename().string());
  });
  return files;
}

std::vector<fs::path> maps_in(const fs::path& folder) {
  std::vector<fs::path> files = files_in(folder);
  const bool archives = std::any_of(files.begin(), files.end(),
                                    [](const fs::path& file) { return file.extension() == ".npz"; });
  std::erase_if(files, [](const fs::path& file) { return file.extension() != ".npy"; });
  if (files.empty())
    throw Error(
        ExitCode::MissingInput,
        fmt::format("there is no .npy file in '{}'{}", folder.string(),
                    archives ? "; .npz archives are not read, save single arrays with numpy.save" : ""));
  return files;
}

/// Gives every map the frame with its stem, else the one with its leading number. A number that several
/// frames share belongs to none of them.
void match_frames(DatasetFiles& dataset) {
  std::map<std::string, fs::path> by_stem, by_number;
  for (const fs::path& file : files_in(dataset.frame_folder)) {
    by_stem.emplace(file.stem().string(), file);
    if (const auto number = leading_number(file.stem().string())) {
      const auto [at, is_new] = by_number.emplace(*number, file);
      if (!is_new) at->second.clear();
    }
  }
  for (DatasetItem& item : dataset.items) {
    const std::string stem = item.map.stem().string();
    if (const auto same = by_stem.find(stem); same != by_stem.end()) {
      item.frame = same->second;
    } else if (const auto number = leading_number(stem)) {
      if (const auto at = by_number.find(*number); at != by_number.end()) item.frame = at->second;
    }
  }
  dataset.has_frames = !by_stem.empty();
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const std::string_view x = take_number(a, i), y = take_number(b, j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else {
      if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      ++i, ++j;
    }
  }
  const std::size_t left_a = a.size() - i, left_b = b.size() - j;
  return left_a != left_b ? left_a < left_b : a < b;  // equal but for leading zeros
}

DatasetFiles find_dataset(const fs::path& location, bool with_frames) {
  std::error_code error;
  const fs::file_status status = fs::status(location, error);
  if (!fs::exists(status))
    throw Error(ExitCode::MissingInput, fmt::format("there is no dataset at '{}'", location.string()));
  DatasetFiles dataset;
  if (!fs::is_directory(status)) {
    dataset.items.push_back({.map = location, .frame = {}});
    return dataset;
  }
  const fs::path maps = fs::is_directory(location / "maps", error) ? location / "maps" : location;
  for (fs::path& map : maps_in(maps)) dataset.items.push_back({.map = std::move(map), .frame = {}});
  dataset.frame_folder = location / "frames";
  if (with_frames && fs::is_directory(dataset.frame_folder, error)) match_frames(dataset);
  return dataset;
}

}  // namespace contorno
