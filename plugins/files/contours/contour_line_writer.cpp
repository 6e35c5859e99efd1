#include "plugins/files/contours/contour_line_writer.h"

#include <optional>

namespace contorno {

void ContourLineWriter::open(const SinkContext& context) {
  placer_.open(context, options_.coordinates);
  totals_.open(placer_.classes());
}

std::string_view ContourLineWriter::line(const FrameInfo& info, const ContoursView& view,
                                         const ContourLineExtras& extras) {
  const std::span<const ContourMeasures> measures = measure_frame(view, placer_, measures_);
  if (options_.totals) totals_.add_frame(view, measures);
  text_.clear();
  has_points_ = extras.points;
  text_ << '{';
  write_camera();
  text_ << extras.head << R"("frame":)" << info.number;
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
  return text_.view();
}

std::string_view ContourLineWriter::line(const FinishedObjects& objects, const ObjectRecord& record) {
  text_.clear();
  text_ << '{';
  write_camera();
  write_record(text_, objects, record);
  text_ << "}\n";
  return text_.view();
}

std::vector<ClassTotals> ContourLineWriter::totals() const {
  std::vector<ClassTotals> written;
  for (std::size_t k = 0; options_.totals && k < placer_.classes().size(); ++k)
    if (is_written(k)) written.push_back(totals_.running(k));
  return written;
}

/// Writes the member `camera`, where the line has one, for a line that goes on behind it.
void ContourLineWriter::write_camera() {
  if (!options_.camera.empty()) (text_ << R"("camera":)").json(options_.camera) << ',';
}

void ContourLineWriter::write_class(const ContoursView& view, std::size_t k,
                                    std::span<const ContourMeasures> measures) {
  const ClassSpec& spec = placer_.classes()[k];
  (text_ << R"({"name":)").json(spec.name);
  write_levels(text_, spec);
  if (options_.totals) write_totals(totals_.of_frame(k));
  text_ << R"(,"contours":[)";
  for (std::uint32_t i = view.class_begin[k]; i < view.class_begin[k + 1]; ++i) {
    if (i > view.class_begin[k]) text_ << ',';
    write_contour(view, i, measures[i]);
  }
  text_ << "]}";
}

void ContourLineWriter::write_totals(const ClassTotals& totals) {
  const auto or_null = [&](const std::optional<double>& value) { value ? text_ << *value : text_ << "null"; };
  text_ << R"(,"totals":{"contours":)" << totals.contours << R"(,"area":)" << totals.area
        << R"(,"perimeter":)" << totals.perimeter << R"(,"share":)";
  or_null(totals.share);
  text_ << R"(,"mean":)";
  or_null(totals.mean);
  text_ << '}';
}

void ContourLineWriter::write_contour(const ContoursView& view, std::uint32_t index,
                                      const ContourMeasures& m) {
  text_ << (view.closed[index] != 0 ? R"({"closed":true,"area":)" : R"({"closed":false,"area":)") << m.area
        << R"(,"length":)" << m.length << R"(,"bbox":[)" << m.x << ',' << m.y << ',' << m.width << ','
        << m.height << R"(],"centroid":[)" << m.centroid_x << ',' << m.centroid_y << ']';
  write_attributes(text_, view, index, placer_);
  if (!has_points_) {
    text_ << '}';
    return;
  }
  text_ << R"(,"points":[)";
  const std::span<const Point> points = placer_.points(view, index);
  for (const Point& point : points) text_ << '[' << point.col << ',' << point.row << "],";
  if (!points.empty()) text_.drop_last();
  text_ << "]}";
}

}  // namespace contorno
