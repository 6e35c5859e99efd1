/* The contours of a video frame, as the element `contorno` attaches them to its buffers. For C and C++;
 * everything is in this header, so that a program needs no library beside GStreamer's: the plugin registers
 * the type.
 *
 *   ContornoMeta *meta = contorno_buffer_get_meta (buffer);
 *   for (guint i = 0; meta != NULL && i < meta->n_contours; i++) {
 *     guint n_points;
 *     const ContornoPoint *points = contorno_meta_get_points (meta, i, &n_points);
 *     g_print ("%s: %u points\n", meta->class_names[contorno_meta_get_class (meta, i)], n_points);
 *   }
 *
 * All arrays belong to the meta and are valid as long as the buffer is. They are never written again: copies
 * of the buffer share them. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* NOLINTBEGIN(modernize-*): the header of a C library */

/* A point of a contour in pixels of the frame; the centre of the first pixel is (0, 0), rows go down. */
typedef struct {
  gfloat row, col;
} ContornoPoint;

typedef struct {
  GstMeta meta;

  guint width, height; /* of the frame that the points lie on, px */
  guint64 frame;       /* its number since the element was started, from 0 */

  guint n_classes;
  const gchar* const* class_names;
  const gdouble* levels;      /* of the probability, at which a class's contours lie */
  const guint32* class_begin; /* class k has contours class_begin[k] to class_begin[k + 1] - 1 */

  guint n_contours;
  const guint32* offsets; /* contour i has points offsets[i] to offsets[i + 1] - 1 */
  const guint8*
      closed; /* of each contour: 1 = closed, its last point repeats its first; 0 = ends at a border */
  const ContornoPoint* points;

  /* What stages have measured of each contour, in px of the frame like its points: attribute a of contour
   * i is attributes[a * attribute_stride + i]. */
  guint n_attributes;
  const gchar* const* attribute_names;
  const gdouble* attributes;
  gsize attribute_stride;

  /* Of a graph with the step objects: a line of JSON for each object that had left by this frame, as the sink
   * jsonl writes it; NULL when there is none. */
  const gchar* objects;

  /*< private >*/
  gpointer block;
} ContornoMeta;

#define CONTORNO_META_API_NAME "ContornoMetaAPI"
#define CONTORNO_META_NAME "ContornoMeta"

/* The contours of a buffer; NULL when it has none, or when the plugin is not loaded. */
static inline ContornoMeta* contorno_buffer_get_meta(GstBuffer* buffer) {
  const GType api = g_type_from_name(CONTORNO_META_API_NAME);
  return api != 0 ? (ContornoMeta*)gst_buffer_get_meta(buffer, api) : NULL;
}

/* The points of a contour below n_contours, and their number. */
static inline const ContornoPoint* contorno_meta_get_points(const ContornoMeta* meta, guint contour,
                                                            guint* n_points) {
  *n_points = meta->offsets[contour + 1] - meta->offsets[contour];
  return meta->points + meta->offsets[contour];
}

/* The class of a contour below n_contours. */
static inline guint contorno_meta_get_class(const ContornoMeta* meta, guint contour) {
  guint one = 0;
  while (meta->class_begin[one + 1] <= contour) one++;
  return one;
}

/* NOLINTEND(modernize-*) */

G_END_DECLS
