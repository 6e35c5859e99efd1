#include "tools/replay/made_with.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "config/describe.h"
#include "pipeline/shared/printable.h"
#include "plugins/files/shared/frame_files.h"
#include "tools/say.h"
#include "tools/text_file.h"

namespace contorno {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "made_with.yaml";

/// A path that is there, as seen from the folder; all else (an address, an array in a file) stays.
std::string seen_from(const fs::path& folder, const std::string& path) {
  std::error_code error;
  if (path.empty() || !fs::exists(path, error)) return path;
  return fs::proximate(fs::canonical(path), fs::weakly_canonical(folder)).string();
}

/// A part of a graph that is compared by itself: the source, a class, a stage, or what is recorded.
struct GraphItem {
  std::string section, name;
  std::map<std::string, std::string> lines;  ///< by their keys
  std::pair<std::string, std::string> key() const { return {section, name}; }
};

std::string singular(const std::string& section) {
  return section == "classes" ? "class" : section == "stages" ? "stage" : section;
}

std::vector<GraphItem> graph_items(const std::string& yaml) {
  std::vector<GraphItem> items;
  std::istringstream stream(yaml);
  for (std::string whole, section; std::getline(stream, whole);) {
    const std::size_t indent = whole.find_first_not_of(' ');
    if (indent == std::string::npos || whole[indent] == '#') continue;
    std::string text = whole.substr(indent);
    const bool begins = text.starts_with("- ");
    if (begins) text = text.substr(2);
    const std::string key = text.substr(0, text.find(':'));
    const std::string value = text.substr(std::min(text.size(), key.size() + 2));
    if (indent == 0) section = key;
    const bool is_list = section == "classes" || section == "stages";
    if (indent == 0 ? !is_list : begins)
      items.push_back({.section = section, .name = begins ? value : section, .lines = {}});
    if (items.empty() || (indent == 0 && (is_list || value.empty()))) continue;
    if (key == "name" && is_list) items.back().name = value;
    items.back().lines.emplace(key, text);
  }
  return items;
}

/// What is different about an item that both graphs have.
void compare_items(const GraphItem& before, const GraphItem& now, std::vector<std::string>& differences) {
  const std::string name = printable(before.name);
  for (const auto& [key, text] : before.lines)
    if (const auto found = now.lines.find(key); found == now.lines.end())
      differences.push_back(fmt::format("{} had '{}', and has no '{}' now", name, printable(text), key));
    else if (found->second != text)
      differences.push_back(
          fmt::format("{} had '{}', and has '{}' now", name, printable(text), printable(found->second)));
  for (const auto& [key, text] : now.lines)
    if (!before.lines.contains(key))
      differences.push_back(fmt::format("{} had no '{}', and has '{}' now", name, key, printable(text)));
}

/// The values whose results a record has by its own list; nothing where it has none.
std::optional<std::set<std::string>> listed_values(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder / kFile, error)) return std::nullopt;
  std::set<std::string> values;
  for (const GraphItem& item : graph_items(read_regular_file((folder / kFile).string()))) {
    if (item.section != "recorded" || !item.lines.contains("recorded")) continue;
    const std::string& line = item.lines.at("recorded");
    for (std::size_t at = line.find('['); at < line.size() && line[at] != ']';) {
      const std::size_t begin = line.find_first_not_of("[, ", at), end = line.find_first_of(",]", begin);
      if (begin == std::string::npos || end == std::string::npos) break;
      values.insert(line.substr(begin, end - begin));
      at = end;
    }
  }
  return values;
}

/// Throws where the results that stay were made with something else.
void check_same(const fs::path& folder, const std::string& text) {
  const fs::path file = folder / kFile;
  std::error_code error;
  if (!fs::exists(file, error)) return;
  const std::vector<std::string> differences = graph_differences(read_regular_file(file.string()), text);
  if (differences.empty()) return;
  throw Error(ExitCode::CannotCreate,
              fmt::format("'{}' was recorded with another graph or dataset, as '{}' says: {}; set that "
                          "back, name another folder, or make the whole record anew with --overwrite",
                          printable(folder.string()), printable(file.string()), differences.front()));
}

void write_made_with(const fs::path& folder, const std::string& text) {
  // Parts of a dataset that begin at the same time all write it.
  FrameFiles files(PathPattern(kFile), Completion::SharedSeries);
  SinkContext context;
  context.output_root = folder.string();
  context.owner = "the record";
  files.open(context);
  OutputFile file = files.begin({});
  file.write(text);
  file.complete();
}

}  // namespace

std::string made_with(const GraphSpec& graph, const std::vector<RecordedValue>& values,
                      const fs::path& folder) {
  GraphSpec seen = graph;
  if (const std::string& input = seen.source.type->input_param; !input.empty())
    if (const ParamValue path = seen.source.params.get(input); std::holds_alternative<std::string>(path))
      seen.source.params.set(input, seen_from(folder, std::get<std::string>(path)));
  std::string text =
      "# What 'contorno replay' has made the results beside this file with; --resume compares it.\n";
  std::istringstream all(config::describe_graph(seen));
  bool counts = true;
  for (std::string line; std::getline(all, line);) {
    if (!line.starts_with(' ')) counts = !line.starts_with("pipeline:") && !line.starts_with("sinks:");
    if (counts) text += line + "\n";
  }
  std::vector<std::string> names;
  for (const RecordedValue& value : values) names.push_back(value.name);
  return text + fmt::format("recorded: [{}]\n", fmt::join(names, ", "));
}

std::vector<std::string> graph_differences(const std::string& before, const std::string& now) {
  const std::vector<GraphItem> old_items = graph_items(before), new_items = graph_items(now);
  std::vector<std::string> differences, old_order, new_order;
  std::map<std::pair<std::string, std::string>, const GraphItem*> olds, news;
  for (const GraphItem& item : old_items) olds.emplace(item.key(), &item);
  for (const GraphItem& item : new_items) news.emplace(item.key(), &item);
  for (const GraphItem& item : old_items)
    if (const auto found = news.find(item.key()); found != news.end()) {
      compare_items(item, *found->second, differences);
      old_order.push_back(item.name);
    } else {
      differences.push_back(fmt::format("{} '{}' is gone", singular(item.section), printable(item.name)));
    }
  for (const GraphItem& item : new_items)
    if (olds.contains(item.key()))
      new_order.push_back(item.name);
    else
      differences.push_back(fmt::format("{} '{}' is new", singular(item.section), printable(item.name)));
  if (old_order != new_order)
    differences.push_back(fmt::format("the order was {}, and is {} now",
                                      printable(fmt::format("{}", fmt::join(old_order, ", "))),
                                      printable(fmt::format("{}", fmt::join(new_order, ", ")))));
  return differences;
}

std::vector<std::string> differences_from_record(const fs::path& folder, const GraphSpec& graph,
                                                 const std::vector<RecordedValue>& values) {
  const fs::path file = folder / kFile;
  std::error_code error;
  if (!fs::exists(file, error)) return {};
  return graph_differences(read_regular_file(file.string()), made_with(graph, values, folder));
}

std::vector<fs::path> results_of(const fs::path& folder, const FrameSelection& frames,
                                 const std::vector<RecordedValue>& values) {
  std::set<std::string> known = listed_values(folder).value_or(std::set<std::string>{});
  for (const RecordedValue& value : values) known.insert(value.name);
  std::error_code error;
  std::vector<fs::path> files;
  if (!fs::exists(folder / "frames", error)) return files;
  for (fs::directory_iterator at(folder / "frames", error), end; !error && at != end; at.increment(error)) {
    const auto result = result_name(at->path().filename().string());
    if (!result || !frames.takes(result->place)) continue;
    if (!result->value.empty() && !known.contains(result->value))
      throw Error(
          ExitCode::CannotCreate,
          fmt::format("'{}' is not removed: neither the graph nor '{}' says that '{}' is recorded; name "
                      "another folder, or remove it yourself",
                      printable(at->path().string()), printable((folder / kFile).string()),
                      printable(result->value)));
    files.push_back(at->path());
  }
  if (error)
    throw Error(ExitCode::Io,
                fmt::format("cannot read '{}': {}", printable(folder.string()), error.message()));
  std::sort(files.begin(), files.end());
  return files;
}

void remove_results(const fs::path& folder, const std::vector<fs::path>& files) {
  std::error_code error;
  for (std::size_t i = 0; i < files.size() && !error; ++i) fs::remove(files[i], error);
  if (error)
    throw Error(ExitCode::Io,
                fmt::format("cannot empty '{}': {}", printable(folder.string()), error.message()));
}

void prepare_record(const fs::path& folder, const FrameSelection& frames, const std::string& text,
                    const std::vector<RecordedValue>& values, EarlierResults earlier) {
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(folder / "frames", error)))
    throw Error(ExitCode::CannotCreate,
                fmt::format("'{}' is a symbolic link, and nothing is written or removed by one",
                            printable((folder / "frames").string())));
  std::vector<std::uint64_t> others;
  if (fs::exists(folder / "frames", error)) others = recorded_places(folder);
  const std::size_t own = std::erase_if(others, [&](std::uint64_t place) { return frames.takes(place); });
  if (own > 0 && earlier == EarlierResults::Refuse)
    throw Error(ExitCode::CannotCreate,
                fmt::format("'{}' has results of an earlier run, of {} of the frames that this one takes; "
                            "--resume goes on with it, --overwrite makes them anew",
                            printable(folder.string()), own));
  const bool some_stay = !others.empty() || (own > 0 && earlier == EarlierResults::Keep);
  if (some_stay) check_same(folder, text);
  if (own > 0 && earlier == EarlierResults::Remove) {
    const std::vector<fs::path> files = results_of(folder, frames, values);
    say(fmt::format("--overwrite removes {} results of {} frames from '{}', '{}' to '{}'", files.size(), own,
                    printable_sentence((folder / "frames").string()), files.front().filename().string(),
                    files.back().filename().string()));
    remove_results(folder, files);
  }
  if (!some_stay) write_made_with(folder, text);
}

}  // namespace contorno
