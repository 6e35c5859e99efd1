#include "tools/apply_contours.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "config/options.h"
#include "pipeline/shared/clock.h"
#include "pipeline/shared/printable.h"
#include "pipeline/value/copy_contours.h"
#include "plugins/files/contours/writer.h"
#include "plugins/files/shared/file_names.h"

namespace contorno {

namespace fs = std::filesystem;

namespace {
[[noreturn]] void refuse_other_frames(const std::string& path, std::string_view of) {
  throw Error(ExitCode::BadData,
              fmt::format("'{}' has several frames, wanted the one of the {}", printable(path), of));
}
}  // namespace

ContourFrame load_only_frame(const std::string& path) {
  const auto lines = open_contours(path);
  ContourFrame frame, other;
  if (!lines->next(frame))
    throw Error(ExitCode::BadData, fmt::format("'{}' has no frame, wanted one", printable(path)));
  if (lines->next(other)) refuse_other_frames(path, "picture");
  for (std::size_t k = 0; k < frame.classes.size(); ++k) frame.classes[k].colour = config::class_colour(k);
  return frame;
}

namespace {
/// A sink that writes this file in coordinates of the map.
std::unique_ptr<Sink> make_on_map(const SinkType& type, const std::string& file) {
  ParamSet params(type.params);
  params.set("path", file);
  params.set("coordinates", std::string("map"));
  return type.make(params);
}
}  // namespace

ContourFile::ContourFile(const std::string& path, OutputRegister& files, const std::string& owner) {
  const fs::path file = path;
  const std::string extension = lower_extension(path);
  if (extension == ".jsonl")
    sink_ = make_whole_jsonl(file.filename().string());
  else if (extension == ".geojson")
    sink_ = make_on_map(contour_geojson_sink(), file.filename().string());
  else if (extension == ".json")
    sink_ = make_on_map(contour_coco_sink(), file.filename().string()), one_list_of_classes_ = true;
  else
    throw Error(
        ExitCode::BadOption,
        fmt::format("{}: '{}' would be contours, which are written as .jsonl, .geojson or .json (COCO)",
                    owner, path));
  context_.output_root = file.has_parent_path() ? file.parent_path().string() : ".";
  context_.owner = owner;
  context_.outputs = &files;
}

void ContourFile::write(const ContourFrame& from, const ContoursView& contours) {
  // Classes and sides may be other ones in every line; a COCO file has its categories once.
  const auto is_same = [](const ClassSpec& a, const ClassSpec& b) {
    return a.name == b.name && a.level == b.level && a.levels == b.levels;
  };
  if (open_ && one_list_of_classes_ && !std::ranges::equal(from.classes, classes_, is_same))
    throw Error(ExitCode::BadData, fmt::format("frame {} has other classes than the first one, and a COCO "
                                               "file has one list of them; write .jsonl or .geojson",
                                               from.info.number));
  if (!open_) classes_ = from.classes;
  context_.format = contours.format;
  context_.classes = from.classes;
  sink_->open(context_);
  open_ = true;
  sink_->write(from.info, contours);
}

void ContourFile::finish() {
  if (open_) sink_->finish();
}

std::int64_t apply_to(AppliedStage& stage, std::span<const Value> values) {
  std::vector<Format> formats;
  for (const Value& value : values)
    formats.push_back(std::visit([](const auto& view) -> Format { return view.format; }, value));
  stage.plan(formats);
  for (std::size_t port = 0; port < values.size(); ++port) {
    if (const auto* image = std::get_if<ImageView>(&values[port]))
      copy_image(*image, stage.image_input(port));
    if (const auto* contours = std::get_if<ContoursView>(&values[port]))
      copy_contours(*contours, std::get<ContoursView>(stage.input(port)));
  }
  const std::int64_t begin = now_ns();
  stage.run();
  return now_ns() - begin;
}

ApplyTime apply_to_file(const ContoursApplication& what, const std::string& input, const std::string& output,
                        OutputRegister& files) {
  const auto lines = open_contours(input);
  ContourFile out(output, files, "OUT");
  AppliedStage stage(what.type, what.params, what.backend, what.threads, {}, what.text);
  ContourFrame frame;
  ApplyTime time{.backend = stage.backend()};
  for (; lines->next(frame); ++time.frames) {
    if (time.frames > 0 && !what.images.empty()) refuse_other_frames(input, what.type.inputs[1].name);
    std::vector<Value> values{frame.view};
    values.insert(values.end(), what.images.begin(), what.images.end());
    stage.set_frame(frame.info.number);
    time.ns += apply_to(stage, values);
    out.write(frame, std::get<ContoursView>(stage.output(0)));
  }
  if (time.frames == 0) throw Error(ExitCode::BadData, fmt::format("'{}' has no frame", printable(input)));
  out.finish();
  return time;
}

}  // namespace contorno
