#include "plugins/files/dataset/manifest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <limits>
#include <set>

#include "base/error.h"
#include "pipeline/shared/printable.h"
#include "plugins/files/dataset/manifest_lines.h"
#include "plugins/files/shared/file_names.h"
#include "plugins/files/shared/open_file.h"

namespace contorno {
namespace {
namespace fs = std::filesystem;

constexpr std::int64_t kSecond = 1'000'000'000, kMostSeconds = kMostManifestSeconds;
constexpr std::size_t kLongestLine = std::size_t{1} << 16;
constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";

/// All of `text` as a whole number from 0 to `most`.
std::optional<std::int64_t> whole_number(std::string_view text, std::int64_t most) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, fault] = std::from_chars(text.data(), end, value);
  if (fault != std::errc() || at != end || text.starts_with('-') || value > most) return std::nullopt;
  return value;
}

/// Decimal seconds as nanoseconds, exactly; digits behind the ninth are left out.
std::optional<std::int64_t> seconds_to_ns(std::string_view text) {
  const std::size_t point = text.find('.');
  const auto seconds = whole_number(text.substr(0, point), kMostSeconds);
  if (!seconds || point == std::string_view::npos)
    return seconds ? std::optional(*seconds * kSecond) : seconds;
  std::string digits(text.substr(point + 1));
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  digits.resize(9, '0');
  return *seconds * kSecond + whole_number(digits, kSecond).value_or(0);
}

fs::path path_of(const ManifestCell& cell, const fs::path& folder) {
  if (cell.value.find('\0') != std::string::npos)
    throw LineFault{cell.column, fmt::format("{} is no path: it has a character 0", cell.name)};
  return folder / cell.value;
}

void set_time(DatasetItem& item, const ManifestCell& cell, std::optional<std::int64_t> time,
              std::string_view allowed) {
  if (item.time_ns)
    throw LineFault{cell.column, "timestamp and pts_ns are both given, wanted is one of them"};
  if (!time)
    throw LineFault{cell.column,
                    fmt::format("{} is '{}', allowed {}", cell.name, printable(cell.value), allowed)};
  item.time_ns = time;
}

void take_cell(DatasetItem& item, const ManifestCell& cell, const fs::path& folder) {
  if (cell.name == "frame") item.frame = path_of(cell, folder);
  if (cell.name == "maps") item.map = path_of(cell, folder);
  if (cell.name == "truth") item.truth = path_of(cell, folder);
  if (cell.name == "camera") item.camera = cell.value;
  if (cell.name == "timestamp")
    set_time(item, cell, seconds_to_ns(cell.value),
             fmt::format("seconds from 0 to {}, as 12.5", kMostSeconds));
  if (cell.name == "pts_ns")
    set_time(item, cell, whole_number(cell.value, kMostSeconds * kSecond),
             fmt::format("whole nanoseconds from 0 to {}", kMostSeconds * kSecond));
}

class ManifestReader {
 public:
  ManifestReader(const fs::path& file, bool is_csv)
      : path_(file), folder_(file.parent_path()), is_csv_(is_csv) {
    const OpenFile tried(file.string());  // tells what is no file, and what cannot be read
    stream_.open(file);
    if (!stream_) throw read_error(file.string(), errno);
  }

  std::vector<DatasetItem> read() {
    std::vector<DatasetItem> items;
    std::string_view line;
    for (std::size_t number = 1; next_line(line); ++number) {
      if (number == 1 && line.starts_with(kUtf8Mark)) line.remove_prefix(kUtf8Mark.size());
      if (line.ends_with('\r')) line.remove_suffix(1);
      const bool is_too_long = line.size() > kLongestLine;
      if (!is_too_long && line.find_first_not_of(" \t") == std::string_view::npos) continue;
      try {
        if (is_too_long)
          throw LineFault{kLongestLine + 1,
                          fmt::format("the line is longer than the {} bytes allowed", kLongestLine)};
        if (is_csv_ && columns_.empty())
          columns_ = csv_columns(line);
        else
          items.push_back(item_of(line, number));
      } catch (const LineFault& fault) {
        DatasetItem bad;
        bad.entry = fmt::format("{}:{}", path_.filename().string(), number);
        bad.fault = fmt::format("{}:{}:{}: {}", path_.string(), number, fault.column, fault.sentence);
        if (is_csv_ && columns_.empty()) throw Error(ExitCode::BadData, bad.fault);
        items.push_back(std::move(bad));
      }
    }
    if (items.empty())
      throw Error(ExitCode::BadData, fmt::format("{}: the manifest has no entry", path_.string()));
    return items;
  }

 private:
  /// Keeps only the begin of a line that is too long. False at the end. `line` is valid until the next call.
  bool next_line(std::string_view& line) {
    errno = 0;
    stream_.getline(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    auto length = static_cast<std::size_t>(stream_.gcount());
    const bool is_cut = stream_.fail() && !stream_.eof() && !stream_.bad();
    if (is_cut) {
      stream_.clear();
      stream_.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    } else if (!stream_.eof()) {
      --length;  // the line break, which is counted and not kept
    }
    if (stream_.bad()) throw read_error(path_.string(), errno);
    line = {buffer_.data(), length};
    return is_cut || !stream_.fail();
  }

  DatasetItem item_of(std::string_view line, std::size_t number) const {
    DatasetItem item;
    item.entry = fmt::format("{}:{}", path_.filename().string(), number);
    for (const ManifestCell& cell : is_csv_ ? csv_cells(line, columns_) : json_cells(line))
      take_cell(item, cell, folder_);
    if (item.frame.empty() && item.map.empty()) throw LineFault{1, "the entry has neither frame nor maps"};
    return item;
  }

  fs::path path_, folder_;
  bool is_csv_;
  std::ifstream stream_;
  /// The longest line with all that does not count, a byte more, by which a longer one is known, and a 0.
  std::vector<char> buffer_ =
      std::vector<char>(kUtf8Mark.size() + kLongestLine + std::string_view("\r").size() + 2);
  std::vector<std::string> columns_;
};

/// Puts aside what lacks something that other entries have.
void refuse_gaps(DatasetFiles& dataset) {
  for (DatasetItem& item : dataset.items) {
    if (!item.fault.empty()) continue;
    const char* const lacks = dataset.has_maps && item.map.empty()       ? "maps"
                              : dataset.has_frames && item.frame.empty() ? "frame"
                              : dataset.has_times && !item.time_ns       ? "timestamp"
                                                                         : nullptr;
    if (lacks != nullptr)
      item.fault = fmt::format("{}: the entry has no {}, as others have",
                               (dataset.manifest.parent_path() / item.entry).string(), lacks);
  }
}

void keep_camera(DatasetFiles& dataset, const std::string& camera) {
  std::set<std::string> cameras;
  for (const DatasetItem& item : dataset.items)
    if (!item.camera.empty()) cameras.insert(printable(item.camera));
  std::erase_if(dataset.items,
                [&](const DatasetItem& item) { return item.fault.empty() && item.camera != camera; });
  const auto usable = [](const DatasetItem& item) { return item.fault.empty(); };
  if (std::none_of(dataset.items.begin(), dataset.items.end(), usable))
    throw Error(
        ExitCode::BadData,
        fmt::format(
            "{}: no entry is of camera '{}'; {}", dataset.manifest.string(), printable(camera),
            cameras.empty() ? "none has a camera" : fmt::format("cameras are {}", fmt::join(cameras, ", "))));
}

}  // namespace

bool is_manifest(const fs::path& file) {
  const std::string extension = lower_extension(file);
  return extension == ".csv" || extension == ".jsonl" || extension == ".ndjson";
}

DatasetFiles read_manifest(const fs::path& file, const DatasetChoice& choice) {
  DatasetFiles dataset;
  dataset.manifest = file;
  dataset.items = ManifestReader(file, lower_extension(file) == ".csv").read();
  if (!choice.camera.empty()) keep_camera(dataset, choice.camera);
  const auto some = [&](auto has) { return std::any_of(dataset.items.begin(), dataset.items.end(), has); };
  if (!choice.frames)
    for (DatasetItem& item : dataset.items) item.frame.clear();
  dataset.has_maps = some([](const DatasetItem& item) { return !item.map.empty(); });
  dataset.has_frames = some([](const DatasetItem& item) { return !item.frame.empty(); });
  dataset.has_times = some([](const DatasetItem& item) { return item.time_ns.has_value(); });
  const bool is_damaged = std::all_of(dataset.items.begin(), dataset.items.end(),
                                      [](const DatasetItem& item) { return !item.fault.empty(); });
  if (!dataset.has_maps && !dataset.has_frames && !is_damaged)
    throw Error(ExitCode::BadData,
                fmt::format("{}: the manifest has no maps, and 'frames: false' leaves out its frames",
                            file.string()));
  refuse_gaps(dataset);
  return dataset;
}

}  // namespace contorno
