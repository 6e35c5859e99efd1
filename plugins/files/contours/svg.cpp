// Contours as SVG, one file a frame: a path a class for closed contours, filled by the even-odd rule so that
// holes stay open, and one for open contours. Sample centres are at integers, so the picture begins at -0.5.
#include <fmt/format.h>

#include "base/error.h"
#include "plugins/files/contours/text_buffer.h"
#include "plugins/files/contours/writer.h"
#include "plugins/files/shared/frame_files.h"

namespace contorno {
namespace {

struct SvgParams {
  std::string path;
  Coordinates coordinates = Coordinates::Frame;
  double line_width = 1.5;
};

PathPattern varying_pattern(const std::string& path) {
  PathPattern pattern(path);
  if (pattern.varies()) return pattern;
  throw Error(
      ExitCode::BadOption,
      fmt::format("path '{}' is the same for every frame, allowed is one with {{frame}}, {{frame:06}} or "
                  "{{name}}",
                  path));
}

class SvgSink final : public Sink {
 public:
  explicit SvgSink(const SvgParams& params) : params_(params), files_(varying_pattern(params.path)) {}

  void open(const SinkContext& context) override {
    placer_.open(context, params_.coordinates);
    files_.open(context);
  }

  void write(const FrameInfo& info, const Value& value) override {
    const auto& view = std::get<ContoursView>(value);
    text_.clear();
    begin_picture(info);
    for (std::size_t k = 0; k < static_cast<std::size_t>(view.format.classes); ++k) {
      const ClassSpec& spec = placer_.classes()[k];
      if (spec.hidden) continue;
      write_path(view, k, spec, Closure::Closed);
      write_path(view, k, spec, Closure::Open);
    }
    text_ << "</svg>\n";
    OutputFile file = files_.begin(info);
    file.write(text_.view());
    file.complete();
    files_.written(file);
  }

  void finish() override { files_.finish(); }
  std::string summary() const override { return files_.summary("files"); }

 private:
  void begin_picture(const FrameInfo& info) {
    const int width = placer_.width(), height = placer_.height();
    text_ << R"(<svg xmlns="http://www.w3.org/2000/svg" width=")" << width << R"(" height=")" << height
          << R"(" viewBox="-0.5 -0.5 )" << width << ' ' << height << "\">\n<title>frame " << info.number;
    if (!info.name.empty()) (text_ << ": ").xml(info.name);
    text_ << "</title>\n";
  }

  void write_path(const ContoursView& view, std::size_t k, const ClassSpec& spec, Closure closure) {
    bool first = true;
    for (std::uint32_t i = view.class_begin[k]; i < view.class_begin[k + 1]; ++i) {
      if ((view.closed[i] != 0) != (closure == Closure::Closed)) continue;
      if (first) begin_path(spec, closure);
      first = false;
      write_contour(placer_.points(view, i), closure);
    }
    if (!first) (text_ << "\"><title>").xml(spec.name) << "</title></path>\n";
  }

  void begin_path(const ClassSpec& spec, Closure closure) {
    const Colour& c = spec.colour;
    const std::string colour = to_text(Colour{c.red, c.green, c.blue, 255});
    const bool filled = closure == Closure::Closed && spec.fill > 0;
    text_ << "<path fill=\"" << (filled ? colour : "none") << '"';
    if (filled) text_ << " fill-rule=\"evenodd\" fill-opacity=\"" << spec.fill << '"';
    text_ << " stroke=\"" << colour << "\" stroke-width=\""
          << (spec.line_width > 0 ? spec.line_width : params_.line_width) << '"';
    if (c.alpha != 255) text_ << " stroke-opacity=\"" << c.alpha / 255.0 << '"';
    text_ << " stroke-linejoin=\"round\" d=\"";
  }

  /// A point that is not a number interrupts the line.
  void write_contour(std::span<const Point> points, Closure closure) {
    bool pen_down = false, whole = true;
    const std::size_t count = points.size() - (closure == Closure::Closed && points.size() > 1 ? 1 : 0);
    for (std::size_t i = 0; i < count; ++i) {
      if (!std::isfinite(points[i].col) || !std::isfinite(points[i].row)) {
        pen_down = whole = false;
        continue;
      }
      text_ << (pen_down ? 'L' : 'M') << points[i].col << ' ' << points[i].row;
      pen_down = true;
    }
    if (closure == Closure::Closed && whole) text_ << 'Z';
  }

  SvgParams params_;
  FrameFiles files_;
  ContourPlacer placer_;
  TextBuffer text_;
};

}  // namespace

const SinkType& contour_svg_sink() {
  static const SinkType type = [] {
    ParamList<SvgParams> list;
    list.required_text("path", &SvgParams::path,
                       "File a frame, below the output folder, with {frame:06} or {name} in it.");
    list.choice("coordinates", &SvgParams::coordinates, coordinate_words(),
                "Whether points are counted in pixels of the frame or samples of the map.");
    list.number("line_width", &SvgParams::line_width, 0.01, 1000, Unit::Pixels,
                "Width of lines of classes that give none.");
    return SinkType{
        .name = "svg",
        .summary = "Draws contours as SVG in the colours of their classes, one file a frame.",
        .input = PortType::Contours,
        .params = declare(std::move(list),
                          [](const SvgParams& params, const ParamTrial& trial) {
                            if (trial.run("path", [&] { varying_pattern(params.path); }))
                              try_output_path(trial, params.path, PathUse::Pattern);
                          }),
        .example = "sinks:\n  - type: svg\n    path: svg/{frame:06}.svg\n",
        .make = [](const ParamSet& params) -> std::unique_ptr<Sink> {
          return std::make_unique<SvgSink>(params.as<SvgParams>());
        },
    };
  }();
  return type;
}

}  // namespace contorno
