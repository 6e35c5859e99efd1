// Contours as JSON lines: one object a frame, one frame a line. The file has its name from the start, so that
// it can be followed while it grows; whatever happens, it ends with a complete line.
#include <fmt/format.h>

#include "cuda/error.h"
#include "plugins/files/contours/text_buffer.h"
#include "plugins/files/contours/totals.h"
#include "plugins/files/shared/output_register.h"

namespace contorno {
namespace {

struct JsonlParams {
  std::string path;
  Coordinates coordinates = Coordinates::Frame;
  bool skip_hidden = false;
  bool totals = false;
};

class JsonlSink final : public Sink {
 public:
  explicit JsonlSink(const JsonlParams& params, Completion completion = Completion::InPlace)
      : params_(params), completion_(completion) {}

  void open(const SinkContext& context) override {
    placer_.open(context, params_.coordinates);
    totals_.open(placer_.classes());
    if (file_.is_open()) return;  // another format, the same file
    file_ = params_.path == "-" ? OutputFile::standard_output(context.patience)
                                : open_output(context, params_.path, completion_);
  }

  void write(const FrameInfo& info, const Value& value) override {
    const auto& view = std::get<ContoursView>(value);
    const std::span<const ContourMeasures> measures = measure_frame(view, placer_, measures_);
    if (params_.totals) totals_.add_frame(view, measures);
    text_.clear();
    text_ << R"({"frame":)" << info.number;
    if (!info.name.empty()) (text_ << R"(,"name":)").json(info.name);
    text_ << R"(,"pts_ns":)" << info.pts_ns << R"(,"width":)" << placer_.width() << R"(,"height":)"
          << placer_.height() << R"(,"classes":[)";
    bool first = true;
    for (std::size_t k = 0; k < static_cast<std::size_t>(view.format.classes); ++k) {
      if (!is_written(k)) continue;
      if (!first) text_ << ',';
      first = false;
      write_class(view, k, measures);
    }
    text_ << "]}\n";
    file_.write(text_.view());
    ++frames_;
  }

  void finish() override { file_.complete(); }
  std::string summary() const override {
    return fmt::format("{} ({} frames)", file_.path().string(), frames_);
  }
  std::vector<ClassTotals> totals() const override {
    std::vector<ClassTotals> written;
    for (std::size_t k = 0; params_.totals && k < placer_.classes().size(); ++k)
      if (is_written(k)) written.push_back(totals_.running(k));
    return written;
  }

 private:
  bool is_written(std::size_t k) const { return !params_.skip_hidden || !placer_.classes()[k].hidden; }

  void write_class(const ContoursView& view, std::size_t k, std::span<const ContourMeasures> measures) {
    const ClassSpec& spec = placer_.classes()[k];
    (text_ << R"({"name":)").json(spec.name) << R"(,"level":)" << spec.level;
    if (params_.totals) write_totals(totals_.of_frame(k));
    text_ << R"(,"contours":[)";
    for (std::uint32_t i = view.class_begin[k]; i < view.class_begin[k + 1]; ++i) {
      if (i > view.class_begin[k]) text_ << ',';
      write_contour(view, i, measures[i]);
    }
    text_ << "]}";
  }

  void write_totals(const ClassTotals& totals) {
    const auto or_null = [&](const std::optional<double>& value) {
      value ? text_ << *value : text_ << "null";
    };
    text_ << R"(,"totals":{"contours":)" << totals.contours << R"(,"area":)" << totals.area
          << R"(,"perimeter":)" << totals.perimeter << R"(,"share":)";
    or_null(totals.share);
    text_ << R"(,"mean":)";
    or_null(totals.mean);
    text_ << '}';
  }

  void write_contour(const ContoursView& view, std::uint32_t index, const ContourMeasures& m) {
    const std::span<const Point> points = placer_.points(view, index);
    text_ << (view.closed[index] != 0 ? R"({"closed":true,"area":)" : R"({"closed":false,"area":)") << m.area
          << R"(,"length":)" << m.length << R"(,"bbox":[)" << m.x << ',' << m.y << ',' << m.width << ','
          << m.height << R"(],"centroid":[)" << m.centroid_x << ',' << m.centroid_y << ']';
    write_attributes(text_, view, index);
    text_ << R"(,"points":[)";
    for (const Point& point : points) text_ << '[' << point.col << ',' << point.row << "],";
    if (!points.empty()) text_.drop_last();
    text_ << "]}";
  }

  JsonlParams params_;
  Completion completion_;
  ContourPlacer placer_;
  TotalsCounter totals_;
  std::vector<ContourMeasures> measures_;
  TextBuffer text_;
  OutputFile file_;
  std::uint64_t frames_ = 0;
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
