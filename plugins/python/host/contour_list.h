// Makes lists of NumPy arrays, one a contour. Called with the GIL held.
#pragma once

#include <cstddef>
#include <span>

#include "plugins/python/host/find_in_maps.h"
#include "plugins/python/shared/pybind.h"

namespace contorno::python {

/// Contours that follow each other and take no more than this together become views into one array, which
/// saves allocations. Who keeps one of them keeps at most so many bytes alive.
inline constexpr std::size_t kSharedBytes = 16 << 10;

/// A list of (n, 2) arrays, copies of points [offsets[i], offsets[i + 1]) of `points`, for all but the last
/// offset.
template <class Offset>
py::list contour_list(const std::byte* points, PointType type, std::span<const Offset> offsets);

}  // namespace contorno::python
