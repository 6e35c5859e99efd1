#include "tools/learn/graph.h"

#include <fmt/format.h>

#include <filesystem>

#include "config/yaml_text.h"
#include "tools/learn/frames.h"

namespace contorno {
namespace {

std::string class_text(const LearnedClass& one) {
  std::string list;
  for (const Colour& colour : one.references)
    list += fmt::format("{}\"#{:02x}{:02x}{:02x}\"", list.empty() ? "" : ", ", colour.red, colour.green,
                        colour.blue);
  return fmt::format("  - name: {}  # {} %\n{}    references: [{}]\n", config::yaml_text(one.name),
                     percent_text(one.share), one.hidden ? "    hidden: true\n" : "", list);
}

/// A legend would hide much of a smaller frame.
constexpr int kLegendWidth = 320;

constexpr const char* kStages = R"(
stages:
  - type: classify
    lightness: {:.3g}
    softness: {:.3f}
    rest: 0               # every pixel belongs to some class
    smooth: 2
  - type: marching_squares
  - type: contour_assembly
    min_points: 20
  - type: overlay
    legend: {}

sinks:
  - {{type: {}}}
  - {{type: jsonl, path: contours.jsonl}}
)";

}  // namespace

std::string graph_text(const LearnedGraph& graph) {
  namespace fs = std::filesystem;
  const std::string_view source = example_source_name(graph.location);
  std::string text = fmt::format(
      "# Proposed by {}\n"
      "# Look at the pictures beside it, rename and regroup the references, then run\n"
      "#   contorno run {} --output .\n"
      "source: {{type: {}, location: {}}}\n\n"
      "# Each class is the set of colours near its references; the share is that of the pixels that were "
      "seen.\n"
      "classes:\n",
      graph.how, config::yaml_text(fs::path(graph.file).filename().string()), source,
      config::yaml_text(graph.location.find("://") != std::string::npos
                            ? graph.location
                            : fs::absolute(graph.location).lexically_normal().string()));
  for (const LearnedClass& one : graph.learned.classes) text += class_text(one);
  return text + fmt::format(
                    kStages, graph.lightness, graph.learned.softness,
                    graph.frame_width < kLegendWidth ? "none" : "top_left",
                    source == "video" ? "video, path: overlay.webm" : "images, path: \"overlay/{name}.png\"");
}

}  // namespace contorno
