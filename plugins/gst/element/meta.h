// What the elements attach to a buffer: ContornoMeta with all contours. What they attach for elements that
// know nothing of contorno is in regions.h.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "geometry/contour_table.h"
#include "pipeline/value/classes.h"
#include "plugins/gst/element/contornometa.h"

namespace contorno::gst {

/// What is known of a frame.
struct MetaBlock {
  std::uint64_t frame = 0;
  std::vector<ClassSpec> classes;
  ContourTable contours;  ///< in pixels of the frame, whose sides their format has
  std::string objects;    ///< a line of JSON for each that had left by this frame
};
using SharedBlock = std::shared_ptr<const MetaBlock>;

/// Registers the type once; safe from any thread.
const GstMetaInfo* contorno_meta_info();

/// The contours of the classes for which `wanted` is true, brought to a frame of these sides, and the lines
/// of objects.
SharedBlock make_block(const ContoursView& contours, const std::vector<ClassSpec>& classes,
                       const std::function<bool(std::size_t)>& wanted, int width, int height,
                       std::uint64_t frame, std::string objects = {});

/// Attaches the contours to a writable buffer.
void attach_contours(GstBuffer* buffer, const SharedBlock& block);
/// The contours of a buffer; null when it has none.
SharedBlock contours_of(GstBuffer* buffer);

}  // namespace contorno::gst
