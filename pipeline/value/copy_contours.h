// Copies of contours on the host.
#pragma once

#include "pipeline/value/contours.h"

namespace contorno {

/// Copies the contours that exist to `to`, which has as many classes and room for them. They must fit in
/// `from` (ContoursView::fits); neither has to be packed, and capacities may differ. `to` may have attributes
/// more, which are not written.
void copy_contours(const ContoursView& from, const ContoursView& to);
/// The same without their points.
void copy_tables(const ContoursView& from, const ContoursView& to);

}  // namespace contorno
