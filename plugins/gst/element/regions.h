// What elements read that know nothing of contorno: for each contour a region of interest, and where
// GStreamer has its analytics library (1.24), a detected object.
#pragma once

#include <gst/gst.h>

#include "plugins/gst/element/meta.h"

namespace contorno::gst {

/// Attaches a GstVideoRegionOfInterestMeta for each contour to a writable buffer, and in builds with the
/// analytics library one GstAnalyticsRelationMeta with an object detection for each.
void attach_regions(GstBuffer* buffer, const MetaBlock& block);

}  // namespace contorno::gst
