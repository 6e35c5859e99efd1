#include "tools/replay/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/error.h"
#include "config/describe.h"
#include "pipeline/shared/printable.h"
#include "plugins/files/contours/contour_line_writer.h"
#include "plugins/files/shared/frame_files.h"
#include "tools/checksum.h"

namespace contorno {
namespace {

constexpr std::string_view kFrames = "frames";

std::string_view extension_of(PortType type) {
  return type == PortType::Contours ? ".jsonl" : ".crc";
}

PortType type_of(const GraphSpec& graph, const Origin& origin) {
  if (origin.node == Origin::kSource) return PortType::Image;
  return graph.nodes[static_cast<std::size_t>(origin.node)]
      .type->outputs[static_cast<std::size_t>(origin.port)]
      .type;
}

/// The files of a value, by the places of frames. Names of values have no braces.
PathPattern value_pattern(const RecordedValue& value) {
  return PathPattern(fmt::format("{}/{{frame:08}}.{}{}", kFrames, value.name, extension_of(value.type)));
}

/// Whether `name` is that of a file which a run has not completed, NAME.part<process>-<number>.
bool is_temporary(std::string_view name) {
  const std::size_t at = name.rfind(".part");
  return at != std::string_view::npos && at + 5 < name.size() &&
         name.find_first_not_of("0123456789-", at + 5) == std::string_view::npos;
}

class RecordSink final : public Sink {
 public:
  RecordSink(const RecordedValue& value, const FrameSelection& selection, Placements& placements)
      : placements_(placements),
        is_contours_(value.type == PortType::Contours),
        selection_(selection),
        files_(value_pattern(value), Completion::SharedSeries),
        lines_({.coordinates = Coordinates::Map}) {}

  void open(const SinkContext& context) override {
    output_root_ = context.output_root;
    files_.open(context);
    if (is_contours_) lines_.open(context);
  }

  void write(const FrameInfo& info, const Value& value) override {
    FrameInfo placed = info;
    placed.number = selection_.place_of(info.number);
    placed.pts_ns = 0;  // sources without times of their own count from the first frame that is taken
    std::error_code ignored;
    std::filesystem::remove(output_root_ / failure_file(placed.number), ignored);
    OutputFile file = files_.begin(placed);
    if (const auto* image = std::get_if<ImageView>(&value))
      file.write(fmt::format("{:08x} {}\n", checksum(*image), describe(Format(image->format))));
    else
      write_contours(file, placed, std::get<ContoursView>(value));
    file.complete();
  }

  void finish() override { files_.finish(); }

 private:
  void write_contours(OutputFile& file, const FrameInfo& placed, const ContoursView& contours) {
    placements_.add(placed.number, contours.format.placement);
    file.write(lines_.line(placed, contours));
  }

  Placements& placements_;
  bool is_contours_;
  FrameSelection selection_;
  std::filesystem::path output_root_;
  FrameFiles files_;
  ContourLineWriter lines_;
};

}  // namespace

std::vector<RecordedValue> recorded_values(const GraphSpec& graph) {
  std::vector<RecordedValue> values;
  for (const SinkSpec& sink : graph.sinks) {
    const auto same = [&](const RecordedValue& value) { return value.origin == sink.input; };
    if (std::any_of(values.begin(), values.end(), same)) continue;
    values.push_back({.name = config::name_of(graph, sink.input),
                      .origin = sink.input,
                      .type = type_of(graph, sink.input)});
  }
  if (values.empty())
    throw Error(ExitCode::BadConfig,
                "nothing can be recorded: the graph has no sinks, and a record keeps what they take");
  return values;
}

std::string place_text(std::uint64_t place) {
  return fmt::format("{:08}", place);
}

std::filesystem::path value_file(std::uint64_t place, const RecordedValue& value) {
  return value_pattern(value).format(place, {});
}

PathPattern failure_pattern() {
  return PathPattern(fmt::format("{}/{{frame:08}}.failed", kFrames));
}

std::filesystem::path failure_file(std::uint64_t place) {
  return failure_pattern().format(place, {});
}

void forget_values(const std::filesystem::path& record, std::uint64_t place,
                   const std::vector<RecordedValue>& values) {
  for (const RecordedValue& value : values) {
    std::error_code ignored;
    std::filesystem::remove(record / value_file(place, value), ignored);
  }
}

bool has_frame(const std::filesystem::path& record, std::uint64_t place,
               const std::vector<RecordedValue>& values) {
  const auto there = [&](const std::filesystem::path& file) {
    return std::filesystem::exists(record / file);
  };
  return there(failure_file(place)) ||
         std::all_of(values.begin(), values.end(),
                     [&](const RecordedValue& value) { return there(value_file(place, value)); });
}

std::optional<ResultName> result_name(std::string_view name) {
  constexpr std::size_t kDigits = 8;
  ResultName result;
  const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), result.place);
  const auto digits = static_cast<std::size_t>(end - name.data());
  if (fault != std::errc() || digits < kDigits || place_text(result.place) != name.substr(0, digits))
    return std::nullopt;
  std::string_view rest = name.substr(digits);
  if (rest == ".failed") return result;
  for (const PortType type : {PortType::Contours, PortType::Image}) {
    const std::string_view extension = extension_of(type);
    if (!rest.ends_with(extension) || rest.size() < extension.size() + 2 || rest[0] != '.') continue;
    result.value = rest.substr(1, rest.size() - 1 - extension.size());
    return result;
  }
  return std::nullopt;
}

std::vector<std::uint64_t> recorded_places(const std::filesystem::path& record) {
  const std::filesystem::path folder = record / kFrames;
  std::error_code error;
  std::filesystem::directory_iterator files(folder, error);
  if (error)
    throw Error(
        ExitCode::MissingInput,
        fmt::format("{}: there is no record in this folder ({}: {}); 'contorno replay --record' makes one",
                    printable(record.string()), printable(folder.string()), error.message()));
  std::vector<std::uint64_t> places;
  for (const std::filesystem::directory_entry& file : files) {
    const std::string name = file.path().filename().string();
    if (is_temporary(name)) continue;
    const std::optional<ResultName> result = result_name(name);
    if (!result)
      throw Error(ExitCode::BadData,
                  fmt::format("{}: no file of a record, whose names are as "
                              "'00000017.overlay.image.crc'; a record has a folder of its own",
                              printable(file.path().string())));
    places.push_back(result->place);
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

std::size_t count_failures(const std::filesystem::path& record, const FrameSelection& selection) {
  std::size_t count = 0;
  if (!std::filesystem::exists(record / kFrames)) return count;
  for (const std::uint64_t place : recorded_places(record))
    if (selection.takes(place) && std::filesystem::exists(record / failure_file(place))) ++count;
  return count;
}

std::optional<Placement> Placements::at(std::uint64_t place) const {
  const auto behind =
      std::upper_bound(changes_.begin(), changes_.end(), place,
                       [](std::uint64_t value, const auto& change) { return value < change.first; });
  if (behind == changes_.begin()) return std::nullopt;
  return std::prev(behind)->second;
}

std::unique_ptr<Sink> make_record_sink(const RecordedValue& value, const FrameSelection& selection,
                                       Placements& placements) {
  return std::make_unique<RecordSink>(value, selection, placements);
}

}  // namespace contorno
