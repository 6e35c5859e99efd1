// NumPy arrays as images, in place, and images as new NumPy arrays. With the GIL held.
#pragma once

#include <span>

#include "pipeline/value/image.h"
#include "plugins/python/host/host_array.h"

namespace contorno::python {

/// What the axes (H, W), (H, W, C) or, planar, (C, H, W) mean, without the element type. Throws ValueError.
ImageFormat image_format(std::span<const std::int64_t> sides, const std::string& name, Layout layout);
/// An image of such axes, in place. Throws ValueError and TypeError.
ImageView image_of(HostArray& array, const std::string& name, Layout layout);

/// Rows and planes behind each other, without gaps.
ImageView dense_view(void* data, const ImageFormat& format);

/// An array that is not initialised, with the axes that `like` has, and its view.
struct NewImage {
  py::array array;
  ImageView view;
};
NewImage new_image(const ImageFormat& format, int dimensions);

/// Axes of a result: a single channel is a plane, unless the image had an axis for its own.
inline int dimensions_of(const ImageFormat& format, int given_dimensions, int given_channels) {
  return format.channels == 1 && (given_dimensions == 2 || given_channels != 1) ? 2 : 3;
}

py::dtype dtype_of(ElementType type);

/// Axes of an array over `view`, with strides in bytes; two dimensions for a single plane.
struct Geometry {
  std::vector<py::ssize_t> shape, strides;
};
Geometry geometry_of(const ImageView& view, int dimensions);

/// An array over samples that `owner` keeps; without an owner, a copy.
py::array array_of(const ImageView& view, int dimensions, const py::object& owner);

}  // namespace contorno::python
