#include "plugins/python/host/find_in_maps.h"

#include <cstring>

#include "pipeline/shared/loops.h"
#include "stages/contours/cpu/search.h"

namespace contorno::python {
namespace {

EmitTarget target_of(FoundInMaps& found, PointType type, Orientation orientation) {
  EmitTarget target{
      .offsets = found.offsets.data(), .closed = found.closed.data(), .orientation = orientation};
  switch (type) {
    case PointType::Float32:
      target.points = reinterpret_cast<Point*>(found.points.data());
      break;
    case PointType::Float64:
      target.exact_points = reinterpret_cast<PointD*>(found.points.data());
      break;
  }
  return target;
}

}  // namespace

FoundInMaps find_in_maps(const ImageView& maps, std::span<const double> levels, PointType type,
                         const MapsOptions& options) {
  const ContourSearch search(maps, {levels.begin(), levels.end()},
                             {.assembly = {.fully_connected = options.fully_connected,
                                           .positive_orientation = options.positive_orientation,
                                           .min_points = options.min_points,
                                           .scale = options.scale,
                                           .threads = options.threads},
                              .mask = options.mask});
  FoundInMaps found{
      .points = Buffer<std::byte>(search.points() * point_bytes(type)),
      .offsets = Buffer<std::uint32_t>(search.contours() + 1),
      .closed = Buffer<std::uint8_t>(search.contours() + 1),
      .class_begin = std::vector<std::uint32_t>(static_cast<std::size_t>(maps.format.channels) + 1)};
  search.emit(target_of(found, type, options.positive_orientation), found.class_begin.data());
  return found;
}

namespace {

/// One part of the flat result: plane `plane` of one image.
struct Piece {
  const FoundInMaps* from = nullptr;
  int frame = 0, plane = 0, level = 0;
  std::int64_t first_contour = 0, first_point = 0;  // in the result

  std::uint32_t begin() const { return from->class_begin[static_cast<std::size_t>(plane)]; }
  std::uint32_t end() const { return from->class_begin[static_cast<std::size_t>(plane) + 1]; }
  std::uint32_t points() const { return from->offsets[end()] - from->offsets[begin()]; }
};

void copy_piece(const Piece& piece, PointType type, FlatContours& flat, bool with_points) {
  const FoundInMaps& from = *piece.from;
  const std::uint32_t begin = piece.begin(), first = from.offsets[begin];
  const std::size_t size = point_bytes(type);
  if (with_points && piece.points() > 0)
    std::memcpy(flat.points.data() + static_cast<std::size_t>(piece.first_point) * size,
                from.points.data() + first * size, piece.points() * size);
  for (std::uint32_t i = begin; i < piece.end(); ++i) {
    const auto at = static_cast<std::size_t>(piece.first_contour) + (i - begin);
    flat.offsets.data()[at] = piece.first_point + (from.offsets[i] - first);
    flat.closed.data()[at] = from.closed[i];
    flat.class_ids.data()[at] = piece.plane;
    flat.frame_ids.data()[at] = piece.frame;
    flat.level_ids.data()[at] = piece.level;
  }
}

}  // namespace

FlatContours flatten(std::vector<FoundInMaps> results, int frames, int planes, int levels_per_plane,
                     PointType type, int threads) {
  FlatContours flat;
  std::vector<Piece> pieces;
  std::int64_t contours = 0, points = 0;
  for (int frame = 0; frame < frames; ++frame)
    for (int plane = 0; plane < planes; ++plane)
      for (int level = 0; level < levels_per_plane; ++level) {
        const auto result = static_cast<std::size_t>(frame) * static_cast<std::size_t>(levels_per_plane) +
                            static_cast<std::size_t>(level);
        const Piece piece{&results[result], frame, plane, level, contours, points};
        pieces.push_back(piece);
        flat.begin.push_back(contours);
        contours += piece.end() - piece.begin();
        points += piece.points();
      }
  flat.begin.push_back(contours);
  const auto count = static_cast<std::size_t>(contours);
  flat.offsets = Buffer<std::int64_t>(count + 1);
  flat.offsets.data()[count] = points;
  flat.closed = Buffer<std::uint8_t>(count + 1);
  flat.class_ids = Buffer<std::int32_t>(count + 1);
  flat.frame_ids = Buffer<std::int32_t>(count + 1);
  flat.level_ids = Buffer<std::int32_t>(count + 1);
  // The points of a single image are in their final order already.
  const bool single = results.size() == 1;
  if (!single) flat.points = Buffer<std::byte>(static_cast<std::size_t>(points) * point_bytes(type));
  for_tasks(threads, static_cast<int>(pieces.size()),
            [&](int index) { copy_piece(pieces[static_cast<std::size_t>(index)], type, flat, !single); });
  if (single) flat.points = std::move(results[0].points);
  return flat;
}

FlatContours find_in_stack(const MapStack& stack, std::span<const double> levels, int levels_per_plane,
                           PointType type, const MapsOptions& options) {
  const int planes = stack.first.format.channels;
  const int jobs = stack.frames * levels_per_plane;
  std::vector<FoundInMaps> results(static_cast<std::size_t>(jobs));
  // Many images: a thread each. Few: all threads on each.
  const bool across = jobs >= 2 * options.threads;
  MapsOptions inner = options;
  if (across) inner.threads = 1;
  for_tasks(across ? options.threads : 1, jobs, [&](int job) {
    const int frame = job / levels_per_plane, level = job % levels_per_plane;
    ImageView maps = stack.first;
    maps.data = static_cast<char*>(maps.data) + frame * stack.frame_pitch;
    std::vector<double> own;
    for (int plane = 0; plane < planes; ++plane)
      own.push_back(levels[static_cast<std::size_t>(plane * levels_per_plane + level)]);
    results[static_cast<std::size_t>(job)] = find_in_maps(maps, own, type, inner);
  });
  return flatten(std::move(results), stack.frames, planes, levels_per_plane, type, options.threads);
}

}  // namespace contorno::python
