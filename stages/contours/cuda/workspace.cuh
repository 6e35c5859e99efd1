// Where the arrays of the contour engine lie in the workspace.
#pragma once

#include "stages/contours/cuda/plan.cuh"

namespace contorno::contour_engine {

/// How contours of several levels are divided into strips: the lowest ones of which there are not too many. A
/// contour compares itself with all others of its strip, and each strip is scanned.
template <class P>
void set_strips(PlaneGroup<P>& group) {
  constexpr int kMostStrips = 1 << 16;
  NearTiles& near = group.work.near;
  const int most = std::max(kMostStrips / group.planes, 1);
  near.strip_rows = std::max((group.cell_rows + most - 1) / most, 1);
  near.plane_strips =
      static_cast<unsigned>(std::max((group.cell_rows + near.strip_rows - 1) / near.strip_rows, 1));
}

/// The part of lay_out for several levels, whose arrays `allocate` allocates. Decides the strips.
template <class P, class Allocate>
void lay_out_near(PlaneGroup<P>& group, const Allocate& allocate) {
  NearTiles& near = group.work.near;
  set_strips(group);
  const auto planes = static_cast<std::size_t>(group.planes);
  const std::size_t tiles = group.tile_capacity;
  const std::size_t map_tiles = all_tiles(group) / planes * static_cast<std::size_t>(near.channels);
  near.head_capacity =
      static_cast<unsigned>(std::min<unsigned long long>(group.piece_capacity, group.contour_capacity));
  allocate(near.offsets, map_tiles);
  allocate(near.tiles, tiles);
  allocate(near.strips, std::size_t{strip_count(group)} + 1);
  allocate(near.strip_first, strip_count(group));
  allocate(near.heads, near.head_capacity);
  allocate(near.status, strip_chunks(group));
}

/// Sets the pointers of `group` into the workspace at `base` (may be null) and returns its size. The part
/// that must be zero before the first frame comes first; `clear_bytes` is its size.
template <class P>
std::size_t lay_out(PlaneGroup<P>& group, void* base, std::size_t* clear_bytes = nullptr) {
  std::size_t at = 0;
  const auto allocate = [&](auto*& pointer, std::size_t count) {
    pointer =
        reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(static_cast<std::byte*>(base) + at);
    at = align_up(at + count * sizeof(*pointer));
  };
  const std::size_t tiles = group.tile_capacity;
  const std::size_t pieces = group.piece_capacity;
  Work<P>& work = group.work;
  allocate(work.counters, 1);
  allocate(work.scan_status, group.scan_blocks);
  allocate(work.head_points, pieces);
  if (clear_bytes != nullptr) *clear_bytes = at;
  allocate(work.dense_tiles, tiles);
  allocate(work.tile_pieces, group.by_level != 0 ? 0 : tiles);
  allocate(work.row_pieces, group.by_level != 0 ? 0 : tiles * (kTileRows + 1));
  allocate(work.junctions, tiles * kTileJunctions);
  allocate(work.points, group.segment_capacity);
  allocate(work.pieces, pieces);
  allocate(work.piece_points, pieces);
  allocate(work.from, pieces);
  allocate(work.head_offset, pieces);
  allocate(work.open_pieces, pieces);
  allocate(work.piece_links, pieces);
  allocate(work.chains, pieces);
  allocate(work.heads, kMostHeads);
  if (group.by_level != 0) lay_out_near(group, allocate);
  return at;
}

}  // namespace contorno::contour_engine
