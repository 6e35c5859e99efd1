#include "tools/replay/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "plugins/files/contours/text_buffer.h"

namespace contorno {
namespace {

// Blue and orange are told apart by everybody; what did not change is grey.
constexpr std::string_view kStyle = R"(
body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:76em;padding:0 1em;color:#1c2430;background:#fff}
h2{font-size:1.1em;margin:2em 0 .3em}table{border-collapse:collapse}td,th{padding:.2em .8em;text-align:right}
th{border-bottom:1px solid #b9c2cf;font-weight:600}td:last-child,th:last-child{text-align:left}
figure{display:inline-block;width:32%;margin:0 .6% 0 0;vertical-align:top}figcaption{color:#5b6675}
svg{width:100%;background:#f5f7fa;border:1px solid #d5dbe3}path{fill:none;stroke-width:1.4;vector-effect:non-scaling-stroke}
.same{stroke:#aeb7c4}.before{stroke:#0b62c4}.after{stroke:#d9620a}
.truth{fill:#9fc5a8;stroke:none}figure.score{width:48%}.found{stroke:#d9620a}
.key b{display:inline-block;width:1.6em;height:.25em;vertical-align:middle;margin:0 .4em 0 1em}
)";

/// Which contours of a frame are drawn how.
struct Layer {
  const ContourFrame* frame;
  std::vector<bool> changed;
  const char* style;  ///< of those that changed
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

void draw_panel(TextBuffer& text, const char* caption, std::span<const Layer> layers) {
  int width = 1, height = 1;
  for (const Layer& layer : layers) {
    width = std::max(width, layer.frame->view.format.width);
    height = std::max(height, layer.frame->view.format.height);
  }
  text << R"(<figure><svg viewBox="-1 -1 )" << width + 1 << ' ' << height + 1 << R"(">)";
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

void draw_value(TextBuffer& text, const DifferencePage& page, std::uint64_t place,
                const RecordedValue& value) {
  const std::filesystem::path file = value_file(place, value);
  if (!std::filesystem::exists(page.before / file) || !std::filesystem::exists(page.after / file)) return;
  const ContourFrame was = recorded_contours(page.before, place, value),
                     is = recorded_contours(page.after, place, value);
  const ContourChanges changes = compare_contours(was, is, pairing_reach(page.tolerance));
  const Layer before{&was, changed_before(was, changes), "before"},
      after{&is, changed_after(is, changes), "after"};
  draw_panel(text, "before", {&before, 1});
  draw_panel(text, "after", {&after, 1});
  const Layer both[] = {before, after};
  draw_panel(text, "both", both);
}

void write_frame(TextBuffer& text, const DifferencePage& page, const FrameDifference& frame) {
  text << R"(<h2 id="f)" << frame.place << R"(">frame )" << frame.place << "</h2><p>";
  text.xml(frame.first) << "</p>\n";
  for (const RecordedValue& value : page.values)
    if (value.type == PortType::Contours) draw_value(text, page, frame.place, value);
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
  text
      << R"(</p><p class="key"><b style="background:#0b62c4"></b>changed, before<b style="background:#d9620a"></b>)"
         R"(changed, after<b style="background:#aeb7c4"></b>as before</p>)"
      << "\n";
  if (!worst.empty()) write_table(text, worst);
  for (const FrameDifference* frame : worst) write_frame(text, page, *frame);
  return std::string(text.view());
}

std::string page_of(std::string_view sections) {
  TextBuffer text;
  text << R"(<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>contorno replay</title><style>)"
       << kStyle << "</style>\n"
       << sections << "</html>\n";
  return std::string(text.view());
}

}  // namespace contorno
