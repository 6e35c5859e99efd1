#include "plugins/python/host/host_image.h"

#include <fmt/format.h>

#include "pipeline/graph/applied.h"

namespace contorno::python {

Geometry geometry_of(const ImageView& view, int dimensions) {
  const ImageFormat& format = view.format;
  const auto size = static_cast<std::int64_t>(element_size(format.type));
  if (dimensions == 2) return {{format.height, format.width}, {view.row_pitch, size}};
  if (format.layout == Layout::Planar)
    return {{format.channels, format.height, format.width}, {view.plane_pitch, view.row_pitch, size}};
  return {{format.height, format.width, format.channels}, {view.row_pitch, size * format.channels, size}};
}

ImageFormat image_format(std::span<const std::int64_t> sides, const std::string& name, Layout layout) {
  if (sides.size() != 2 && sides.size() != 3)
    throw py::value_error(fmt::format("{} has {} dimensions, wanted 2 or 3", name, sides.size()));
  const bool planar = sides.size() == 3 && layout == Layout::Planar;
  const std::size_t row = planar ? 1 : 0;
  const std::int64_t height = sides[row], width = sides[row + 1];
  const std::int64_t channels = sides.size() == 2 ? 1 : sides[planar ? 0 : 2];
  if (height < 1 || width < 1 || channels < 1 || height > kMaxSide || width > kMaxSide || channels > kMaxSide)
    throw py::value_error(fmt::format("{} has {} rows, {} columns and {} channels, allowed 1 to {} each",
                                      name, height, width, channels, kMaxSide));
  return {.width = static_cast<int>(width),
          .height = static_cast<int>(height),
          .channels = static_cast<int>(channels),
          .layout = planar ? Layout::Planar : Layout::Interleaved};
}

ImageView image_of(HostArray& array, const std::string& name, Layout layout) {
  ImageView view{.format = image_format(array.sides(), name, layout)};
  const bool planar = view.format.layout == Layout::Planar;
  array.make_readable(planar ? 1 : array.dimensions() - 1);
  view.data = array.data();
  view.format.type = array.type();
  view.row_pitch = static_cast<std::ptrdiff_t>(array.stride(planar ? 1 : 0));
  if (planar) view.plane_pitch = static_cast<std::ptrdiff_t>(array.stride(0));
  return view;
}

py::dtype dtype_of(ElementType type) {
  switch (type) {
    case ElementType::U8:
      return py::dtype("u1");
    case ElementType::U16:
      return py::dtype("u2");
    case ElementType::F16:
      return py::dtype("f2");
    case ElementType::F32:
      return py::dtype("f4");
    case ElementType::F64:
      break;
  }
  return py::dtype("f8");
}

ImageView dense_view(void* data, const ImageFormat& format) {
  ImageView view{data, format, static_cast<std::ptrdiff_t>(format.row_bytes()), 0};
  if (format.layout == Layout::Planar) view.plane_pitch = view.row_pitch * format.height;
  return view;
}

NewImage new_image(const ImageFormat& format, int dimensions) {
  NewImage image;
  image.view = dense_view(nullptr, format);
  Geometry geometry = geometry_of(image.view, dimensions);
  image.array = py::array(dtype_of(format.type), std::move(geometry.shape), std::move(geometry.strides));
  image.view.data = image.array.mutable_data();
  return image;
}

py::array array_of(const ImageView& view, int dimensions, const py::object& owner) {
  if (!owner) {
    NewImage image = new_image(view.format, dimensions);
    copy_image(view, image.view);
    return std::move(image.array);
  }
  Geometry geometry = geometry_of(view, dimensions);
  return {dtype_of(view.format.type), std::move(geometry.shape), std::move(geometry.strides), view.data,
          owner};
}

}  // namespace contorno::python
