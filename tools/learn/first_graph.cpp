#include "tools/learn/first_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/memory.h"
#include "config/describe.h"
#include "config/yaml_text.h"
#include "plugins/files/arrays/array_file.h"
#include "plugins/files/pictures/tiff.h"
#include "plugins/files/shared/file_names.h"
#include "plugins/files/shared/other_format.h"
#include "stages/shared/sample_value.h"
#include "tools/empty_classes.h"
#include "tools/learn/colours.h"
#include "tools/learn/frames.h"
#include "tools/learn/graph.h"
#include "tools/say.h"

namespace contorno {
namespace {

namespace fs = std::filesystem;
using config::yaml_text;

bool is_array_name(const fs::path& path) {
  return has_array_extension(path) && !has_picture_extension(path);
}

/// Files that may be both (TIFF) are pictures where nobody says otherwise, but for floats, which no picture
/// has.
bool is_tiff_of_floats(const fs::path& path) {
  if (!has_array_extension(path) || !has_picture_extension(path)) return false;
  try {
    const ElementType type = open_tiff(path.string())->format().type;
    return type != ElementType::U8 && type != ElementType::U16;
  } catch (const Error&) {
    return false;  // the reader of pictures says what is wrong
  }
}

/// Arrays themselves, or below it in maps/. Of the files that may be both the first one is looked at.
bool holds_arrays(const fs::path& folder) {
  std::error_code error;
  if (fs::is_directory(folder / "maps", error)) return true;
  fs::path first;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (is_array_name(at->path())) return true;
    if (has_array_extension(at->path()) && (first.empty() || at->path() < first)) first = at->path();
  }
  return !first.empty() && is_tiff_of_floats(first);
}

/// The first bytes of a file.
std::string start_of(const fs::path& file) {
  std::string bytes(kFormatStartBytes, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

/// Bytes that no text has. UTF-16 has a mark in front, and its reader a message of its own.
bool is_binary(std::string_view head) {
  if (head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF")) return false;
  return std::any_of(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t';
  });
}

/// belt for shots/belt.mp4, shots for shots/, a plain word for a pattern. The query of an address is no part
/// of it, which may have a password.
std::string stem_for(const std::string& argument) {
  std::string_view path = argument;
  if (const std::size_t scheme = path.find("://"); scheme != std::string_view::npos) {
    path.remove_prefix(scheme + 3);
    path = path.substr(0, path.find_first_of("?#"));
  }
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  std::string stem = fs::path(path).stem().string();
  for (char& c : stem)
    if (std::string_view("*?[]:{}").find(c) != std::string_view::npos) c = '_';
  return stem.empty() || stem == "." || stem == ".." ? "graph" : stem;
}

struct ArrayFormat {
  StreamFormat stream;
  const char* layout = "hwc";
};

/// An array does not say which of its sides is that of the classes: it is the shorter one, as classes are
/// fewer than pixels.
ArrayFormat open_arrays(const std::string& location, const Catalog& catalog) {
  const SourceType& type = config::source_called(catalog, "dataset");
  std::optional<ArrayFormat> found;
  std::optional<Error> refused;
  for (const char* layout : {"hwc", "chw"}) {
    ParamSet params(type.params);
    params.set(type.input_param, location);
    params.set("layout", std::string(layout));
    try {
      ArrayFormat read{type.make(params)->format(), layout};
      if (!found || read.stream.maps->channels < found->stream.maps->channels) found = std::move(read);
    } catch (const Error& error) {
      if (error.code() != ExitCode::BadData) throw;
      refused = error;
    }
  }
  if (!found) throw *refused;
  return *found;
}

/// What the maps of the first frame that can be read have; empty where there is none.
std::vector<MapRange> ranges_of(const std::string& location, const char* layout, const Catalog& catalog) {
  const SourceType& type = config::source_called(catalog, "dataset");
  ParamSet params(type.params);
  params.set(type.input_param, location);
  params.set("layout", std::string(layout));
  const std::unique_ptr<Source> source = type.make(params);
  Block memory;
  for (;;) {
    const ImageFormat frame = source->format().frame.value_or(ImageFormat{}), maps = *source->format().maps;
    const std::size_t frame_bytes = align_up(packed_bytes(frame));
    memory = Block(frame_bytes + packed_bytes(maps), MemoryKind::Host);
    FrameInput input;
    input.frame = source->format().frame ? packed_view(memory.data(), frame) : ImageView{};
    input.maps = packed_view(memory.data() + frame_bytes, maps);
    const ReadResult result = source->read(input);
    if (result == ReadResult::End) return {};
    if (result != ReadResult::Frame) continue;
    std::vector<MapRange> ranges;
    for (int k = 0; k < maps.channels; ++k) ranges.push_back(range_of(input.maps, k));
    return ranges;
  }
}

/// 0.5, which suits probabilities; where a map has values on one side of it alone, the middle of those, which
/// divides a mask of 0 and 1 in uint8.
double level_for(const MapRange& range) {
  constexpr double kUsual = 0.5;
  const bool crosses = range.least < kUsual && range.greatest > kUsual;
  const double middle = (range.least + range.greatest) / 2;
  return crosses || !(range.least < range.greatest) || !std::isfinite(middle) ? kUsual : middle;
}

/// How levels count in maps of integers.
std::string integer_note(ElementType type) {
  const double divisor = probability_scale(type).divisor;
  return divisor == 1
             ? std::string()
             : fmt::format(" Samples of {} count as values from 0 (0) to 1 ({}).", name_of(type), divisor);
}

FirstGraph graph_for_arrays(const std::string& argument, const Catalog& catalog) {
  const std::string location = fs::absolute(argument).lexically_normal().string();
  const ArrayFormat arrays = open_arrays(location, catalog);
  const ImageFormat& maps = *arrays.stream.maps;
  FirstGraph first{.text = {},
                   .stem = stem_for(argument),
                   .subject = fmt::format("{} has maps of {}, read as {} ({} classes)", argument,
                                          describe(maps), arrays.layout, maps.channels)};
  first.text = fmt::format(
      "# A first graph for arrays: the contour lines of every map.\n"
      "source: {{type: dataset, location: {}, layout: {}}}\n\n"
      "# In the order of the maps. The level is where contours are drawn: 0.5 suits probabilities; take one "
      "between\n"
      "# the least and the greatest value where the maps are something else.{}\n"
      "classes:\n",
      yaml_text(location), arrays.layout, integer_note(maps.type));
  const std::vector<MapRange> ranges = ranges_of(location, arrays.layout, catalog);
  for (std::size_t k = 0; k < static_cast<std::size_t>(maps.channels); ++k) {
    const double level = k < ranges.size() ? level_for(ranges[k]) : 0.5;
    first.text += fmt::format("  - {{name: class{}, level: {:.6g}}}", k, level);
    if (k < ranges.size())
      first.text += fmt::format("  # the first map has {} to {}", value_text(ranges[k].least, maps.type),
                                value_text(ranges[k].greatest, maps.type));
    first.text += '\n';
    if (level != 0.5)
      first.subject += fmt::format("; class{} has values from {} to {}, so its level is {:.3g}", k,
                                   value_text(ranges[k].least, maps.type),
                                   value_text(ranges[k].greatest, maps.type), level);
  }
  first.text += "\nstages:\n  - marching_squares\n  - contour_assembly\n";
  const bool draws = arrays.stream.frame && catalog.sink("images") != nullptr;
  if (draws) first.text += "  - type: overlay\n    legend: top_left\n";
  first.text += "\nsinks:\n";
  first.text += draws ? "  - {type: images, path: \"overlay/{name}.png\"}\n"
                      : "  - {type: svg, path: \"svg/{frame:06}.svg\"}\n";
  first.text += "  - {type: jsonl, path: contours.jsonl}\n";
  return first;
}

/// Learns as many colours as there are, up to four. The most frequent one is what the others lie on, and is
/// not drawn.
LearnedColours learn_some_colours(const ExampleFrames& examples) {
  for (std::vector<std::string> names{"background", "colour2", "colour3", "colour4"};; names.pop_back()) {
    try {
      LearnedColours learned = learn_colours(examples.samples, names, Examples::Frames, {});
      learned.classes.front().hidden = true;
      return learned;
    } catch (const Error& error) {
      if (error.code() != ExitCode::BadData || names.size() == 1) throw;
    }
  }
}

FirstGraph graph_for_pictures(const std::string& argument, const Catalog& catalog) {
  constexpr int kFrames = 8;
  const ExampleFrames examples = read_examples(
      {.location = argument, .masks = {}, .classes = {}, .picks = {}, .limit = kFrames}, catalog);
  const LearnedColours learned = learn_some_colours(examples);
  const bool video = std::string_view(example_source_name(argument)) == "video";
  std::error_code ignored;
  const char* is = video                                    ? "is a video"
                   : fs::is_regular_file(argument, ignored) ? "is a picture"
                                                            : "holds pictures";
  return {.text = graph_text(
              {.file = stem_for(argument) + ".yaml",
               .location = argument,
               .how = "contorno run " + printable_sentence(argument) + ", from its commonest colours",
               .lightness = LearnParams().lightness,
               .frame_width = examples.kept.front().view.format.width,
               .learned = learned}),
          .stem = stem_for(argument),
          .subject = fmt::format(
              "{} {}: {} of its colours {} outlined{} ('contorno learn --pick' finds what you "
              "point at)",
              argument, is, learned.classes.size() - 1, learned.classes.size() == 2 ? "is" : "are",
              learned.classes.size() == 1 ? ", as all its pixels have the same one in 8 bits" : "")};
}

}  // namespace

InputKind kind_of_input(const std::string& argument) {
  const fs::path path(argument);
  if (argument == "-" || lower_extension(path) == ".yaml" || lower_extension(path) == ".yml")
    return InputKind::Graph;
  if (argument.find("://") != std::string::npos) return InputKind::Video;
  std::error_code error;
  const ArrayPath array = split_array_path(argument);
  if (is_zarr(array.file) && fs::is_directory(array.file, error)) return InputKind::Arrays;
  if (!array.member.empty() && fs::is_regular_file(array.file, error)) return InputKind::Arrays;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return holds_arrays(path) ? InputKind::Arrays : InputKind::Pictures;
  if (!fs::exists(status))
    return argument.find_first_of("*?[") != std::string::npos ? InputKind::Pictures : InputKind::Graph;
  if (!fs::is_regular_file(status)) return InputKind::Graph;
  if (is_array_name(path) || is_tiff_of_floats(path)) return InputKind::Arrays;
  if (example_source_name(argument) == std::string_view("images")) return InputKind::Pictures;
  const std::string start = start_of(path);
  if (const std::string other = other_format(start, argument); !other.empty())
    throw Error(ExitCode::BadData, fmt::format("'{}' {}", printable_sentence(argument), other));
  return is_binary(start) ? InputKind::Video : InputKind::Graph;
}

std::optional<FirstGraph> first_graph(const std::string& argument, const Catalog& catalog) {
  switch (kind_of_input(argument)) {
    case InputKind::Graph:
      return std::nullopt;
    case InputKind::Arrays:
      return graph_for_arrays(argument, catalog);
    case InputKind::Pictures:
    case InputKind::Video:
      return graph_for_pictures(argument, catalog);
  }
  throw InternalError("unknown kind of input");
}

}  // namespace contorno
