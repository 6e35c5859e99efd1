#include "plugins/python/host/batch.h"

#include <fmt/format.h>

#include "plugins/python/host/contour_list.h"

namespace contorno::python {
namespace {
constexpr int kMostLevels = 65534;
}  // namespace

Levels levels_of(const py::array_t<double>& given, const StackShape& shape) {
  const int planes = shape.format.channels;
  Levels levels;
  const auto per_plane = [&](py::ssize_t count) {
    if (count != planes && count != 1)
      throw py::value_error(
          fmt::format("levels has {} rows, wanted one for each of {} planes, or 1", count, planes));
    return count == 1 ? py::ssize_t{0} : py::ssize_t{1};
  };
  switch (given.ndim()) {
    case 0:
      levels.values.assign(static_cast<std::size_t>(planes), *given.data());
      return levels;
    case 1: {
      if (shape.dimensions == 2) {
        levels.per_plane = static_cast<int>(given.shape(0));
        levels.is_list = true;
        for (int level = 0; level < levels.per_plane; ++level) levels.values.push_back(given.at(level));
        break;
      }
      const py::ssize_t step = per_plane(given.shape(0));
      for (int plane = 0; plane < planes; ++plane) levels.values.push_back(given.at(plane * step));
      return levels;
    }
    case 2: {
      const py::ssize_t step = per_plane(given.shape(0));
      levels.per_plane = static_cast<int>(given.shape(1));
      levels.is_list = true;
      for (int plane = 0; plane < planes; ++plane)
        for (int level = 0; level < levels.per_plane; ++level)
          levels.values.push_back(given.at(plane * step, level));
      break;
    }
    default:
      throw py::value_error(fmt::format(
          "levels has {} dimensions, wanted a number, a list with one a plane, or a list of such lists",
          given.ndim()));
  }
  if (levels.per_plane < 1) throw py::value_error("levels is empty");
  if (levels.per_plane > kMostLevels)
    throw py::value_error(
        fmt::format("levels has {} levels a plane, allowed 1 to {}", levels.per_plane, kMostLevels));
  return levels;
}

StackShape stack_shape(std::span<const std::int64_t> sides, Layout layout) {
  const auto dimensions = static_cast<int>(sides.size());
  if (dimensions < 2 || dimensions > 4)
    throw py::value_error(fmt::format(
        "maps has {} dimensions, wanted 2 (one plane), 3 (planes) or 4 (frames of planes)", dimensions));
  StackShape shape;
  shape.dimensions = dimensions;
  const bool planar = layout == Layout::Planar || dimensions == 2;
  const auto last = sides.size() - 1;
  const std::int64_t planes = dimensions == 2 ? 1 : planar ? sides[last - 2] : sides[last];
  const std::int64_t height = planar ? sides[last - 1] : sides[last - 2];
  const std::int64_t width = planar ? sides[last] : sides[last - 1];
  const std::int64_t frames = dimensions == 4 ? sides[0] : 1;
  if (height < 2 || width < 2 || height > kMaxSide || width > kMaxSide)
    throw py::value_error(
        fmt::format("the planes have {} rows and {} columns, allowed 2 to {} each", height, width, kMaxSide));
  if (planes < 1 || frames < 1 || planes > kMaxSide || frames > (1 << 24))
    throw py::value_error(
        fmt::format("maps has {} frames of {} planes, wanted at least one of each", frames, planes));
  shape.frames = static_cast<int>(frames);
  shape.format = {.width = static_cast<int>(width),
                  .height = static_cast<int>(height),
                  .channels = static_cast<int>(planes),
                  .layout = planar ? Layout::Planar : Layout::Interleaved};
  return shape;
}

namespace {

/// An array over memory that `owner` keeps.
template <class T>
py::array owned_array(const T* data, std::vector<py::ssize_t> shape, const py::object& owner,
                      const py::dtype& type) {
  std::vector<py::ssize_t> strides(shape.size());
  auto step = static_cast<py::ssize_t>(sizeof(T));
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = step;
    step *= shape[axis];
  }
  return {type, std::move(shape), std::move(strides), data, owner};
}

}  // namespace

py::tuple flat_arrays(FlatContours found, PointType type) {
  auto* kept = new FlatContours(std::move(found));
  const py::capsule owner(kept, [](void* flat) { delete static_cast<FlatContours*>(flat); });
  const auto count = static_cast<py::ssize_t>(kept->count());
  const py::ssize_t points = kept->offsets[kept->count()];
  const auto points_array = [&]<class T>(T) {
    return owned_array(reinterpret_cast<const T*>(kept->points.data()), {points, 2}, owner,
                       py::dtype::of<T>());
  };
  const auto ids = [&](const Buffer<std::int32_t>& buffer) {
    return owned_array(buffer.data(), {count}, owner, py::dtype::of<std::int32_t>());
  };
  return py::make_tuple(type == PointType::Float32 ? points_array(float()) : points_array(double()),
                        owned_array(kept->offsets.data(), {count + 1}, owner, py::dtype::of<std::int64_t>()),
                        owned_array(kept->closed.data(), {count}, owner, py::dtype::of<bool>()),
                        ids(kept->class_ids), ids(kept->frame_ids), ids(kept->level_ids));
}

py::object nested_lists(const FlatContours& flat, PointType type, const StackShape& shape,
                        const Levels& levels) {
  std::size_t at = 0;
  const auto contours = [&] {
    const std::int64_t begin = flat.begin[at], end = flat.begin[at + 1];
    ++at;
    return contour_list<std::int64_t>(
        flat.points.data(), type,
        std::span(flat.offsets.data() + begin, static_cast<std::size_t>(end - begin) + 1));
  };
  const auto of_plane = [&]() -> py::list {
    if (!levels.is_list) return contours();
    py::list all;
    for (int level = 0; level < levels.per_plane; ++level) all.append(contours());
    return all;
  };
  const auto of_frame = [&]() -> py::list {
    if (shape.dimensions == 2) return of_plane();
    py::list all;
    for (int plane = 0; plane < shape.format.channels; ++plane) all.append(of_plane());
    return all;
  };
  if (shape.dimensions < 4) return of_frame();
  py::list all;
  for (int frame = 0; frame < shape.frames; ++frame) all.append(of_frame());
  return all;
}

void check_divisor(double divisor, ElementType type, bool boolean) {
  const bool integers = (type == ElementType::U8 && !boolean) || type == ElementType::U16;
  if (divisor != 1 && !integers)
    throw py::value_error(
        fmt::format("divisor is {}, allowed 1 for samples that are not uint8 or uint16", divisor));
}

}  // namespace contorno::python
