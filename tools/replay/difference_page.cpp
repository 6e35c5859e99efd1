#include "tools/replay/difference_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "plugins/files/contours/text_buffer.h"
#include "tools/replay/frame_pictures.h"

namespace contorno {
namespace {

/// Which contours of a frame are drawn how.
struct Layer {
  const ContourFrame* frame;
  std::vector<bool> changed;
  const char* style;  ///< style of the lines that changed
};

void draw_path(TextBuffer& text, std::span<const Point> points, bool closed, const char* style) {
  if (points.empty()) return;
  text << R"(<path class=")" << style << R"(" d="M)";
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i > 0) text << 'L';
    text << points[i].col << ' ' << points[i].row;
  }
  text << (closed ? R"(Z"/>)" : R"("/>)");
}

void draw_layer(TextBuffer& text, const Layer& layer, bool changed) {
  const ContoursView& view = layer.frame->view;
  for (std::uint32_t i = 0; i < view.counts->contours; ++i)
    if (layer.changed[i] == changed)
      draw_path(text, view.contour(i), view.closed[i] != 0, changed ? layer.style : "same");
}

/// What is drawn below contours, and which part of the map's plane the panel shows.
struct Ground {
  std::string id;  ///< of the picture in the page; empty: there is none
  double left = -1, top = -1, width = 0, height = 0;
};

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      text += i + k <= bytes.size() ? kDigits[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

/// The frame in the coordinates of a map; its picture is hidden in the page and used by the panels.
Ground draw_ground(TextBuffer& text, const FramePicture& picture, const Placement& on,
                   const std::string& id) {
  Ground ground{.id = id,
                .left = -on.offset_x / on.scale_x - 0.5,
                .top = -on.offset_y / on.scale_y - 0.5,
                .width = picture.width / on.scale_x,
                .height = picture.height / on.scale_y};
  text << R"(<svg class="hidden"><image id=")" << id << R"(" x=")" << ground.left << R"(" y=")" << ground.top
       << R"(" width=")" << ground.width << R"(" height=")" << ground.height
       << R"(" preserveAspectRatio="none" href="data:image/png;base64,)" << base64(picture.png)
       << "\"/></svg>\n";
  return ground;
}

/// The ground of a picture without a frame: the whole map.
Ground map_ground(std::span<const Layer> layers) {
  int width = 1, height = 1;
  for (const Layer& layer : layers) {
    width = std::max(width, layer.frame->view.format.width);
    height = std::max(height, layer.frame->view.format.height);
  }
  return {.id = {}, .left = -1, .top = -1, .width = width + 1.0, .height = height + 1.0};
}

void draw_panel(TextBuffer& text, const char* caption, const Ground& ground, std::span<const Layer> layers) {
  text << R"(<figure><svg viewBox=")" << ground.left << ' ' << ground.top << ' ' << ground.width << ' '
       << ground.height << R"(">)";
  if (!ground.id.empty()) text << R"(<use href="#)" << ground.id << R"("/>)";
  for (const bool changed : {false, true})
    for (const Layer& layer : layers) draw_layer(text, layer, changed);
  text << "</svg><figcaption>" << caption << "</figcaption></figure>\n";
}

std::vector<bool> changed_before(const ContourFrame& frame, const ContourChanges& changes) {
  std::vector<bool> changed(frame.view.counts->contours);
  for (const std::uint32_t i : changes.lost) changed[i] = true;
  for (const ContourPair& pair : changes.moved) changed[pair.before] = true;
  return changed;
}

std::vector<bool> changed_after(const ContourFrame& frame, const ContourChanges& changes) {
  std::vector<bool> changed(frame.view.counts->contours);
  for (const std::uint32_t j : changes.added) changed[j] = true;
  for (const ContourPair& pair : changes.moved) changed[pair.after] = true;
  return changed;
}

/// `picture` may be null.
void draw_value(TextBuffer& text, const DifferencePage& page, std::uint64_t place, const RecordedValue& value,
                const FramePicture* picture) {
  const std::filesystem::path file = value_file(place, value);
  if (!std::filesystem::exists(page.before / file) || !std::filesystem::exists(page.after / file)) return;
  const ContourFrame was = recorded_contours(page.before, place, value),
                     is = recorded_contours(page.after, place, value);
  const ContourChanges changes = compare_contours(was, is, pairing_reach(page.tolerance));
  const Layer both[] = {{&was, changed_before(was, changes), "before"},
                        {&is, changed_after(is, changes), "after"}};
  Ground ground = map_ground(both);
  const auto placements = page.placements.find(value.name);
  const auto on = placements == page.placements.end() ? std::nullopt : placements->second.at(place);
  if (picture != nullptr && on)
    ground = draw_ground(text, *picture, *on, fmt::format("p{}-{}", place, value.name));
  draw_panel(text, "before", ground, {&both[0], 1});
  draw_panel(text, "after", ground, {&both[1], 1});
  draw_panel(text, "both", ground, both);
}

void write_frame(TextBuffer& text, const DifferencePage& page, const FrameDifference& frame,
                 const FramePicture* picture) {
  text << R"(<h2 id="f)" << frame.place << R"(">frame )" << frame.place << "</h2><p>";
  text.xml(frame.first) << "</p>\n";
  for (const RecordedValue& value : page.values)
    if (value.type == PortType::Contours) draw_value(text, page, frame.place, value, picture);
}

/// What changed in the graph, and which classes differ.
void write_reasons(TextBuffer& text, const RecordDifference& difference) {
  if (!difference.graph.empty()) text << "<p>The graph is another one:</p><ul>\n";
  for (const std::string& sentence : difference.graph) (text << "<li>").xml(sentence) << "</li>\n";
  if (!difference.graph.empty()) text << "</ul>\n";
  if (difference.classes.empty()) return;
  text << "<table><tr><th>class</th><th>frames</th><th>lost</th><th>added</th><th>moved</th>"
          "<th>farthest, px</th><th>of</th></tr>\n";
  for (const auto& [value, changes, frames] : difference.classes) {
    text << "<tr><td>";
    text.xml(changes.name) << "</td><td>" << static_cast<std::uint64_t>(frames) << "</td><td>"
                           << static_cast<std::uint64_t>(changes.lost) << "</td><td>"
                           << static_cast<std::uint64_t>(changes.added) << "</td><td>"
                           << static_cast<std::uint64_t>(changes.moved) << "</td><td>"
                           << fmt::format("{:.3g}", changes.distance) << "</td><td>";
    text.xml(value);
    if (!changes.itself.empty()) (text << "; ").xml(changes.itself);
    text << "</td></tr>\n";
  }
  text << "</table>\n";
}

void write_table(TextBuffer& text, std::span<const FrameDifference* const> frames) {
  text << "<table><tr><th>frame</th><th>lost</th><th>added</th><th>moved</th><th>farthest, px</th>"
          "<th>pictures</th><th>first difference</th></tr>\n";
  for (const FrameDifference* frame : frames) {
    text << R"(<tr><td><a href="#f)" << frame->place << R"(">)" << frame->place << "</a></td><td>"
         << static_cast<std::uint64_t>(frame->lost) << "</td><td>" << static_cast<std::uint64_t>(frame->added)
         << "</td><td>" << static_cast<std::uint64_t>(frame->moved) << "</td><td>"
         << fmt::format("{:.3g}", frame->distance) << "</td><td>"
         << static_cast<std::uint64_t>(frame->pictures) << "</td><td>";
    text.xml(frame->first) << "</td></tr>\n";
  }
  text << "</table>\n";
}

}  // namespace

std::string difference_section(const DifferencePage& page, const RecordDifference& difference) {
  std::vector<const FrameDifference*> worst = difference.worst();
  const std::size_t all = worst.size();
  worst.resize(std::min(all, page.most));
  TextBuffer text;
  text << "<h1>Differences</h1><p>"
       << fmt::format("{} frames: {} same, {} within {} px, {} different.", difference.frames.size(),
                      difference.count(FrameVerdict::Same), difference.count(FrameVerdict::Within),
                      page.tolerance, difference.count(FrameVerdict::Different));
  if (all > worst.size()) text << fmt::format(" The {} worst of {} are shown.", worst.size(), all);
  text << R"(</p><p class="key"><b class="before"></b>changed, before<b class="after"></b>)"
          R"(changed, after<b class="same"></b>as before</p>)"
       << "\n";
  write_reasons(text, difference);
  if (!worst.empty()) write_table(text, worst);
  std::vector<std::uint64_t> places;
  for (const FrameDifference* frame : worst) places.push_back(frame->place);
  std::sort(places.begin(), places.end());
  const auto pictures = frame_pictures(page.graph, places);
  for (const FrameDifference* frame : worst) {
    const auto picture = pictures.find(frame->place);
    write_frame(text, page, *frame, picture == pictures.end() ? nullptr : &picture->second);
  }
  return std::string(text.view());
}

}  // namespace contorno
