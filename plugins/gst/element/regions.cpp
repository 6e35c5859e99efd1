#include "plugins/gst/element/regions.h"

#include <gst/video/video.h>
#if CONTORNO_HAVE_GST_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "plugins/files/contours/measures.h"

namespace contorno::gst {
namespace {

/// A contour as a rectangle of pixels.
struct Region {
  const ClassSpec* of = nullptr;
  std::uint32_t contour = 0;
  guint x = 0, y = 0, width = 0, height = 0;
  double area = 0, confidence = 0;
};

/// How sure the map is of a contour: the mean of the samples inside, where that was measured. Of others, and
/// inside holes, nothing more is known than the level, which every sample of the region reaches.
double confidence_of(const ContoursView& contours, std::uint32_t contour, double area, double level) {
  const double* const mean = contours.column(Attribute::Mean);
  return mean == nullptr || area <= 0 || std::isnan(mean[contour]) ? level : mean[contour];
}

/// The pixels that the contour's box reaches into; a pixel covers half a px around its centre. Nothing where
/// a point has no place.
std::optional<Region> region_of(const ContoursView& contours, const ClassSpec& spec, std::uint32_t i) {
  const BoxAndArea box =
      measure_box_and_area(contours.contour(i), contours.closed[i] != 0 ? Closure::Closed : Closure::Open);
  if (std::isnan(box.x)) return std::nullopt;
  const auto low = [](double value) { return static_cast<guint>(std::max(0.0, std::floor(value + 0.5))); };
  const auto high = [](double value, int side) {
    return static_cast<guint>(std::clamp(std::floor(value + 0.5) + 1, 0.0, static_cast<double>(side)));
  };
  const guint x = low(box.x), y = low(box.y);
  const guint right = high(box.x + box.width, contours.format.width),
              bottom = high(box.y + box.height, contours.format.height);
  return Region{.of = &spec,
                .contour = i,
                .x = x,
                .y = y,
                .width = right > x ? right - x : 0,
                .height = bottom > y ? bottom - y : 0,
                .area = box.area,
                .confidence = confidence_of(contours, i, box.area, spec.level)};
}

void attach_region_of_interest(GstBuffer* buffer, const Region& region) {
  const char* name = region.of->name.c_str();
  GstVideoRegionOfInterestMeta* roi = gst_buffer_add_video_region_of_interest_meta(
      buffer, name, region.x, region.y, region.width, region.height);
  roi->id = static_cast<gint>(region.contour);
  gst_video_region_of_interest_meta_add_param(
      roi, gst_structure_new("contorno", "class", G_TYPE_STRING, name, "area", G_TYPE_DOUBLE, region.area,
                             "confidence", G_TYPE_DOUBLE, region.confidence, nullptr));
}

#if CONTORNO_HAVE_GST_ANALYTICS
/// A hole is no object.
void attach_detection(GstAnalyticsRelationMeta* detections, const Region& region) {
  if (region.area < 0) return;
  GstAnalyticsODMtd detection;
  gst_analytics_relation_meta_add_od_mtd(detections, g_quark_from_string(region.of->name.c_str()),
                                         static_cast<gint>(region.x), static_cast<gint>(region.y),
                                         static_cast<gint>(region.width), static_cast<gint>(region.height),
                                         static_cast<gfloat>(region.confidence), &detection);
}
#endif

}  // namespace

void attach_regions(GstBuffer* buffer, const MetaBlock& block) {
#if CONTORNO_HAVE_GST_ANALYTICS
  // A buffer has one such meta: elements before this one may have added it for objects of theirs.
  GstAnalyticsRelationMeta* detections = gst_buffer_get_analytics_relation_meta(buffer);
  if (detections == nullptr) detections = gst_buffer_add_analytics_relation_meta(buffer);
#endif
  const ContoursView& contours = block.contours.view;
  for (std::size_t k = 0; k < block.classes.size(); ++k) {
    if (block.classes[k].hidden) continue;
    for (std::uint32_t i = contours.class_begin[k]; i < contours.class_begin[k + 1]; ++i) {
      const std::optional<Region> region = region_of(contours, block.classes[k], i);
      if (!region) continue;
      attach_region_of_interest(buffer, *region);
#if CONTORNO_HAVE_GST_ANALYTICS
      attach_detection(detections, *region);
#endif
    }
  }
}

}  // namespace contorno::gst
