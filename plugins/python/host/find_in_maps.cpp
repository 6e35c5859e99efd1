#include "plugins/python/host/find_in_maps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>

#include "base/error.h"
#include "base/memory.h"
#include "pipeline/shared/loops.h"
#include "stages/contours/cpu/level_search.h"
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

FoundInMaps room_for(std::uint64_t points, std::uint64_t contours, int planes, PointType type) {
  return {.points = Buffer<std::byte>(points * point_bytes(type)),
          .offsets = Buffer<std::uint32_t>(contours + 1),
          .closed = Buffer<std::uint8_t>(contours + 1),
          .class_begin = std::vector<std::uint32_t>(static_cast<std::size_t>(planes) + 1)};
}

/// Throws Error(BadData) for more points than 32 bits can count.
void check_count(std::uint64_t points) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (points > kMost)
    throw Error(ExitCode::BadData, fmt::format("the contours have {} points, allowed {}", points, kMost));
}

ImageView frame_of(const MapStack& stack, int frame) {
  ImageView maps = stack.first;
  maps.data = static_cast<char*>(maps.data) + frame * stack.frame_pitch;
  return maps;
}

/// Calls f(frame, options) for each frame. Many of them: a thread each. Few: all threads on each.
template <class F>
void for_frames(const MapStack& stack, const MapsOptions& options, const F& f) {
  const bool across = stack.frames >= 2 * options.threads;
  MapsOptions inner = options;
  if (across) inner.threads = 1;
  for_tasks(across ? options.threads : 1, stack.frames, [&](int frame) { f(frame, inner); });
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
  // The analyser loses sight of arrays that are moved into a vector.
  // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks)
  FoundInMaps found = room_for(search.points(), search.contours(), maps.format.channels, type);
  search.emit(target_of(found, type, options.positive_orientation), found.class_begin.data());
  return found;
}

namespace {

/// One part of the flat result: plane `index` of one result, which is a plane of a frame at a level.
struct Piece {
  const FoundInMaps* from = nullptr;
  std::size_t index = 0;
  int frame = 0, plane = 0, level = 0;
  std::int64_t first_contour = 0, first_point = 0;  // in the result

  std::uint32_t begin() const { return from->class_begin[index]; }
  std::uint32_t end() const { return from->class_begin[index + 1]; }
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

/// Joins pieces, which are in their final order. `single`: all of them are those of one search, in its order;
/// its points stay where they are.
FlatContours join(std::vector<Piece> pieces, FoundInMaps* single, PointType type, int threads) {
  FlatContours flat;
  std::int64_t contours = 0, points = 0;
  for (Piece& piece : pieces) {
    piece.first_contour = contours;
    piece.first_point = points;
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
  if (single == nullptr)
    flat.points = Buffer<std::byte>(static_cast<std::size_t>(points) * point_bytes(type));
  for_tasks(threads, static_cast<int>(pieces.size()), [&](int index) {
    copy_piece(pieces[static_cast<std::size_t>(index)], type, flat, single == nullptr);
  });
  if (single != nullptr) flat.points = std::move(single->points);
  return flat;
}

/// All planes of one image at several levels each: a result for each group of planes and levels
/// (LevelSearch).
std::vector<FoundInMaps> find_levels(const ImageView& maps, std::span<const double> levels,
                                     int levels_per_plane, PointType type, const MapsOptions& options) {
  std::vector<LevelPlane> planes;
  for (std::size_t i = 0; i < levels.size(); ++i)
    planes.push_back({static_cast<int>(i) / levels_per_plane, levels[i]});
  const LevelSearch search(maps.format, std::move(planes),
                           {.fully_connected = options.fully_connected,
                            .positive_orientation = options.positive_orientation,
                            .min_points = options.min_points,
                            .scale = options.scale,
                            .threads = options.threads});
  // A first guess for a group; more is taken where it is too little.
  std::uint64_t most_points =
      static_cast<std::uint64_t>(maps.format.width) * static_cast<std::uint64_t>(maps.format.height) * 2;
  std::uint64_t most_contours = most_points / 16;
  const Block memory(search.memory_bytes(), MemoryKind::Host);
  Block scratch(search.scratch_bytes(most_contours, most_points), MemoryKind::Host);
  search.read(maps, options.mask, memory.data());
  std::vector<FoundInMaps> results;
  for (int group = 0; group < search.groups(); ++group) {
    search.mark(group, maps, memory.data());
    AssemblyCounts counts = search.link(group, memory.data(), scratch.data(), most_contours, most_points);
    while (counts.lost) {
      most_points *= 2;
      most_contours *= 2;
      scratch = Block();
      scratch = Block(search.scratch_bytes(most_contours, most_points), MemoryKind::Host);
      counts = search.link(group, memory.data(), scratch.data(), most_contours, most_points);
    }
    check_count(counts.points);
    results.push_back(room_for(counts.points, counts.contours, search.group_planes(group), type));
    FoundInMaps& found = results.back();
    search.emit(group, memory.data(), scratch.data(), most_contours, most_points, {},
                target_of(found, type, options.positive_orientation), found.class_begin.data());
  }
  return results;
}

/// Calls f(plane, level) for all, in the order of results.
template <class F>
void for_planes_and_levels(int planes, int levels_per_plane, const F& f) {
  for (int plane = 0; plane < planes; ++plane)
    for (int level = 0; level < levels_per_plane; ++level) f(plane, level);
}

}  // namespace

FlatContours flatten(std::vector<FoundInMaps> results, int frames, int planes, int levels_per_plane,
                     PointType type, int threads) {
  std::vector<Piece> pieces;
  std::size_t result = 0, index = 0;
  for (int frame = 0; frame < frames; ++frame)
    for_planes_and_levels(planes, levels_per_plane, [&](int plane, int level) {
      if (index + 1 == results[result].class_begin.size()) ++result, index = 0;
      pieces.push_back({&results[result], index++, frame, plane, level});
    });
  return join(std::move(pieces), results.size() == 1 ? results.data() : nullptr, type, threads);
}

FlatContours find_in_stack(const MapStack& stack, std::span<const double> levels, int levels_per_plane,
                           PointType type, const MapsOptions& options) {
  std::vector<std::vector<FoundInMaps>> of_frame(static_cast<std::size_t>(stack.frames));
  for_frames(stack, options, [&](int frame, const MapsOptions& inner) {
    std::vector<FoundInMaps>& found = of_frame[static_cast<std::size_t>(frame)];
    const ImageView maps = frame_of(stack, frame);
    if (levels_per_plane > 1)
      found = find_levels(maps, levels, levels_per_plane, type, inner);
    else
      found.push_back(find_in_maps(maps, levels, type, inner));
  });
  std::vector<FoundInMaps> results;
  for (std::vector<FoundInMaps>& found : of_frame)
    std::move(found.begin(), found.end(), std::back_inserter(results));
  return flatten(std::move(results), stack.frames, stack.first.format.channels, levels_per_plane, type,
                 options.threads);
}

}  // namespace contorno::python
