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
  // Views of literals, which end with a null.
  block->attributes.for_each([&](Attribute one) { owned->attribute_names.push_back(name_of(one).data()); });
  meta.width = static_cast<guint>(block->width);
  meta.height = static_cast<guint>(block->height);
  meta.frame = block->frame;
  meta.n_classes = static_cast<guint>(block->classes.size());
  meta.class_names = owned->class_names.data();
  meta.levels = owned->levels.data();
  meta.class_begin = block->class_begin.data();
  meta.n_contours = static_cast<guint>(block->closed.size());
  meta.offsets = block->offsets.data();
  meta.closed = block->closed.data();
  meta.points = reinterpret_cast<const ContornoPoint*>(block->points.data());
  meta.n_attributes = block->attributes.count();
  meta.attribute_names = owned->attribute_names.data();
  meta.attributes = block->columns.data();
  meta.attribute_stride = block->stride;
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
void place(MetaBlock& block, const Placement& placement) {
  if (placement == Placement{}) return;
  for (Point& point : block.points)
    point = {.row = static_cast<float>(placement.frame_y(point.row)),
             .col = static_cast<float>(placement.frame_x(point.col))};
  ContourCounts counts;
  const ContoursView view = block.view(counts);
  for (std::uint32_t i = 0; i < block.closed.size(); ++i) {
    const AttributeValues values = placed_attributes(view, i, placement, view.contour(i));
    block.attributes.for_each(
        [&](Attribute one) { view.column(one)[i] = values[static_cast<std::size_t>(one)]; });
  }
}

SharedBlock scaled(const MetaBlock& from, int width, int height, double scale_x, double scale_y) {
  auto block = std::make_shared<MetaBlock>(from);
  block->width = width, block->height = height;
  place(*block, {.scale_x = scale_x, .scale_y = scale_y});
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

ContoursView MetaBlock::view(ContourCounts& counts) const {
  counts = {.points = points.size(), .contours = closed.size()};
  // The stride of a view is that of its capacity, which is even.
  ContoursFormat format{.width = width,
                        .height = height,
                        .classes = static_cast<int>(classes.size()),
                        .point_capacity = points.size(),
                        .contour_capacity = stride,
                        .placement = {},
                        .attributes = attributes};
  // A view may be written through, but nobody who gets this one does.
  return {.format = format,
          .counts = &counts,
          .points = const_cast<Point*>(points.data()),
          .offsets = const_cast<std::uint32_t*>(offsets.data()),
          .closed = const_cast<std::uint8_t*>(closed.data()),
          .class_begin = const_cast<std::uint32_t*>(class_begin.data()),
          .columns = const_cast<double*>(columns.data())};
}

const GstMetaInfo* contorno_meta_info() {
  static const GstMetaInfo* const info = register_meta();
  return info;
}

SharedBlock make_block(const ContoursView& contours, const std::vector<ClassSpec>& classes,
                       const std::function<bool(std::size_t)>& wanted, int width, int height,
                       std::uint64_t frame, std::string objects) {
  auto block = std::make_shared<MetaBlock>();
  block->objects = std::move(objects);
  block->width = width, block->height = height, block->frame = frame;
  block->attributes = contours.format.attributes;
  block->class_begin.push_back(0);
  block->offsets.push_back(0);
  std::vector<std::uint32_t> taken;
  for (std::size_t k = 0; k < static_cast<std::size_t>(contours.format.classes); ++k) {
    if (!wanted(k)) continue;
    block->classes.push_back(k < classes.size() ? classes[k]
                                                : ClassSpec{.name = "class " + std::to_string(k)});
    for (std::uint32_t i = contours.class_begin[k]; i < contours.class_begin[k + 1]; ++i) taken.push_back(i);
    block->class_begin.push_back(static_cast<std::uint32_t>(taken.size()));
  }
  std::size_t points_taken = 0;
  for (const std::uint32_t i : taken) points_taken += contours.contour(i).size();
  block->points.reserve(points_taken);
  for (const std::uint32_t i : taken) {
    block->closed.push_back(contours.closed[i]);
    const std::span<const Point> points = contours.contour(i);
    block->points.insert(block->points.end(), points.begin(), points.end());
    block->offsets.push_back(static_cast<std::uint32_t>(block->points.size()));
  }
  block->stride = taken.size() + taken.size() % 2;
  block->columns.resize(block->stride * block->attributes.count());
  std::size_t column = 0;
  block->attributes.for_each([&](Attribute one) {
    const double* from = contours.column(one);
    std::transform(taken.begin(), taken.end(),
                   block->columns.begin() + static_cast<std::ptrdiff_t>(column++ * block->stride),
                   [&](std::uint32_t i) { return from[i]; });
  });
  place(*block, contours.format.placement);
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
