#include "tools/replay/made_with.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string_view>

#include "config/describe.h"
#include "cuda/error.h"
#include "pipeline/shared/printable.h"
#include "plugins/files/shared/frame_files.h"
#include "tools/text_file.h"

namespace contorno {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "made_with.yaml";

/// Of a path that is there, as seen from the folder; all else (an address, an array in a file) stays.
std::string seen_from(const fs::path& folder, const std::string& path) {
  std::error_code error;
  if (path.empty() || !fs::exists(path, error)) return path;
  return fs::proximate(fs::canonical(path), fs::weakly_canonical(folder)).string();
}

/// A line of a graph, and the section or the item of a section that it belongs to.
struct GraphLine {
  std::string section, item, text;
  bool operator==(const GraphLine& other) const = default;
};

std::vector<GraphLine> graph_lines(const std::string& yaml) {
  std::vector<GraphLine> lines;
  GraphLine line;
  std::istringstream stream(yaml);
  for (std::string whole; std::getline(stream, whole);) {
    const std::size_t indent = whole.find_first_not_of(' ');
    if (indent == std::string::npos || whole[indent] == '#') continue;
    line.text = whole.substr(indent);
    const std::size_t value = std::min(line.text.size(), line.text.rfind(": ") + 2);
    if (indent == 0) line.section = line.item = line.text.substr(0, line.text.find(':'));
    // An item begins with its type or its name.
    if (indent == 2 && line.text.starts_with("- ")) line.item = line.text.substr(value);
    if (indent == 4 && line.text.starts_with("name: ")) line.item = line.text.substr(value);
    lines.push_back(line);
  }
  return lines;
}

/// The first difference: "contour_assembly had 'min_points: 8', and has 'min_points: 12' now". Empty where
/// there is none.
std::string difference_of(const std::string& before, const std::string& now) {
  const std::vector<GraphLine> old_lines = graph_lines(before), new_lines = graph_lines(now);
  const auto [old_line, new_line] =
      std::mismatch(old_lines.begin(), old_lines.end(), new_lines.begin(), new_lines.end());
  const bool old_ends = old_line == old_lines.end(), new_ends = new_line == new_lines.end();
  if (old_ends && new_ends) return "";
  const auto quoted = [](bool ends, const auto& line) {
    return ends ? std::string("nothing more") : fmt::format("'{}'", printable(line->text));
  };
  return fmt::format("{} had {}, and has {} now", printable(new_ends ? old_line->item : new_line->item),
                     quoted(old_ends, old_line), quoted(new_ends, new_line));
}

/// The number that the name of a result begins with, which recorded_places has found to be one.
std::uint64_t place_of(const fs::path& file) {
  const std::string name = file.filename().string();
  std::uint64_t place = 0;
  std::from_chars(name.data(), name.data() + name.size(), place);
  return place;
}

void remove_results(const fs::path& folder, const FrameSelection& frames) {
  std::error_code error;
  std::vector<fs::path> files;
  for (fs::directory_iterator at(folder / "frames", error), end; !error && at != end; at.increment(error))
    if (frames.takes(place_of(at->path()))) files.push_back(at->path());
  for (std::size_t i = 0; i < files.size() && !error; ++i) fs::remove(files[i], error);
  if (error)
    throw Error(ExitCode::Io,
                fmt::format("cannot empty '{}': {}", printable(folder.string()), error.message()));
}

/// Throws where the results that stay were made with something else.
void check_same(const fs::path& folder, const std::string& text) {
  const fs::path file = folder / kFile;
  std::error_code error;
  if (!fs::exists(file, error)) return;
  const std::string difference = difference_of(read_text_file(file.string()), text);
  if (difference.empty()) return;
  throw Error(ExitCode::CannotCreate,
              fmt::format("'{}' was recorded with another graph or dataset, as '{}' says: {}; set that "
                          "back, name another folder, or make the whole record anew with --overwrite",
                          printable(folder.string()), printable(file.string()), difference));
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

void prepare_record(const fs::path& folder, const FrameSelection& frames, const std::string& text,
                    EarlierResults earlier) {
  std::error_code error;
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
  if (own > 0 && earlier == EarlierResults::Remove) remove_results(folder, frames);
  if (!some_stay) write_made_with(folder, text);
}

}  // namespace contorno
