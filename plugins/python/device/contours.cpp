#include "plugins/python/device/contours.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "cuda/pointer.h"
#include "cuda/stream.h"
#include "pipeline/graph/direct.h"
#include "plugins/python/device/device_input.h"
#include "plugins/python/device/device_result.h"
#include "plugins/python/device/stages.h"
#include "plugins/python/shared/arguments.h"
#include "plugins/python/shared/idle.h"

namespace contorno::python {
namespace {

/// An array of points in device memory, read where it lies.
class DevicePoints {
 public:
  /// Throws TypeError and ValueError for what is no (n, 2) array of integers or floats.
  DevicePoints(py::handle object, py::handle stream) : array_(object, kName, stream) {
    const std::vector<std::int64_t>& sides = array_.sides();
    if (sides.size() != 2 || sides[1] != 2)
      throw py::value_error(fmt::format("{} has shape ({}), wanted (n, 2): row and column of each point",
                                        kName, fmt::join(sides, ", ")));
    if (array_.kind() == 'b')
      throw py::type_error(fmt::format("{} has dtype bool, allowed are integers and floats", kName));
  }

  std::int64_t count() const { return array_.sides()[0]; }
  DevicePlace place() const { return {array_.device(), array_.stream()}; }
  StridedSamples samples() const {
    return samples_of(array_.data(), array_.sides(), array_.strides(), array_.kind(), array_.item_bytes());
  }
  /// `count` of them from `first` on, as float32.
  void gather(std::size_t first, std::uint64_t count, const ContoursView& to, void* stream) const {
    StridedSamples from = samples();
    from.data = static_cast<const char*>(from.data) + static_cast<std::int64_t>(first) * from.strides[2];
    from.sides[2] = static_cast<std::int64_t>(count);
    gather_samples(from, to.points, GatherTo::Float32, stream);
  }

 private:
  static constexpr const char* kName = "contours.points";
  DeviceArray array_;
};

/// All of a packed view but the points, which come last.
std::size_t bytes_before_points(const ContoursView& view) {
  return static_cast<std::size_t>(reinterpret_cast<std::byte*>(view.points) -
                                  reinterpret_cast<std::byte*>(view.counts));
}

/// One frame's contours in device memory, and page-locked memory that their tables go through.
struct DeviceFrame {
  std::shared_ptr<PooledBlock> block;
  PooledBlock staging;
  ContoursView view, staged;

  DeviceFrame(const ContoursFormat& format, const DevicePlace& place)
      : block(std::make_shared<PooledBlock>(packed_bytes(format), MemoryKind::Device, place)),
        staging(packed_bytes(format), MemoryKind::Pinned, place),
        view(packed_view(block->data(), format)),
        staged(packed_view(staging.data(), format)) {}

  void upload(std::size_t bytes, void* stream) const {
    copy_async(block->data(), staging.data(), bytes, stream);
  }
  void download_tables(void* stream) const {
    copy_async(staging.data(), block->data(), bytes_before_points(view), stream);
    synchronize_stream(stream);
  }
};

double largest_of(const ContoursView& contours, std::uint64_t count, const DevicePlace& place) {
  if (count == 0) return 0;
  const ImageView plane{
      contours.points,
      {.width = 2, .height = static_cast<int>(count), .channels = 1, .type = ElementType::F32},
      sizeof(Point),
      0};
  return sample_range(plane, place).second;
}

/// What was given, with the sides of its map, on the device of `place` and in the order of its stream.
void bring(const GivenContours& given, const std::optional<DevicePoints>& points,
           const ContourTables::Array<float>& on_host, DeviceFrame& frame, const DevicePlace& place) {
  const std::uint64_t count = given.tables.points();
  std::size_t bytes = bytes_before_points(frame.view);
  if (!points) {
    std::copy_n(reinterpret_cast<const Point*>(on_host.data()) + given.first, count, frame.staged.points);
    bytes += count * sizeof(Point);
  }
  const py::gil_scoped_release released;
  const DeviceScope scope(place.device);
  frame.upload(bytes, place.stream);
  if (points && count > 0) points->gather(given.first, count, frame.view, place.stream);
  if (!given.size) set_sides(frame.view.format, largest_of(frame.view, count, place));
}

/// The contours of `view` as DeviceArray, which keeps their memory.
py::object points_of(const DeviceFrame& frame, std::uint64_t count, const DevicePlace& place) {
  return py::cast(ResultArray{.owner = frame.block,
                              .place = place,
                              .data = frame.view.points,
                              .sides = {static_cast<std::int64_t>(count), 2},
                              .strides = {},
                              .kind = 'f',
                              .item_bytes = sizeof(float)});
}

}  // namespace

MadeContours apply_on_device(const StageType& type, const ParamSet& set, const GivenContours& given,
                             py::handle stream) {
  std::optional<DevicePoints> points;
  ContourTables::Array<float> on_host;
  if (DeviceArray::is_on_device(given.points))
    points.emplace(given.points, stream);
  else
    on_host = ContourTables::Array<float>(given.points);
  const DevicePlace place = points ? points->place() : place_for(stream);
  const std::string key = fmt::format("{}\n{}", key_of(type, set), place.device);
  std::optional<DeviceFrame> in, out;
  {
    const DeviceScope scope(place.device);
    in.emplace(format_of(given), place);
  }
  write_tables(given.tables, in->staged);
  bring(given, points, on_host, *in, place);
  std::unique_ptr<DirectStage> stage = Idle<DirectStage>::instance().take(key);
  std::vector<std::uint32_t> sources;
  {
    const py::gil_scoped_release released;
    const DeviceScope scope(place.device);
    // What throws in here leaves the stage behind: its memory may be in use.
    if (!stage) stage = std::make_unique<DirectStage>(type, set, Backend::Cuda, 1);
    const Format planned = in->view.format;
    do {
      stage->plan(std::span(&planned, 1), place.stream);
      out.emplace(std::get<ContoursFormat>(stage->outputs()[0]), place);
      const Value from = in->view, to = out->view;
      stage->enqueue(std::span(&from, 1), std::span(&to, 1), place.stream);
      synchronize_stream(place.stream);
    } while (stage->overflowed());
    out->download_tables(place.stream);
    if (const std::uint32_t* selection = stage->selection()) {
      sources.resize(stage->counts(0).contours);
      if (!sources.empty())
        download(sources.data(), selection, sources.size() * sizeof(std::uint32_t), place);
    }
  }
  const bool selected = stage->selection() != nullptr;
  Idle<DirectStage>::instance().give(key, std::move(stage));
  MadeContours made{.points = py::none(), .sources = py::none(), .tables = read_tables(out->staged)};
  if (selected)
    made.sources = py::array_t<std::uint32_t>(static_cast<py::ssize_t>(sources.size()), sources.data());
  else
    made.points = points_of(*out, out->staged.counts->points, place);
  return made;
}

py::object gather_on_device(py::handle points, const ContourTables::Array<std::uint32_t>& begin,
                            const ContourTables::Array<std::uint32_t>& offsets, py::handle stream) {
  const DevicePoints given(points, stream);
  const DevicePlace place = given.place();
  const StridedSamples from = given.samples();
  const std::uint32_t count = *offsets.data(offsets.size() - 1);
  NewDeviceArray made = new_device_array(py::dtype(fmt::format("{}{}", from.kind, from.item_bytes)),
                                         {std::int64_t{count}, 2}, place);
  if (count == 0) return std::move(made.array);
  const auto contours = static_cast<std::size_t>(begin.size());
  const py::gil_scoped_release released;
  const DeviceScope scope(place.device);
  const PooledBlock staging((2 * contours + 1) * sizeof(std::uint32_t), MemoryKind::Pinned, place);
  auto* const staged = reinterpret_cast<std::uint32_t*>(staging.data());
  std::copy_n(offsets.data(), contours + 1, std::copy_n(begin.data(), contours, staged));
  const PooledBlock table((2 * contours + 1) * sizeof(std::uint32_t), MemoryKind::Device, place);
  copy_async(table.data(), staged, (2 * contours + 1) * sizeof(std::uint32_t), place.stream);
  const auto* const first = reinterpret_cast<const std::uint32_t*>(table.data());
  gather_contours(from,
                  {.from_begin = first,
                   .to_begin = first + contours,
                   .contours = static_cast<unsigned>(contours),
                   .points = count},
                  made.data, place.stream);
  synchronize_stream(place.stream);
  return std::move(made.array);  // without the GIL no reference may be counted
}

std::int64_t points_on_device(py::handle points, py::handle stream) {
  return DevicePoints(points, stream).count();
}

}  // namespace contorno::python
