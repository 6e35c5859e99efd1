// NumPy arrays as images, in place, and images as new NumPy arrays. With the GIL held.
#pragma once

#include <span>

#include "pipeline/value/image.h"
#include "plugins/python/host/host_array.h"

namespace contorno::python {

/// The format of an image with the axes (H, W), (H, W, C) or, planar, (C, H, W), without the element type.
/// `name` is for messages. Throws ValueError.
ImageFormat image_format(std::span<const std::int64_t> sides, const std::string& name, Layout layout);
/// An array with such axes as an image, in its memory. Throws ValueError and TypeError.
ImageView image_of(HostArray& array, const std::string& name, Layout layout);

/// A view of an image at `data` whose rows and planes follow each other without gaps.
ImageView dense_view(void* data, const ImageFormat& format);

/// A new array that is not initialised, with 2 or 3 axes as `dimensions` says, and its view.
struct NewImage {
  py::array array;
  ImageView view;
};
NewImage new_image(const ImageFormat& format, int dimensions);

/// How many axes a result has: 2 for a single channel, unless the image that was given had one channel and an
/// axis for it; else 3.
inline int dimensions_of(const ImageFormat& format, int given_dimensions, int given_channels) {
  return format.channels == 1 && (given_dimensions == 2 || given_channels != 1) ? 2 : 3;
}

py::dtype dtype_of(ElementType type);

/// Axes of an array over `view`, with strides in bytes; `dimensions` is 2 or 3.
struct Geometry {
  std::vector<py::ssize_t> shape, strides;
};
Geometry geometry_of(const ImageView& view, int dimensions);

/// An array over the samples of `view`, whose memory `owner` keeps alive; without an owner, a copy.
py::array array_of(const ImageView& view, int dimensions, const py::object& owner);

}  // namespace contorno::python
