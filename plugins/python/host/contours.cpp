#include "plugins/python/host/contours.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <tuple>

#include "pipeline/graph/direct.h"
#include "plugins/python/host/apply.h"
#include "plugins/python/host/host_image.h"
#include "plugins/python/shared/arguments.h"
#include "plugins/python/shared/process.h"

namespace contorno::python {
namespace {

template <class T>
ContourTables::Array<T> array_of(const T* values, std::uint64_t count) {
  return ContourTables::Array<T>(static_cast<py::ssize_t>(count), values);
}

/// An array that is only read, for a view: views do not tell such arrays from others, and stages do not write
/// to their inputs.
template <class T>
T* to_be_read(const T* array) {
  return const_cast<T*>(array);
}

/// The capacity for so many contours: a power of two, so that a stage is not planned anew for every frame.
std::uint64_t room_for(std::uint64_t contours) {
  return std::bit_ceil(contours);
}

}  // namespace

void ContourTables::set_attributes(const py::dict& by_name) {
  attributes = {};
  for (const auto& [name, array] : by_name) {
    const auto attribute = attribute_called(py::cast<std::string>(name));
    if (!attribute)
      throw py::value_error(fmt::format("the attribute '{}' of contours is not known; known are {}",
                                        py::cast<std::string>(name), fmt::join(kAttributeNames, ", ")));
    attributes = attributes.with(Attributes(*attribute));
  }
  const ContoursFormat format{.contour_capacity = room_for(contours()), .attributes = attributes};
  columns = Array<double>(
      {static_cast<py::ssize_t>(attributes.count()), static_cast<py::ssize_t>(format.column_stride())});
  for (const auto& [name, array] : by_name) {
    const Array<double> numbers(py::reinterpret_borrow<py::object>(array));
    if (numbers.ndim() != 1 || numbers.size() != closed.size())
      throw py::value_error(fmt::format("the attribute '{}' of contours has not a number for each of the {}",
                                        py::cast<std::string>(name), closed.size()));
    const unsigned row = attributes.column(*attribute_called(py::cast<std::string>(name)));
    std::copy_n(numbers.data(), numbers.size(), columns.mutable_data(row, 0));
  }
}

py::dict ContourTables::attributes_by_name() const {
  py::dict by_name;
  attributes.for_each([&](Attribute attribute) {
    const double* const row = columns.data(attributes.column(attribute), 0);
    by_name[py::str(std::string(name_of(attribute)))] = array_of(row, contours());
  });
  return by_name;
}

ContoursFormat format_of(const GivenContours& given) {
  ContoursFormat format{.classes = static_cast<int>(given.tables.class_begin.size()) - 1,
                        .point_capacity = std::bit_ceil(std::uint64_t{given.tables.points()}),
                        .contour_capacity = room_for(given.tables.contours()),
                        .attributes = given.tables.attributes};
  if (given.size) std::tie(format.width, format.height) = *given.size;
  return format;
}

void set_sides(ContoursFormat& format, double largest) {
  if (format.width > 0) return;
  const double last = std::clamp(largest, 0.0, kMaxSide - 1.0);
  format.width = format.height = static_cast<int>(std::bit_ceil(static_cast<unsigned>(last) + 1));
}

double largest_of(const Point* points, std::uint64_t count) {
  double largest = 0;
  for (std::uint64_t i = 0; i < count; ++i)
    largest = std::max({largest, static_cast<double>(points[i].row), static_cast<double>(points[i].col)});
  return largest;
}

ContoursView view_of(const ContourTables& tables, const Point* points, const ContoursFormat& format,
                     ContourCounts& counts) {
  counts = {.points = tables.points(), .contours = tables.contours()};
  return {.format = format,
          .counts = &counts,
          .points = to_be_read(points),
          .offsets = to_be_read(tables.offsets.data()),
          .closed = to_be_read(tables.closed.data()),
          .class_begin = to_be_read(tables.class_begin.data()),
          .columns = to_be_read(tables.columns.data())};
}

ContourTables read_tables(const ContoursView& from) {
  const std::uint64_t contours = from.counts->contours;
  const std::vector<py::ssize_t> sides{static_cast<py::ssize_t>(from.format.attributes.count()),
                                       static_cast<py::ssize_t>(from.format.column_stride())};
  return {.offsets = array_of(from.offsets, contours + 1),
          .closed = array_of(from.closed, contours),
          .class_begin = array_of(from.class_begin, static_cast<std::uint64_t>(from.format.classes) + 1),
          .attributes = from.format.attributes,
          .columns = ContourTables::Array<double>(sides, from.columns)};
}

MadeContours apply_on_host(const StageType& type, const ParamSet& set, const GivenContours& given,
                           const SequenceFrame& frame, py::handle threads) {
  const ContourTables::Array<float> array(given.points);
  const Point* const points = reinterpret_cast<const Point*>(array.data()) + given.first;
  const std::uint64_t count = given.tables.points();
  const int used = threads_for(threads, count);
  const std::string key = fmt::format("{}\n{}", key_of(type, set), used);
  std::optional<HostArray> maps;
  std::vector<Value> inputs{ContoursView{}};
  if (!given.maps.is_none()) {
    inputs.emplace_back(image_of(maps.emplace(given.maps, "maps"), "maps", Layout::Planar));
    if (maps->was_converted()) refuse_samples("maps");
  }
  ContoursFormat format = format_of(given);
  ContourCounts counts;
  std::unique_ptr<DirectStage> stage =
      frame.sequence.take(key, [&] { return std::make_unique<DirectStage>(type, set, Backend::Cpu, used); });
  stage->set_frame(frame.number);
  Block made;
  ContoursView out;
  {
    const py::gil_scoped_release released;
    const SignalWatch watch;
    set_sides(format, largest_of(points, count));
    inputs[0] = view_of(given.tables, points, format, counts);
    std::vector<Format> planned{format};
    if (maps) planned.emplace_back(std::get<ImageView>(inputs[1]).format);
    do {
      stage->plan(planned, nullptr);
      const auto& output = std::get<ContoursFormat>(stage->outputs()[0]);
      made = Block(), made = Block(packed_bytes(output), MemoryKind::Host);
      out = packed_view(made.data(), output);
      const Value to = out;
      stage->enqueue(inputs, std::span(&to, 1), nullptr);
    } while (stage->overflowed());
  }
  MadeContours result{.points = py::none(), .sources = py::none(), .tables = read_tables(out)};
  if (const std::uint32_t* sources = stage->selection()) {
    result.sources = array_of(sources, out.counts->contours);
  } else {
    const std::vector<py::ssize_t> sides{static_cast<py::ssize_t>(out.counts->points), 2};
    result.points = py::array_t<float>(sides, reinterpret_cast<const float*>(out.points));
  }
  frame.sequence.give(key, std::move(stage));
  return result;
}

}  // namespace contorno::python
