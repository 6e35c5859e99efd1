// Copies of contours, on the host and from a device.
#pragma once

#include "pipeline/value/contours.h"

namespace contorno {

/// Copies the contours that exist to `to`, which has as many classes and room for them. They must fit in
/// `from` (ContoursView::fits); neither has to be packed, and capacities may differ. `to` may have attributes
/// more, which are not written.
void copy_contours(const ContoursView& from, const ContoursView& to);
/// Copies the contours as copy_contours does, but not their points.
void copy_tables(const ContoursView& from, const ContoursView& to);

/// Enqueues a copy of the contours that exist, without unused capacity, from device memory to `to`: a
/// packed_view or packed_counts of page-locked host memory (a download) or of device memory, for as many
/// classes and points. It may have attributes more, which are not written. When a count exceeds its capacity
/// the counts are all that is valid. Only in builds with CUDA.
void copy_contours_async(const ContoursView& from, const ContoursView& to, void* stream);

}  // namespace contorno
