// What the host computes for the contour engine: sizes, limits and groups of planes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/memory.h"
#include "pipeline/graph/banded_upload.h"
#include "stages/contours/cuda/engine.h"
#include "stages/contours/cuda/join.cuh"
#include "stages/contours/cuda/number.cuh"
#include "stages/contours/cuda/number_levels.cuh"
#include "stages/contours/cuda/scatter.cuh"
#include "stages/contours/cuda/trace.cuh"
#include "stages/contours/rules/level_test.h"

namespace contorno::contour_engine {

/// The number that stored samples are compared with, for a level: those above it are high. Not used for
/// float64.
inline float threshold_of(const ContourEngineSpec& spec, double level) {
  switch (spec.map.type) {
    case ElementType::U8:
      return static_cast<float>(highest_low(255, {spec.divisor}, level));
    case ElementType::U16:
      return static_cast<float>(highest_low(65535, {spec.divisor}, level));
    case ElementType::F16:
    case ElementType::F32:
      return highest_low<float>(level);
    case ElementType::F64:
      break;
  }
  return 0;
}

/// Tiles of all planes.
template <class P>
std::size_t all_tiles(const PlaneGroup<P>& group) {
  return static_cast<std::size_t>(group.planes) * static_cast<std::size_t>(group.tiles_y) *
         static_cast<std::size_t>(group.tiles_x);
}

/// Blocks of number_by_scan, for the group's planes.
template <class P>
unsigned scan_blocks(const PlaneGroup<P>& group) {
  const std::uint64_t units = static_cast<std::uint64_t>(group.planes) *
                              static_cast<std::uint64_t>(group.cell_rows) *
                              static_cast<std::uint64_t>(group.tiles_x);
  return static_cast<unsigned>(std::max<std::uint64_t>((units + kScanThreads - 1) / kScanThreads, 1));
}

/// Throws Error(BadConfig): `what` is what the engine cannot take.
[[noreturn]] inline void refuse(const std::string& what) {
  throw Error(ExitCode::BadConfig, "contour engine: " + what);
}

/// Sets the sizes of the map and of its division into tiles.
template <class P>
void set_sizes(PlaneGroup<P>& group, const ImageFormat& map, int planes) {
  group.planes = planes;
  group.cell_rows = map.height - 1;
  group.cell_columns = map.width - 1;
  group.tiles_x = (group.cell_columns + kTileColumns - 1) / kTileColumns;
  group.tiles_y = (group.cell_rows + kTileRows - 1) / kTileRows;
}

/// Tiles whose junctions have numbers.
inline constexpr std::size_t kMostTiles = (kAtJunction - 1) / kTileJunctions;

/// For how many near tiles of several levels the arrays have room. Most tiles are near few levels, so it
/// follows from the points: when there are more the frame is run again with more points.
inline std::size_t near_tile_capacity(std::uint64_t points) {
  constexpr std::uint64_t kFewTiles = 1 << 16;
  return std::max(points / kTilePoints, kFewTiles);
}

/// How many planes are worked on together where channels have several levels: all, unless there is room for
/// more near tiles than have numbers. Then they are as many as may be near all tiles at once, and all planes
/// are divided evenly.
inline int level_group_planes(const ContourEngineSpec& spec, std::size_t plane_tiles) {
  const auto levels = static_cast<int>(spec.levels.size());
  if (near_tile_capacity(spec.point_capacity) <= kMostTiles) return std::max(levels, 1);
  const auto most = static_cast<int>(
      std::clamp<std::size_t>(kMostTiles / std::max<std::size_t>(plane_tiles, 1), 1, 1 << 20));
  const int groups = std::max((levels + most - 1) / most, 1);
  return std::max((levels + groups - 1) / groups, 1);
}

/// Sets for how many tiles of a group the arrays have room.
template <class P>
void set_tile_capacity(PlaneGroup<P>& group) {
  std::size_t tiles = all_tiles(group);
  if (group.by_level != 0) tiles = std::min(tiles, near_tile_capacity(group.segment_capacity));
  group.tile_capacity = static_cast<unsigned>(tiles);
}

/// Sets how many elements the arrays have. A frame has at most `segments`, in `tiles` tiles.
template <class P>
void set_capacities(PlaneGroup<P>& group, const ContourEngineSpec& spec, std::uint64_t segments,
                    std::uint64_t tiles) {
  group.point_capacity = std::min<std::uint64_t>(spec.point_capacity, 0xFFFFFFFFULL);
  group.contour_capacity = std::min<std::uint64_t>(spec.contour_capacity, 0x7FFFFFFFULL);
  group.segment_capacity =
      static_cast<unsigned>(std::min(group.point_capacity, static_cast<unsigned long long>(segments)));
  group.piece_capacity = static_cast<unsigned>(
      std::min<std::uint64_t>(group.segment_capacity, group.contour_capacity + 2ULL * kTileEdges * tiles));
  group.few_heads = std::min(spec.few_contours, kMostHeads);
  group.scan_blocks = group.by_level != 0 ? 0 : scan_blocks(group);
  if (group.by_level != 0) group.few_heads = 0;  // number_levels.cuh numbers them
  set_tile_capacity(group);
}

inline LevelEntry level_entry(const ContourEngineSpec& spec, std::size_t k, std::size_t channel) {
  return {spec.levels[k], threshold_of(spec, spec.levels[k]), static_cast<int>(channel)};
}

/// All planes of a map as one group, without pointers. Throws Error(BadConfig) when the engine cannot take
/// such maps.
template <class P>
PlaneGroup<P> plan_group(const ContourEngineSpec& spec) {
  const ImageFormat& map = spec.map;
  const std::string given = "a map of " + describe(map) + " was given; ";
  if (map.width < 1 || map.height < 1 || map.channels < 1 || map.width > kMaxSide || map.height > kMaxSide)
    refuse(given + "sides from 1 to " + std::to_string(kMaxSide) + " are allowed");
  const bool by_level = !spec.channel_levels.empty();
  if (spec.levels.empty() || (!by_level && spec.levels.size() > kMaxLevels))
    refuse(std::to_string(spec.levels.size()) + " levels were given, allowed are 1 to " +
           std::to_string(kMaxLevels));
  PlaneGroup<P> group{};
  set_sizes(group, map, by_level ? 1 : map.channels);
  const std::uint64_t plane_segments =
      2ULL * static_cast<std::uint64_t>(group.cell_rows) * static_cast<std::uint64_t>(group.cell_columns);
  // Those of a group have raster ids; of several levels those of a plane.
  if (plane_segments * static_cast<std::uint64_t>(group.planes) >= 1ULL << 31)
    refuse(given + "at most 2^30 cells, over all classes, are allowed");
  if (all_tiles(group) > kMostTiles) refuse(given + "it has too many classes or too many thin tiles");
  const std::size_t plane_tiles = all_tiles(group) / static_cast<std::size_t>(group.planes);
  if (by_level) group.planes = level_group_planes(spec, plane_tiles);
  group.by_level = by_level ? 1 : 0;
  group.work.near.channels = map.channels;
  group.raster_rows = by_level ? 0 : group.cell_rows;
  set_capacities(group, spec, plane_segments * spec.planes(), plane_tiles * spec.planes());
  group.connect_high = spec.connectivity == Connectivity::High ? 1 : 0;
  group.reverse = spec.orientation == Orientation::High ? 1 : 0;
  group.min_points = spec.min_points;
  group.last_planes = 1;
  if (by_level) return group;
  group.levels = static_cast<int>(spec.levels.size());
  for (std::size_t k = 0; k < spec.levels.size(); ++k) {
    const LevelEntry entry = level_entry(spec, k, k);
    group.level[k] = entry.level;
    group.threshold[k] = entry.threshold;
  }
  return group;
}

/// What can be done when one band of the map has arrived: these rows of tiles can be traced. `completes`: the
/// band is the last one of its planes, so that their pieces can be joined.
struct BandTiles {
  int plane, planes;
  int first_row, rows;  ///< first row of tiles, number of rows of tiles
  bool completes;
};

template <class P>
BandTiles tiles_of(const PlaneGroup<P>& whole, const ImageBand& band) {
  const int height = whole.cell_rows + 1;
  // A tile reads two rows of samples of the next tile: the one that they share, and one more (is_blocked).
  const auto complete_rows = [&](int samples) {
    return samples == height ? whole.tiles_y : std::max(0, samples - 2) / kTileRows;
  };
  const bool interleaved = whole.map.plane_pitch < whole.map.row_pitch;
  const int first = complete_rows(band.begin);
  return {.plane = band.plane,
          .planes = interleaved ? whole.planes : band.planes,
          .first_row = first,
          .rows = complete_rows(band.end) - first,
          .completes = band.end == height};
}

/// The group of the planes of a band, as if the map had no others.
template <class P>
PlaneGroup<P> group_of(const PlaneGroup<P>& whole, const BandTiles& band) {
  PlaneGroup<P> group = whole;
  group.planes = band.planes;
  group.map.data += band.plane * whole.map.plane_pitch;
  group.first_tile = band.first_row * whole.tiles_x;
  group.last_planes = band.plane + band.planes == whole.planes ? 1 : 0;
  group.scan_blocks = scan_blocks(group);
  group.out.class_begin += band.plane;
  for (int k = 0; k < whole.levels; ++k) {
    group.level[k] = whole.level[(band.plane + k) % whole.levels];
    group.threshold[k] = whole.threshold[(band.plane + k) % whole.levels];
  }
  return group;
}

/// Calls f(group, first) for the groups of a map whose channels have several levels; `first` is the group's
/// first plane in the order of spec.levels.
template <class P, class F>
void for_level_groups(const PlaneGroup<P>& whole, const ContourEngineSpec& spec, const F& f) {
  const std::size_t all = spec.levels.size();
  for (std::size_t first = 0; first < all; first += static_cast<std::size_t>(whole.planes)) {
    PlaneGroup<P> group = whole;
    group.planes = static_cast<int>(std::min(all - first, static_cast<std::size_t>(whole.planes)));
    group.last_planes = first + static_cast<std::size_t>(group.planes) == all ? 1 : 0;
    group.out.class_begin += first;
    group.work.near.levels += first;
    f(group, first);
  }
}

/// The planes of a group by position, as in NearTiles: `count` from `first` on. Planes of a channel follow
/// each other.
inline std::vector<unsigned> ascending_planes(const ContourEngineSpec& spec, std::size_t first,
                                              std::size_t count) {
  const auto at = [&](unsigned plane) { return spec.levels[first + plane]; };
  const auto below = [&](unsigned a, unsigned b) {
    return at(a) < at(b) || (at(a) == at(a) && at(b) != at(b));
  };
  std::vector<unsigned> planes(count);
  std::iota(planes.begin(), planes.end(), 0U);
  std::size_t channel_end = 0;
  for (const int count : spec.channel_levels) {
    const std::size_t begin = std::max(channel_end, first);
    channel_end += static_cast<std::size_t>(count);
    const std::size_t end = std::min(channel_end, first + planes.size());
    if (begin >= end) continue;
    const auto from = planes.begin() + static_cast<std::ptrdiff_t>(begin - first);
    const auto to = planes.begin() + static_cast<std::ptrdiff_t>(end - first);
    if (!std::is_sorted(from, to, below)) std::sort(from, to, below);
  }
  return planes;
}

/// NearTiles::levels of all groups, one after the other, of `group_planes` planes each (the last may have
/// fewer).
inline std::vector<LevelRow> level_rows(const ContourEngineSpec& spec, std::size_t group_planes) {
  std::vector<LevelRow> rows;
  std::size_t channel = 0, channel_end = static_cast<std::size_t>(spec.channel_levels[0]);
  for (std::size_t first = 0; first < spec.levels.size(); first += group_planes)
    for (const unsigned plane :
         ascending_planes(spec, first, std::min(group_planes, spec.levels.size() - first))) {
      bool begins = rows.empty();
      for (; rows.size() >= channel_end; begins = true)
        channel_end += static_cast<std::size_t>(spec.channel_levels[++channel]);
      rows.push_back({.entry = level_entry(spec, first + plane, channel),
                      .plane_level = spec.levels[rows.size()],
                      .plane = plane,
                      .channel_begin = begins ? static_cast<unsigned>(channel) : kNone});
    }
  return rows;
}

/// Tiles in `rows` rows of all of the group's planes.
template <class P>
int tiles_in(const PlaneGroup<P>& group, int rows) {
  return group.planes * rows * group.tiles_x;
}

inline Map map_of(const ImageView& view, const MaskView& mask, double divisor = 1) {
  const ImageFormat& format = view.format;
  const auto size = static_cast<long long>(element_size(format.type));
  const bool planar = format.layout == Layout::Planar;
  return {.data = static_cast<const unsigned char*>(view.data),
          .plane_pitch = planar ? view.plane_pitch : size,
          .row_pitch = view.row_pitch,
          .sample_pitch = planar ? size : size * format.channels,
          .mask = mask.data,
          .mask_pitch = mask.row_pitch,
          .width = format.width,
          .height = format.height,
          .divisor = divisor};
}

template <class P, class View>
Output<P> output_of(const View& out) {
  static_assert(sizeof(*out.points) == sizeof(P) && sizeof(ContourCounts) == 16);
  return {.counts = reinterpret_cast<unsigned long long*>(out.counts),
          .points = reinterpret_cast<P*>(out.points),
          .offsets = out.offsets,
          .closed = out.closed,
          .class_begin = out.class_begin};
}

}  // namespace contorno::contour_engine
