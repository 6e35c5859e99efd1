#include "tools/replay/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "config/describe.h"
#include "cuda/error.h"
#include "pipeline/shared/printable.h"
#include "plugins/files/contours/writer.h"
#include "plugins/files/shared/output_register.h"
#include "tools/checksum.h"

namespace contorno {
namespace {

constexpr std::string_view kFrames = "frames", kFailed = ".failed";

std::string_view extension_of(PortType type) {
  return type == PortType::Contours ? ".jsonl" : ".crc";
}

PortType type_of(const GraphSpec& graph, const Origin& origin) {
  if (origin.node == Origin::kSource) return PortType::Image;
  return graph.nodes[static_cast<std::size_t>(origin.node)]
      .type->outputs[static_cast<std::size_t>(origin.port)]
      .type;
}

/// Of a file that a run, killed perhaps, has not completed: NAME.part<process>-<number>.
bool is_temporary(std::string_view name) {
  const std::size_t at = name.rfind(".part");
  return at != std::string_view::npos && at + 5 < name.size() &&
         name.find_first_not_of("0123456789-", at + 5) == std::string_view::npos;
}

class RecordSink final : public Sink {
 public:
  RecordSink(RecordedValue value, const FrameSelection& selection)
      : value_(std::move(value)), selection_(selection) {}

  void open(const SinkContext& context) override { context_ = context; }

  void write(const FrameInfo& info, const Value& value) override {
    FrameInfo placed = info;
    placed.number = selection_.place_of(info.number);
    placed.pts_ns = 0;  // sources without times of their own count from the first frame that is taken
    const std::string path = value_file(placed.number, value_).string();
    std::error_code ignored;
    std::filesystem::remove(std::filesystem::path(context_.output_root) / failure_file(placed.number),
                            ignored);
    if (const auto* image = std::get_if<ImageView>(&value)) {
      OutputFile file = open_output(context_, path, Completion::Rename);
      file.write(fmt::format("{:08x} {}\n", checksum(*image), describe(Format(image->format))));
      file.complete();
    } else {
      const std::unique_ptr<Sink> sink = make_whole_jsonl(path);
      sink->open(context_);
      sink->write(placed, value);
      sink->finish();
    }
  }

  void finish() override {}

 private:
  RecordedValue value_;
  FrameSelection selection_;
  SinkContext context_;
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
  return std::filesystem::path(kFrames) /
         fmt::format("{}.{}{}", place_text(place), value.name, extension_of(value.type));
}

std::filesystem::path failure_file(std::uint64_t place) {
  return std::filesystem::path(kFrames) / fmt::format("{}{}", place_text(place), kFailed);
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
    std::uint64_t place = 0;
    const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), place);
    if (fault != std::errc() || end == name.data() + name.size() || *end != '.')
      throw Error(ExitCode::BadData, fmt::format("{}: no file of a record: its name does not begin with the "
                                                 "place of a frame, as in '00000017.overlay.image.crc'",
                                                 printable(file.path().string())));
    places.push_back(place);
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

std::unique_ptr<Sink> make_record_sink(const RecordedValue& value, const FrameSelection& selection) {
  return std::make_unique<RecordSink>(value, selection);
}

}  // namespace contorno
