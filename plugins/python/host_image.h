// NumPy arrays as images, in place, and images as new NumPy arrays. With the GIL held.
#pragma once

#include "pipeline/image.h"
#include "plugins/python/host_array.h"

namespace contorno::python {

/// (H, W), (H, W, C) or, planar, (C, H, W). Throws ValueError and TypeError.
ImageView image_of(HostArray& array, const std::string& name, Layout layout);

/// An array that is not initialised, with the axes that `like` has, and its view.
struct NewImage {
  py::array array;
  ImageView view;
};
NewImage new_image(const ImageFormat& format, int dimensions);

py::dtype dtype_of(ElementType type);

/// An array over samples that `owner` keeps; without an owner, a copy.
py::array array_of(const ImageView& view, int dimensions, const py::object& owner);

}  // namespace contorno::python
