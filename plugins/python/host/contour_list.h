// Contours as lists of NumPy arrays. With the GIL held.
#pragma once

#include <cstddef>
#include <span>

#include "plugins/python/host/find_in_maps.h"
#include "plugins/python/shared/pybind.h"

namespace contorno::python {

/// What one array may hold for others: contours that are shorter together are views into it, as slices are.
/// Keeping one of them keeps no more than this alive.
inline constexpr std::size_t kSharedBytes = 16 << 10;

/// A list of (n, 2) arrays, copies of points [offsets[i], offsets[i + 1]) of `points`, for all but the last
/// offset.
template <class Offset>
py::list contour_list(const std::byte* points, PointType type, std::span<const Offset> offsets);

}  // namespace contorno::python
