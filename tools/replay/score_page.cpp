#include "tools/replay/score_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/files/contours/text_buffer.h"
#include "tools/replay/compare_records.h"

namespace contorno {
namespace {

std::string cell(const std::optional<double>& value) {
  return value ? fmt::format("<td>{:.4g}</td>", *value) : "<td>-</td>";
}

void write_totals(TextBuffer& text, const ValueScores& value) {
  text << "<table><tr><th>IoU</th><th>mean, px</th><th>Hausdorff, px</th><th>found</th><th>missed</th>"
          "<th>extra</th><th>class</th></tr>\n";
  const std::vector<ClassScore> totals = value.totals();
  for (std::size_t k = 0; k < totals.size(); ++k) {
    const ClassScore& score = totals[k];
    text << "<tr>" << cell(score.iou()) << cell(score.mean_distance()) << cell(score.hausdorff())
         << fmt::format("<td>{}</td><td>{}</td><td>{}</td><td>", score.found, score.missed, score.extra);
    text.xml(value.classes[k]) << "</td></tr>\n";
  }
  text << "</table>\n";
}

/// The pixels of a region as bars, one a run of a row.
void draw_region(TextBuffer& text, const PixelRegion& region) {
  text << R"(<path class="truth" d=")";
  for (int y = 0; y < region.height; ++y)
    for (int x = 0; x < region.width;) {
      const int begin = x;
      while (x < region.width && region.in[region.index(x, y)] != 0) ++x;
      if (x > begin) text << fmt::format("M{} {}h{}v1h{}z", begin - 0.5, y - 0.5, x - begin, begin - x);
      if (x == begin) ++x;
    }
  text << R"("/>)";
}

/// The contours of class `k`, which have the coordinates of their map, on the pixels of the truth.
void draw_contours(TextBuffer& text, const ContoursView& view, std::size_t k, const PixelRegion& truth) {
  const double scale_x = static_cast<double>(truth.width) / view.format.width,
               scale_y = static_cast<double>(truth.height) / view.format.height;
  text << fmt::format(R"-(<g transform="translate({} {}) scale({} {})">)-", scale_x / 2 - 0.5,
                      scale_y / 2 - 0.5, scale_x, scale_y);
  for (std::uint32_t i = view.class_begin[k]; i < view.class_begin[k + 1]; ++i) {
    text << R"(<path class="found" d=")";
    char command = 'M';
    for (const Point& point : view.contour(i)) {
      text << command << point.col << ' ' << point.row;
      command = 'L';
    }
    text << R"("/>)";
  }
  text << "</g>";
}

void write_frame_score(TextBuffer& text, const ScorePage& page, const RecordedValue& value,
                       const ValueScores& scores, const FrameScore& frame) {
  text << "<h2>frame " << frame.place
       << fmt::format(": mean IoU {:.4g}</h2>\n", frame.mean_iou().value_or(0));
  const ContourFrame recorded = recorded_contours(page.record, frame.place, value);
  const TrueRegions truth = page.truth.regions(frame.place, scores.classes);
  for (std::size_t k = 0; k < frame.classes.size(); ++k) {
    const ClassScore& score = frame.classes[k];
    if (score.joined == 0) continue;
    const PixelRegion& region = truth.classes[k];
    text << fmt::format(R"(<figure class="score"><svg viewBox="-1 -1 {} {}">)", region.width + 1,
                        region.height + 1);
    draw_region(text, region);
    draw_contours(text, recorded.view, k, region);
    text << "</svg><figcaption>";
    text.xml(scores.classes[k]) << fmt::format(": IoU {:.4g}", score.iou().value_or(0));
    if (score.mean_distance())
      text << fmt::format(", mean {:.3g} px, Hausdorff {:.3g} px", *score.mean_distance(),
                          *score.hausdorff());
    text << "</figcaption></figure>\n";
  }
}

}  // namespace

std::string score_section(const ScorePage& page, const std::vector<ValueScores>& scores) {
  TextBuffer text;
  for (const ScoreLimit::Answer& answer : page.limits) {
    text << "<p><b>" << (answer.held ? "held" : "failed") << "</b> ";
    text.xml(answer.sentence) << "</p>\n";
  }
  for (const ValueScores& value : scores) {
    text << "<h1>Scores of ";
    text.xml(value.value) << fmt::format("</h1><p>{} frames with truth, of which {} could not be scored.</p>",
                                         value.frames.size(), value.count_faults());
    write_totals(text, value);
    text << R"(<p class="key"><b class="truth"></b>true<b class="found"></b>)"
            "contours</p>\n";
    const auto recorded =
        std::find_if(page.values.begin(), page.values.end(),
                     [&](const RecordedValue& candidate) { return candidate.name == value.value; });
    std::vector<const FrameScore*> worst = value.worst();
    worst.resize(std::min(worst.size(), page.most));
    for (const FrameScore* frame : worst) write_frame_score(text, page, *recorded, value, *frame);
  }
  return std::string(text.view());
}

}  // namespace contorno
