// Whole contours in another order.
#pragma once

#include <cstdint>

#include "pipeline/value/contours.h"

namespace contorno {

/// Writes contours of `in` to `out`, which has room for them: contour sources[i] becomes contour i, and class
/// k has those with class_begin[k] <= i < class_begin[k + 1]. When `in` does not fit its capacities, `out`
/// gets its counts and nothing else: the frame runs again with more room.
void gather_contours(const ContoursView& in, const std::uint32_t* sources, const std::uint32_t* class_begin,
                     const ContoursView& out);

}  // namespace contorno
