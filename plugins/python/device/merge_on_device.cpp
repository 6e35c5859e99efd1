// Contours of several runs of the engine as one result: what one run cannot make (frames that do not lie
// behind each other).
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "cuda/pointer.h"
#include "cuda/stream.h"
#include "plugins/python/device/device_kernels.h"
#include "plugins/python/device/find_on_device.h"

namespace contorno::python {
namespace {

/// Where the planes of a result begin.
struct PlaneBegins {
  std::vector<std::uint32_t> contours, points;
};

PlaneBegins begins_of(const DeviceContours& result) {
  const auto count = static_cast<std::size_t>(result.planes) + 1;
  std::vector<std::uint32_t> both(2 * count);
  const PooledBlock device(both.size() * sizeof(std::uint32_t), MemoryKind::Device, result.place);
  pick_plane_begins(result.class_begin, result.offsets, result.planes,
                    reinterpret_cast<std::uint32_t*>(device.data()), result.place.stream);
  download(both.data(), device.data(), both.size() * sizeof(std::uint32_t), result.place);
  const auto middle = both.begin() + static_cast<std::ptrdiff_t>(count);
  return {{both.begin(), middle}, {middle, both.end()}};
}

/// The pieces in their final order, with one more behind them that has the ends.
std::vector<ContourPiece> pieces_of(const std::vector<DeviceContours>& results, const PlaneAxes& axes) {
  std::vector<ContourPiece> pieces;
  std::uint64_t contours = 0, points = 0;
  int frame = 0;
  for (const DeviceContours& from : results) {
    const PlaneBegins begin = begins_of(from);
    for (int all = 0; all < from.planes; ++all) {
      const auto at = static_cast<std::size_t>(all);
      pieces.push_back({.points = from.point_data,
                        .offsets = from.offsets,
                        .closed = from.closed,
                        .plane = axes.plane(all),
                        .frame = frame + axes.frame(all),
                        .level = axes.level(all),
                        .from_contour = begin.contours[at],
                        .from_point = begin.points[at],
                        .to_contour = static_cast<std::uint32_t>(contours),
                        .to_point = static_cast<std::uint32_t>(points)});
      contours += begin.contours[at + 1] - begin.contours[at];
      points += begin.points[at + 1] - begin.points[at];
    }
    frame += axes.frame(from.planes);
  }
  if (points > std::numeric_limits<std::int32_t>::max())
    throw Error(ExitCode::BadData, "the contours have " + std::to_string(points) +
                                       " points, allowed 2147483647 with output='device'; use several calls");
  ContourPiece& end = pieces.emplace_back();
  end.to_contour = static_cast<std::uint32_t>(contours), end.to_point = static_cast<std::uint32_t>(points);
  return pieces;
}

}  // namespace

DeviceContours merge_on_device(const std::vector<DeviceContours>& results, const PlaneAxes& axes,
                               const DevicePlace& place) {
  const DeviceScope scope(place.device);
  const std::vector<ContourPiece> pieces = pieces_of(results, axes);
  DeviceContours merged =
      allocate_contours(0, pieces.back().to_point, pieces.back().to_contour, results.front().type, place);
  merged.contours = pieces.back().to_contour, merged.points = pieces.back().to_point;
  const std::size_t bytes = pieces.size() * sizeof(ContourPiece);
  const PooledBlock staging(bytes, MemoryKind::Pinned, place), table(bytes, MemoryKind::Device, place);
  std::memcpy(staging.data(), pieces.data(), bytes);
  copy_async(table.data(), staging.data(), bytes, place.stream);
  merge_contours(reinterpret_cast<const ContourPiece*>(table.data()), static_cast<int>(pieces.size()) - 1,
                 merged.contours, merged.points, point_bytes(merged.type),
                 {.points = merged.point_data,
                  .offsets = merged.offsets,
                  .closed = merged.closed,
                  .ids = {merged.class_ids, merged.frame_ids, merged.level_ids}},
                 place.stream);
  synchronize_stream(place.stream);
  return merged;
}

}  // namespace contorno::python
