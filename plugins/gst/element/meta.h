// What the elements attach to a buffer: ContornoMeta with all contours. What they attach for elements that
// know nothing of contorno is in regions.h.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/value/classes.h"
#include "pipeline/value/contours.h"
#include "plugins/gst/element/contornometa.h"

namespace contorno::gst {

/// A frame's contours in pixels of the frame, in memory of their own.
struct MetaBlock {
  int width = 0, height = 0;
  std::uint64_t frame = 0;
  std::vector<ClassSpec> classes;
  std::vector<std::uint32_t> class_begin, offsets;
  std::vector<std::uint8_t> closed;
  std::vector<Point> points;
  Attributes attributes;
  std::vector<double> columns;
  std::size_t stride = 0;
  std::string objects;  ///< a line of JSON for each that had left by this frame

  /// The contours as a view, as stages and writers take it; valid as long as the block.
  ContoursView view(ContourCounts& counts) const;
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
