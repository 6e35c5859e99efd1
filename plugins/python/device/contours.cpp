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
#include "pipeline/value/copy_contours.h"
#include "plugins/python/device/device_input.h"
#include "plugins/python/device/device_result.h"
#include "plugins/python/device/stages.h"
#include "plugins/python/shared/arguments.h"

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

/// One frame's contours in device memory, and page-locked memory that their tables go through, with room for
/// `more` bytes where the points of `staged` begin.
struct DeviceFrame {
  std::shared_ptr<PooledBlock> block;
  ContoursView view;
  PooledBlock staging;
  ContoursView staged;

  DeviceFrame(const ContoursFormat& format, std::size_t more, const DevicePlace& place)
      : block(std::make_shared<PooledBlock>(packed_bytes(format), MemoryKind::Device, place)),
        view(packed_view(block->data(), format)),
        staging(bytes_before_points(view) + more, MemoryKind::Pinned, place),
        staged(packed_view(staging.data(), format)) {}

  /// The tables, and `more` bytes of points.
  void upload(std::size_t more, void* stream) const {
    copy_async(block->data(), staging.data(), bytes_before_points(view) + more, stream);
  }
  void download_tables(void* stream) const {
    copy_async(staging.data(), block->data(), bytes_before_points(view), stream);
  }
};

double largest_on_device(const ContoursView& contours, std::uint64_t count, const DevicePlace& place) {
  if (count == 0) return 0;
  const ImageView plane{
      contours.points,
      {.width = 2, .height = static_cast<int>(count), .channels = 1, .type = ElementType::F32},
      sizeof(Point),
      0};
  return sample_range(plane, place).second;
}

/// What was given, on the device of `place` and in the order of its stream, with the sides of its map: only
/// where these are those of points on the device does it wait.
std::unique_ptr<DeviceFrame> bring(const GivenContours& given, const std::optional<DevicePoints>& points,
                                   const DevicePlace& place) {
  const std::uint64_t count = given.tables.points();
  const ContoursFormat format = format_of(given);
  const ContourTables::Array<float> on_host =
      points ? ContourTables::Array<float>() : ContourTables::Array<float>(given.points);
  const py::gil_scoped_release released;
  const DeviceScope scope(place.device);
  auto frame =
      std::make_unique<DeviceFrame>(format, points ? 0 : format.point_capacity * sizeof(Point), place);
  ContourCounts counts;
  if (points) {
    copy_tables(view_of(given.tables, nullptr, format, counts), frame->staged);
    frame->upload(0, place.stream);
    if (count > 0) points->gather(given.first, count, frame->view, place.stream);
    if (!given.size) set_sides(frame->view.format, largest_on_device(frame->view, count, place));
  } else {
    const Point* const from = reinterpret_cast<const Point*>(on_host.data()) + given.first;
    copy_contours(view_of(given.tables, from, format, counts), frame->staged);
    frame->upload(count * sizeof(Point), place.stream);
    if (!given.size) set_sides(frame->view.format, largest_of(from, count));
  }
  return frame;
}

/// What `stage` makes of contours on the device; its tables are in `staged` then, and behind them, where the
/// stage selects contours, the numbers of these. One wait for each time that the stage runs.
std::unique_ptr<DeviceFrame> make_on_device(DirectStage& stage, const ContoursView& in,
                                            const std::optional<ImageView>& maps, std::size_t contours,
                                            const DevicePlace& place) {
  std::vector<Value> from{in};
  std::vector<Format> planned{in.format};
  if (maps) from.emplace_back(*maps), planned.emplace_back(maps->format);
  const std::size_t room = in.format.contour_capacity * sizeof(std::uint32_t);
  std::unique_ptr<DeviceFrame> out;
  do {
    stage.plan(planned, place.stream);
    out = std::make_unique<DeviceFrame>(std::get<ContoursFormat>(stage.outputs()[0]), room, place);
    const Value to = out->view;
    stage.enqueue(from, std::span(&to, 1), place.stream);
    out->download_tables(place.stream);
    if (stage.selection() != nullptr && contours > 0)
      copy_async(out->staged.points, stage.selection(), contours * sizeof(std::uint32_t), place.stream);
    synchronize_stream(place.stream);
  } while (stage.overflowed());
  return out;
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
                             const SequenceFrame& frame, py::handle stream) {
  std::optional<DevicePoints> points;
  if (DeviceArray::is_on_device(given.points)) points.emplace(given.points, stream);
  std::optional<DeviceInput> maps;
  if (!given.maps.is_none()) maps.emplace(given.maps, "maps", stream);
  const DevicePlace place = points                         ? points->place()
                            : maps && maps->is_on_device() ? maps->place()
                                                           : place_for(stream);
  const std::optional<ImageView> image =
      maps ? std::optional(maps->image(Layout::Planar, place)) : std::nullopt;
  const std::string key = fmt::format("{}\n{}", key_of(type, set), place.device);
  const std::unique_ptr<DeviceFrame> in = bring(given, points, place);
  std::unique_ptr<DeviceFrame> out;
  bool selected = false;
  {
    const DeviceScope scope(place.device);
    // What throws in here leaves the stage behind: its memory may be in use.
    std::unique_ptr<DirectStage> stage =
        frame.sequence.take(key, [&] { return std::make_unique<DirectStage>(type, set, Backend::Cuda, 1); });
    stage->set_frame(frame.number);
    {
      const std::size_t contours = given.tables.contours();
      const py::gil_scoped_release released;
      out = make_on_device(*stage, in->view, image, contours, place);
      selected = stage->selection() != nullptr;
    }
    frame.sequence.give(key, std::move(stage));
  }
  const ContoursView& tables = out->staged;
  MadeContours made{.points = py::none(), .sources = py::none(), .tables = read_tables(tables)};
  if (selected)
    made.sources = py::array_t<std::uint32_t>(static_cast<py::ssize_t>(tables.counts->contours),
                                              reinterpret_cast<const std::uint32_t*>(tables.points));
  else
    made.points = points_of(*out, tables.counts->points, place);
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
