#include "plugins/gst/element/meta.h"

#include <gst/video/video.h>

#include <algorithm>
#include <span>

#include "plugins/files/contours/placed_attributes.h"

namespace contorno::gst {
namespace {

static_assert(sizeof(ContornoPoint) == sizeof(Point), "the meta shares points");

/// What a meta owns: the contours, and the names as arrays of C strings.
struct Content {
  SharedBlock block;
  std::vector<const char*> class_names, attribute_names;
  std::vector<double> levels;
};

Content* content_of(const ContornoMeta& meta) {
  return static_cast<Content*>(meta.block);
}

void fill(ContornoMeta& meta, const SharedBlock& block) {
  auto owned = std::make_unique<Content>();
  owned->block = block;
  for (const ClassSpec& one : block->classes) {
    owned->class_names.push_back(one.name.c_str());
    owned->levels.push_back(one.level);
  }
  const ContoursView& contours = block->contours.view;
  const Attributes attributes = contours.format.attributes;
  // Views of literals, which end with a null.
  attributes.for_each([&](Attribute one) { owned->attribute_names.push_back(name_of(one).data()); });
  meta.width = static_cast<guint>(contours.format.width);
  meta.height = static_cast<guint>(contours.format.height);
  meta.frame = block->frame;
  meta.n_classes = static_cast<guint>(block->classes.size());
  meta.class_names = owned->class_names.data();
  meta.levels = owned->levels.data();
  meta.class_begin = contours.class_begin;
  meta.n_contours = static_cast<guint>(contours.counts->contours);
  meta.offsets = contours.offsets;
  meta.closed = contours.closed;
  meta.points = reinterpret_cast<const ContornoPoint*>(contours.points);
  meta.n_attributes = attributes.count();
  meta.attribute_names = owned->attribute_names.data();
  meta.attributes = contours.columns;
  meta.attribute_stride = contours.format.column_stride();
  meta.objects = block->objects.empty() ? nullptr : block->objects.c_str();
  meta.block = owned.release();
}

gboolean init_meta(GstMeta* meta, gpointer, GstBuffer*) {
  reinterpret_cast<ContornoMeta*>(meta)->block = nullptr;
  return TRUE;
}

void free_meta(GstMeta* meta, GstBuffer*) {
  delete content_of(*reinterpret_cast<ContornoMeta*>(meta));
}

/// Brings points and attributes into the coordinates that `placement` leads to.
void place(const ContoursView& contours, const Placement& placement) {
  if (placement == Placement{}) return;
  for (Point& point : std::span(contours.points, contours.counts->points))
    point = {.row = static_cast<float>(placement.frame_y(point.row)),
             .col = static_cast<float>(placement.frame_x(point.col))};
  for (std::uint32_t i = 0; i < contours.counts->contours; ++i) {
    const AttributeValues values = placed_attributes(contours, i, placement, contours.contour(i));
    contours.format.attributes.for_each(
        [&](Attribute one) { contours.column(one)[i] = values[static_cast<std::size_t>(one)]; });
  }
}

SharedBlock scaled(const MetaBlock& from, int width, int height, double scale_x, double scale_y) {
  auto block = std::make_shared<MetaBlock>(from);
  ContoursView& contours = block->contours.view;
  contours.format.width = width, contours.format.height = height;
  place(contours, {.scale_x = scale_x, .scale_y = scale_y});
  return block;
}

/// Copies share the contours; a scaled frame gets scaled ones. A part of a buffer is no frame any more.
gboolean transform_meta(GstBuffer* target, GstMeta* meta, GstBuffer*, GQuark type, gpointer data) {
  const Content* owned = content_of(*reinterpret_cast<ContornoMeta*>(meta));
  if (owned == nullptr) return FALSE;
  try {
    if (GST_META_TRANSFORM_IS_COPY(type)) {
      if (static_cast<GstMetaTransformCopy*>(data)->region) return FALSE;
      attach_contours(target, owned->block);
      return TRUE;
    }
    if (!GST_VIDEO_META_TRANSFORM_IS_SCALE(type)) return FALSE;
    const auto& sides = *static_cast<GstVideoMetaTransform*>(data);
    const GstVideoInfo &in = *sides.in_info, &out = *sides.out_info;
    attach_contours(target,
                    scaled(*owned->block, out.width, out.height, static_cast<double>(out.width) / in.width,
                           static_cast<double>(out.height) / in.height));
    return TRUE;
  } catch (const std::bad_alloc&) {
    return FALSE;
  }
}

const GstMetaInfo* register_meta() {
  static const gchar* tags[] = {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR,
                                GST_META_TAG_VIDEO_ORIENTATION_STR, nullptr};
  const GType api = gst_meta_api_type_register(CONTORNO_META_API_NAME, tags);
  return gst_meta_register(api, CONTORNO_META_NAME, sizeof(ContornoMeta), init_meta, free_meta,
                           transform_meta);
}

}  // namespace

const GstMetaInfo* contorno_meta_info() {
  static const GstMetaInfo* const info = register_meta();
  return info;
}

SharedBlock make_block(const ContoursView& contours, const std::vector<ClassSpec>& classes,
                       const std::function<bool(std::size_t)>& wanted, int width, int height,
                       std::uint64_t frame, std::string objects) {
  auto block = std::make_shared<MetaBlock>();
  block->objects = std::move(objects), block->frame = frame;
  std::vector<std::uint32_t> taken, class_begin{0};
  std::uint64_t points = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(contours.format.classes); ++k) {
    if (!wanted(k)) continue;
    block->classes.push_back(k < classes.size() ? classes[k]
                                                : ClassSpec{.name = "class " + std::to_string(k)});
    for (std::uint32_t i = contours.class_begin[k]; i < contours.class_begin[k + 1]; ++i) {
      taken.push_back(i);
      points += contours.contour(i).size();
    }
    class_begin.push_back(static_cast<std::uint32_t>(taken.size()));
  }
  block->contours.allot({.width = width,
                         .height = height,
                         .classes = static_cast<int>(block->classes.size()),
                         .point_capacity = points,
                         .contour_capacity = taken.size(),
                         .placement = {},
                         .attributes = contours.format.attributes});
  const ContoursView& to = block->contours.view;
  *to.counts = {.points = points, .contours = taken.size()};
  std::ranges::copy(class_begin, to.class_begin);
  to.offsets[0] = 0;
  for (std::size_t n = 0; n < taken.size(); ++n) {
    const std::span<const Point> from = contours.contour(taken[n]);
    std::ranges::copy(from, to.points + to.offsets[n]);
    to.offsets[n + 1] = to.offsets[n] + static_cast<std::uint32_t>(from.size());
    to.closed[n] = contours.closed[taken[n]];
    to.format.attributes.for_each([&](Attribute one) { to.column(one)[n] = contours.column(one)[taken[n]]; });
  }
  place(to, contours.format.placement);
  return block;
}

void attach_contours(GstBuffer* buffer, const SharedBlock& block) {
  GstMeta* meta = gst_buffer_add_meta(buffer, contorno_meta_info(), nullptr);
  fill(*reinterpret_cast<ContornoMeta*>(meta), block);
}

SharedBlock contours_of(GstBuffer* buffer) {
  const ContornoMeta* meta = contorno_buffer_get_meta(buffer);
  return meta != nullptr ? content_of(*meta)->block : nullptr;
}

}  // namespace contorno::gst
