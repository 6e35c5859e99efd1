// Contours as GeoJSON: polygons with their holes, lines where a contour is open. Coordinates are those of the
// image, in px; y points down. One file for all frames, or one a frame when the path has a placeholder.
#include <fmt/format.h>

#include "plugins/files/contours/object_text.h"
#include "plugins/files/contours/regions.h"
#include "plugins/files/contours/text_buffer.h"
#include "plugins/files/shared/frame_files.h"

namespace contorno {
namespace {

struct GeojsonParams {
  std::string path;
  Coordinates coordinates = Coordinates::Frame;
  bool skip_hidden = false;
};

class GeojsonSink final : public Sink {
 public:
  explicit GeojsonSink(const GeojsonParams& params) : params_(params), files_(PathPattern(params.path)) {}

  void open(const SinkContext& context) override {
    placer_.open(context, params_.coordinates);
    if (one_a_frame()) {
      files_.open(context);
    } else if (!file_.is_open()) {
      begin_file(open_output(context, files_.pattern().format(0, {}), Completion::Rename));
    }
  }

  void write(const FrameInfo& info, const Value& value) override {
    if (one_a_frame()) begin_file(files_.begin(info));
    const auto& view = std::get<ContoursView>(value);
    for (std::size_t k = 0; k < static_cast<std::size_t>(view.format.classes); ++k) {
      const ClassSpec& spec = placer_.classes()[k];
      if (params_.skip_hidden && spec.hidden) continue;
      text_.clear();
      sorter_.sort(view, k, placer_, OpenContours::Keep);
      for (std::size_t i = 0; i < sorter_.outers().size(); ++i) write_region(info, view, spec, i);
      for (const RegionSorter::Line& line : sorter_.lines()) write_line(info, view, spec, line);
      file_.write(text_.view());
    }
    ++frames_;
    if (one_a_frame()) {
      end_file();
      files_.written(file_);
    }
  }

  /// Features without a place (RFC 7946, section 3.2). Files of single frames have none.
  void write_objects(const FinishedObjects& objects) override {
    if (one_a_frame()) return;
    text_.clear();
    for (const ObjectRecord& record : objects.records) {
      text_ << (first_ ? "\n" : ",\n") << R"({"type":"Feature","properties":{)";
      write_record(text_, objects, record);
      text_ << R"(},"geometry":null})";
      first_ = false;
      ++features_;
    }
    file_.write(text_.view());
  }

  void finish() override {
    // The file of a frame that is still open could not be completed.
    if (one_a_frame())
      file_.abandon();
    else if (file_.is_open())
      end_file();
    files_.finish();
  }
  std::string summary() const override {
    if (one_a_frame() && frames_ == 0) return {};
    if (one_a_frame() && frames_ > 1)
      return fmt::format("{} ({} features)", files_.summary("files"), features_);
    return fmt::format("{} ({} frames, {} features)", file_.path().string(), frames_, features_);
  }

 private:
  bool one_a_frame() const { return files_.pattern().varies(); }
  void begin_file(OutputFile file) {
    file_ = std::move(file);
    file_.write("{\"type\":\"FeatureCollection\",\"features\":[");
    first_ = true;
  }
  void end_file() {
    file_.write("\n]}\n");
    file_.complete();
  }

  void begin_feature(const FrameInfo& info, const ContoursView& view, const ClassSpec& spec,
                     std::uint32_t contour, double area, double length) {
    const double* const levels = view.column(Attribute::Level);
    text_ << (first_ ? "\n" : ",\n") << R"({"type":"Feature","properties":{"frame":)" << info.number
          << R"(,"pts_ns":)" << info.pts_ns;
    if (!info.name.empty()) (text_ << R"(,"name":)").json(info.name);
    (text_ << R"(,"class":)").json(spec.name)
        << R"(,"level":)" << (levels != nullptr ? levels[contour] : spec.level) << R"(,"width":)"
        << placer_.width() << R"(,"height":)" << placer_.height() << R"(,"area":)" << area << R"(,"length":)"
        << length;
    first_ = false;
    ++features_;
  }
  void write_positions(std::span<const Point> points) {
    text_ << '[';
    for (const Point& point : points) text_ << '[' << point.col << ',' << point.row << "],";
    text_.drop_last();
    text_ << ']';
  }

  /// The outer ring has positive area in these coordinates and holes negative: as RFC 7946 wants them.
  void write_region(const FrameInfo& info, const ContoursView& view, const ClassSpec& spec,
                    std::size_t index) {
    const RegionSorter::Ring& outer = sorter_.outers()[index];
    double area = outer.measures.area, length = outer.measures.length;
    for (const RegionSorter::Ring& hole : sorter_.holes_of(index)) {
      area += hole.measures.area;
      length += hole.measures.length;
    }
    begin_feature(info, view, spec, outer.contour, area, length);
    write_attributes(text_, view, outer.contour, placer_);
    text_ << R"(},"geometry":{"type":"Polygon","coordinates":[)";
    write_positions(outer.points);
    for (const RegionSorter::Ring& hole : sorter_.holes_of(index)) {
      text_ << ',';
      write_positions(hole.points);
    }
    text_ << "]}}";
  }

  void write_line(const FrameInfo& info, const ContoursView& view, const ClassSpec& spec,
                  const RegionSorter::Line& line) {
    if (line.points.empty()) return;
    begin_feature(info, view, spec, line.contour, line.measures.area, line.measures.length);
    write_attributes(text_, view, line.contour, placer_);
    text_ << (line.closed ? R"(,"closed":true)" : R"(,"closed":false)")
          << R"(},"geometry":{"type":"LineString","coordinates":)";
    write_positions(line.points);
    text_ << "}}";
  }

  GeojsonParams params_;
  FrameFiles files_;
  ContourPlacer placer_;
  RegionSorter sorter_;
  TextBuffer text_;
  OutputFile file_;
  bool first_ = true;
  std::uint64_t frames_ = 0, features_ = 0;
};

}  // namespace

const SinkType& contour_geojson_sink() {
  static const SinkType type = [] {
    ParamList<GeojsonParams> list;
    list.required_text("path", &GeojsonParams::path,
                       "File to write, below the output folder; with {frame:06} or {name} one a frame.");
    list.choice("coordinates", &GeojsonParams::coordinates, coordinate_words(),
                "Whether points are counted in pixels of the frame or samples of the map.");
    list.flag("skip_hidden", &GeojsonParams::skip_hidden, kSkipHiddenSentence);
    return SinkType{
        .name = "geojson",
        .summary = "Writes regions with their holes as GeoJSON polygons, and open contours as lines.",
        .input = PortType::Contours,
        .params = declare(std::move(list),
                          [](const GeojsonParams& params, const ParamTrial& trial) {
                            try_output_path(trial, params.path, PathUse::Pattern);
                          }),
        .example = "sinks:\n  - type: geojson\n    path: geojson/{frame:06}.geojson\n",
        .make = [](const ParamSet& params) -> std::unique_ptr<Sink> {
          return std::make_unique<GeojsonSink>(params.as<GeojsonParams>());
        },
    };
  }();
  return type;
}

}  // namespace contorno
