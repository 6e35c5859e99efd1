// A catalogue of stage, source and sink types that do nothing, and graphs loaded with it: what the tests of
// config/ share.
#pragma once

#include <doctest/doctest.h>

#include "config/load.h"
#include "tests/source_folder.h"

namespace contorno::test {

struct ResizeParams {
  std::vector<double> resize{640, 360};
  double sigma = 1.5;
  bool grey = false;
  std::int64_t rounds = 3;
  std::string edge = "clamp";
  Colour background{0, 0, 0, 255};
  std::string note;
  std::vector<double> weights;
  SharedMask stamp;
};
struct NoParams {};
struct ContoursParams {
  int min_points = 0;
};
struct FileParams {
  std::string path;
  int precision = 6;
};

inline ParamDeclaration resize_params() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  ParamList<ResizeParams> list;
  list.numbers("resize", &ResizeParams::resize, 2, 2, 1, 65536, Unit::Pixels, "Width and height.")
      .number("sigma", &ResizeParams::sigma, 0, 50, Unit::Pixels, "Standard deviation of the Gaussian.")
      .flag("grey", &ResizeParams::grey, "Whether colours are dropped.")
      .integer("rounds", &ResizeParams::rounds, 1, 100, Unit::None, "How often.")
      .choice("edge", &ResizeParams::edge, {{"clamp", "clamp"}, {"wrap", "wrap"}, {"clip", "clamp"}},
              "What lies outside.")
      .colour("background", &ResizeParams::background, "Colour of what lies outside.")
      .text("note", &ResizeParams::note, "Any text.")
      .numbers("weights", &ResizeParams::weights, 0, 3, -kInfinity, kInfinity, Unit::None, "Any numbers.")
      .mask("stamp", &ResizeParams::stamp, "A small image.");
  return declare(std::move(list));
}
inline ParamDeclaration file_params(const char* key) {
  ParamList<FileParams> list;
  list.required_text(key, &FileParams::path, "Where the file is.")
      .integer("precision", &FileParams::precision, 1, 17, Unit::None, "Digits.");
  return declare(std::move(list),
                 [key = std::string(key)](const FileParams& params, const ParamTrial& trial) {
                   if (params.path.starts_with("{day}"))
                     trial.refuse(key, ExitCode::Unavailable,
                                  "jsonl: " + params.path + " cannot be written in " + trial.output_root());
                 });
}
inline ParamDeclaration no_params() {
  return declare(ParamList<NoParams>());
}
inline ParamDeclaration contours_params() {
  ParamList<ContoursParams> list;
  list.integer("min_points", &ContoursParams::min_points, 0, 100, Unit::None, "Fewest points.");
  return declare(std::move(list));
}

/// Every text but "none.npy" is a mask of one pixel, as high as the text is long.
inline SharedMask read_fake_mask(const std::string& text) {
  if (text == "none.npy") throw Error(ExitCode::MissingInput, "'none.npy' does not exist");
  return std::make_shared<Mask>(Mask{
      .width = 1, .height = 1, .values = {static_cast<double>(text.size())}, .text = text, .file = text});
}

/// source: video. stages: preprocess, classify, contours, overlay. sinks: jsonl, video_file.
inline const Catalog& fake_catalog() {
  using enum PortType;
  static const SourceType video{.name = "video",
                                .summary = "Frames of a recorded video.",
                                .params = file_params("location"),
                                .input_param = "location",
                                .example = "source: {type: video, location: in.mp4}"};
  static const StageType preprocess{.name = "preprocess",
                                    .summary = "Resizes and converts frames.",
                                    .inputs = {{"image", Image, "What is resized.", From::FrameOrMaps}},
                                    .outputs = {{"image", Image, "The resized image."}},
                                    .params = resize_params(),
                                    .example = "- type: preprocess\n  resize: [640, 360]"};
  static const StageType classify{.name = "classify",
                                  .summary = "Makes class maps of a frame.",
                                  .inputs = {{"image", Image, "A colour frame.", From::FrameOrMaps}},
                                  .outputs = {{"maps", Image, "One map a class."}},
                                  .params = no_params(),
                                  .example = "- type: classify",
                                  .classes = ClassUse::Needed};
  static const StageType contours{.name = "contours",
                                  .summary = "Finds where the maps cross the levels.",
                                  .inputs = {{"maps", Image, "Class maps.", From::MapsOrFrame}},
                                  .outputs = {{"contours", Contours, "Contours."}},
                                  .params = contours_params(),
                                  .example = "- type: contours",
                                  .classes = ClassUse::Needed,
                                  .parts = {{"marching_squares", "Marks the crossings of every class."},
                                            {"contour_assembly", "Links crossings to contours."}}};
  static const StageType overlay{.name = "overlay",
                                 .summary = "Draws contours on the frame.",
                                 .inputs = {{"frame", Image, "What is drawn on.", From::Frame},
                                            {"contours", Contours, "What is drawn."}},
                                 .outputs = {{"frame", Image, "The frame with its contours."}},
                                 .params = resize_params(),
                                 .example = "- type: overlay",
                                 .classes = ClassUse::Needed};
  static const SinkType jsonl{.name = "jsonl",
                              .summary = "Contours as JSON lines.",
                              .input = Contours,
                              .params = file_params("path"),
                              .example = "- {type: jsonl, path: contours.jsonl}"};
  static const SinkType video_file{.name = "video_file",
                                   .summary = "Frames as a video.",
                                   .input = Image,
                                   .params = file_params("path"),
                                   .example = "- {type: video_file, path: overlay.mkv}"};
  static const Catalog catalog{.stages = {&preprocess, &classify, &contours, &overlay},
                               .sources = {&video},
                               .sinks = {&jsonl, &video_file},
                               .read_mask = &read_fake_mask};
  return catalog;
}

/// The folder of the graphs that are read, with a slash.
inline const std::string kGraphs = (source_folder() / "tests/data/config/").string();

/// A source with a file and a class, to write stages behind.
inline const std::string kHead = "source: {type: video, location: a.mp4}\nclasses: [{name: rot}]\n";

inline GraphSpec load(const std::string& text, const config::LoadOptions& options = {}) {
  return config::load_graph_text(text, "graph.yaml", fake_catalog(), options);
}

/// The report for a graph that must be refused with `code`; empty when it was not.
inline std::string report(const std::string& text, const config::LoadOptions& options = {},
                          ExitCode code = ExitCode::BadConfig) {
  try {
    load(text, options);
    return {};
  } catch (const config::ConfigErrors& errors) {
    CHECK(errors.code() == code);
    CHECK(errors.count() > 0);
    return errors.what();
  }
}

}  // namespace contorno::test
