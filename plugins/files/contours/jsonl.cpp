// Contours as JSON lines: one object a frame, one frame a line; and one for each record of an object. The
// file has its name from the start, so that it can be followed while it grows; whatever happens, it ends with
// a complete line.
#include <fmt/format.h>

#include "base/error.h"
#include "plugins/files/contours/contour_line_writer.h"
#include "plugins/files/contours/writer.h"
#include "plugins/files/shared/output_register.h"

namespace contorno {
namespace {

struct JsonlParams {
  std::string path;
  Coordinates coordinates = Coordinates::Frame;
  bool skip_hidden = false;
  bool totals = false;
  std::string camera;
};

class JsonlSink final : public Sink {
 public:
  explicit JsonlSink(const JsonlParams& params, Completion completion = Completion::InPlace)
      : params_(params),
        completion_(completion),
        lines_({params.coordinates, params.skip_hidden, params.totals, params.camera}) {}

  void open(const SinkContext& context) override {
    lines_.open(context);
    if (file_.is_open()) return;  // another format, the same file
    file_ = params_.path == "-" ? OutputFile::standard_output(context.patience)
                                : open_output(context, params_.path, completion_);
  }

  void write(const FrameInfo& info, const Value& value) override {
    file_.write(lines_.line(info, std::get<ContoursView>(value)));
    ++frames_;
  }

  void write_objects(const FinishedObjects& objects) override {
    for (const ObjectRecord& record : objects.records) {
      file_.write(lines_.line(objects, record));
      ++objects_;
    }
  }

  void finish() override { file_.complete(); }
  std::string summary() const override {
    return fmt::format("{} ({} frames{})", file_.path().string(), frames_,
                       objects_ > 0 ? fmt::format(", {} objects", objects_) : "");
  }
  std::vector<ClassTotals> totals() const override { return lines_.totals(); }

 private:
  JsonlParams params_;
  Completion completion_;
  ContourLineWriter lines_;
  OutputFile file_;
  std::uint64_t frames_ = 0, objects_ = 0;
};

}  // namespace

std::unique_ptr<Sink> make_whole_jsonl(const std::string& path) {
  return std::make_unique<JsonlSink>(JsonlParams{.path = path, .coordinates = Coordinates::Map},
                                     Completion::Rename);
}

const SinkType& contour_jsonl_sink() {
  static const SinkType type = [] {
    ParamList<JsonlParams> list;
    list.required_text("path", &JsonlParams::path,
                       "File to write, below the output folder; - is standard output.");
    list.choice("coordinates", &JsonlParams::coordinates, coordinate_words(),
                "Whether points are counted in pixels of the frame or samples of the map.");
    list.flag("skip_hidden", &JsonlParams::skip_hidden, kSkipHiddenSentence);
    list.flag("totals", &JsonlParams::totals,
              "Adds the totals of each class in the frame: contours, area, perimeter, share of the whole and "
              "mean of "
              "the map; the report of the run has those of all frames.");
    list.text("camera", &JsonlParams::camera,
              "Name of the camera in every line; empty is none. A graph with sources gives each its own.");
    return SinkType{
        .name = "jsonl",
        .summary = "Writes contours with their measures as JSON lines, one line a frame.",
        .input = PortType::Contours,
        .params = declare(std::move(list),
                          [](const JsonlParams& params, const ParamTrial& trial) {
                            if (params.path != "-") try_output_path(trial, params.path, PathUse::Literal);
                          }),
        .example = "sinks:\n  - type: jsonl\n    path: contours.jsonl\n",
        .make = [](const ParamSet& params) -> std::unique_ptr<Sink> {
          return std::make_unique<JsonlSink>(params.as<JsonlParams>());
        },
    };
  }();
  return type;
}

}  // namespace contorno
