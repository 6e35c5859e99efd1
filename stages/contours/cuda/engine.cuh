// The CUDA contour engine: an overview, and what its kernels pass to each other in device memory.
//
// A map becomes contours in ten steps. The first six take one tile, a rectangle of 64 x 32 cells, from its
// samples to the pieces of its contours, in shared memory and in one kernel (trace.cuh). The others are
// kernels of their own over all tiles.
//
//   1 read     read_block.cuh, read_warp.cuh     samples -> a bit a sample: is it above the level
//   2 cells    cells.cuh                         bits -> which cells are crossed, through which sides
//   3 list     list.cuh                          cells -> the tile's segments, in raster order
//   4 link     link.cuh, link_exact.cuh          which segment follows each segment
//   5 rank     rank.cuh                          list ranking: which piece has it, at which place
//   6 write    write.cuh                         points, piece by piece, and pieces to global memory
//   7 join     join.cuh                          list ranking of the pieces that cross borders of tiles
//   8 number   number.cuh (with number_heads.cuh, number_scan.cuh)
//                                                numbers and offsets of contours
//   9 scatter  scatter.cuh                       every point goes to its place in its contour
//  10 export   export.cuh                        contours are copied to host memory, if they go there
//
// Several levels of a channel are planes that lie in the same place. Most tiles are near few of them, so
// the pairs of a plane and a tile that are near each other are found first (near_tiles.cuh): what a tile is
// to one level such a pair is to many. Contours then are numbered strip by strip (number_levels.cuh).
//
// plan.cuh computes sizes; workspace.cuh lays out the workspace; launch.cuh launches the kernels: four for
// small maps, five for large ones, one more for the export, and more for several levels. What a cell, a level
// or a point means is in ../rules.
//
// The order of all results follows from raster ids. A segment's raster id is 2 * ((plane * cell_rows + row) *
// cell_columns + column) + its number in the cell; with several levels, whose planes could be too many for 32
// bits, it leaves out the plane, and the order of planes comes from strips. Atomics only allocate
// elements of intermediate arrays, in any order, so two runs give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stages/contours/cuda/engine.h"
#include "stages/contours/cuda/samples.cuh"
#include "stages/contours/rules/crossing_point.h"
#include "stages/contours/rules/keep_contour.h"

namespace contorno::contour_engine {

inline constexpr int kTileColumns = 64;  ///< cells; one word of bits a row
inline constexpr int kTileRows = 32;     ///< cells; one lane of a warp a row
inline constexpr int kTileSegments = 2 * kTileColumns * kTileRows;
inline constexpr int kTileEdges = kTileColumns + kTileRows;  ///< grid edges on a tile's upper and left side
inline constexpr int kTileJunctions =
    5 * kTileEdges;                          ///< one an edge, four for corners of cells at its two ends
inline constexpr int kMaxLevels = 128;       ///< most levels where each plane is a channel
inline constexpr unsigned kTilePoints = 32;  ///< a near tile of several levels is planned for so many points
inline constexpr unsigned kNone = 0xFFFFFFFFU;
inline constexpr unsigned kMostHeads = 4096;  ///< contours that can be numbered without a scan

// Arrays in global memory ----------------------------------------------------------------------------------
/// Counters of a frame under way; all zero between frames. Each group of planes (see PlaneGroup) uses the
/// same arrays again, and the totals of the groups before it are kept here.
struct Counters {
  alignas(8) unsigned pieces;  ///< one 64-bit atomic allocates pieces and open pieces
  unsigned open_pieces;
  unsigned segments;
  unsigned dense_tiles;
  unsigned heads;                             ///< contours that are listed in Work::heads
  unsigned finishing_blocks;                  ///< blocks of finish_and_number that have finished their pieces
  unsigned finished_blocks;                   ///< blocks of scatter_points that are done
  unsigned earlier_segments, earlier_pieces;  ///< in earlier groups of planes
  // For channels that have several levels:
  unsigned long long near_tiles;  ///< pairs of a plane and a tile that are near each other
  unsigned strip_heads;           ///< contours in NearTiles::heads
  unsigned strip_chunks;          ///< chunks of strips that blocks have taken
  unsigned full;  ///< 1: there are too many segments or near tiles, in this group of planes or an earlier one
  alignas(8) unsigned long long numbered;  ///< contours << 32 | points, of all earlier groups
};

/// A piece as scatter_points needs it. The end point of its j-th segment is point base + j of the contour in
/// an order that follows from the length of the contour and whether it is closed.
struct alignas(16) Piece {
  unsigned base;
  unsigned length_closed;  ///< segments of the whole contour, top bit: it is closed
  unsigned head;           ///< piece with the contour's smallest raster id; kNone: the contour is left out
  unsigned first;  ///< open: 1 if it begins the contour, at `from`; closed piece: its smallest raster id
};

/// The points of a piece: one at the end of each segment, so at least one.
struct alignas(8) PiecePoints {
  unsigned begin, count;
};

/// A piece that has to be joined to others. Closed pieces are whole contours.
struct alignas(16) OpenPiece {
  unsigned first_id, last_id;  ///< smallest and largest raster id
  unsigned last_rank;          ///< rank in the piece of the segment with the largest id
  unsigned piece;
};

/// What pointer jumping knows of an open piece and those that follow it, up to but without `next`. The
/// highest of them is the one with the largest index among the open pieces; a piece where an open contour
/// ends counts as higher than all others.
struct PieceLink {
  unsigned next;      ///< open piece; with kAtJunction: the junction that has its index
  unsigned length;    ///< segments from the piece to `next`
  unsigned highest;   ///< the highest piece, with kEnd if the contour ends there
  unsigned distance;  ///< segments from the piece to the highest one
};
inline constexpr unsigned kAtJunction = 1U << 31, kEnd = 1U << 31;

/// What the open pieces of one contour, its chain, have together; collected at the chain's highest piece.
struct alignas(16) Chain {
  unsigned long long first;  ///< least (smallest raster id << 32 | piece)
  unsigned long long last;  ///< if closed, greatest (largest raster id << 32 | segments to the highest piece)
  unsigned farthest;        ///< most segments from a piece to the highest one
  unsigned count;           ///< segments of the highest piece
  unsigned unused[2];
};

/// A plane of several levels.
struct alignas(16) LevelEntry {
  double level;
  float threshold;  ///< highest_low, of samples that are compared as floats
  int channel;
};

/// Row i of the table of planes where channels have several levels: the plane at position i (see NearTiles),
/// the level of plane i, and the channel that begins with plane i, or kNone.
struct alignas(16) LevelRow {
  LevelEntry entry;
  double plane_level;
  unsigned plane;
  unsigned channel_begin;
};

/// A contour that is to be numbered, by its head piece.
struct alignas(16) StripHead {
  unsigned first_id;  ///< smallest raster id
  unsigned piece;
  unsigned strip;
  unsigned next;  ///< another contour of the strip, in NearTiles::heads; kNone: there is no further one
};

/// Several levels of channels: which tiles are near which of them, and in which order contours are numbered.
/// The planes of a channel, from the lowest level to the highest and then those of NaN, have positions; here
/// "plane" is the number in the order of the results.
struct NearTiles {
  const LevelRow* levels;  ///< the engine's table of planes, which is not in the workspace
  unsigned* offsets;       ///< one a tile of each channel, whose near tile at position p is number offset + p
  uint2* tiles;            ///< position of each near tile, and number of the tile among those of all channels
  unsigned long long* strips;  ///< (contours << 32 | points) of each strip, then of all before it; one more
  unsigned* strip_first;       ///< a contour of each strip, from which the others are found; or kNone
  StripHead* heads;            ///< contours, in any order
  unsigned long long* status;  ///< of the chunks of strips (chunk_scan.cuh)
  unsigned head_capacity;
  unsigned plane_strips;  ///< strips of a plane, of strip_rows rows of cells each
  int strip_rows;
  int channels;
};

/// The intermediate arrays, in the workspace.
template <class P>
struct Work {
  Counters* counters;
  unsigned* dense_tiles;            ///< tiles with too many segments for trace_warps, in any order
  unsigned long long* scan_status;  ///< one a block of number_by_scan
  uint2* tile_pieces;          ///< first piece and number of pieces of each tile; not with several levels
  unsigned short* row_pieces;  ///< kTileRows + 1 a tile: first piece that begins in the row or below;
                               ///< not with several levels
  unsigned* junctions;         ///< the open piece that begins there (junctions.cuh)
  P* points;                   ///< end points of segments, piece by piece, in the order of the contour
  PiecePoints* piece_points;   ///< where the points of each piece lie in `points`
  unsigned* head_points;       ///< a contour's number of points at its head piece (top bit: closed), else 0;
                               ///< all zero between frames
  Piece* pieces;
  P* from;                ///< first point of a piece, if open
  unsigned* head_offset;  ///< a contour's first point, at its head piece; with several levels, until contours
                          ///< are numbered, the plane of each piece
  OpenPiece* open_pieces;
  uint4* piece_links;  ///< PieceLink of each open piece, read and written whole
  Chain* chains;       ///< one an open piece, used at the highest of each chain
  unsigned* heads;     ///< kMostHeads: contours in any order; a closed piece (top bit) or a chain's highest
  NearTiles near;      ///< only with several levels; then "each tile" above means each near tile
};

/// The arrays of the contours, as in ContoursView.
template <class P>
struct Output {
  unsigned long long* counts;  ///< points, contours
  P* points;
  unsigned* offsets;
  unsigned char* closed;
  unsigned* class_begin;
  // Only where channels have several levels, or null:
  double* levels = nullptr;           ///< the level of each contour
  unsigned* channel_begin = nullptr;  ///< first contour of each channel, as class_begin of each plane
};

/// A point of the stream (Point), aligned so that it is written at once. That of find_contours is Point64.
struct alignas(8) Point32 {
  float row, col;
};
__device__ __forceinline__ void store_point(Point32& to, const PointD& from) {
  to = {static_cast<float>(from.row), static_cast<float>(from.col)};
}
__device__ __forceinline__ void store_point(Point64& to, const PointD& from) {
  to = {from.row, from.col};
}

// The argument of all kernels ------------------------------------------------------------------------------
/// The planes that one sequence of kernels works on, with all arrays and parameters: the argument of every
/// kernel. Mostly these are all planes of a map. Planes do not depend on each other, so a map that is still
/// being uploaded is worked on in several groups, one after the other.
template <class P>
struct PlaneGroup {
  Map map;
  Work<P> work;
  Output<P> out;
  int planes, cell_rows, cell_columns, tiles_x, tiles_y;
  int first_tile;   ///< the first tile of each plane; earlier ones have been traced already
  int last_planes;  ///< 1: this group is the last of the frame
  int by_level;     ///< 1: planes are channels at one of several levels, and are named by their positions
  int raster_rows;  ///< rows of cells that a plane has in raster ids: cell_rows, or 0 if by_level
  int exported;     ///< 1: contours go to the host by export_contours
  int connect_high, reverse;  ///< Connectivity::High, Orientation::High; words, as instructions take them
  unsigned min_points;
  unsigned segment_capacity, piece_capacity;
  unsigned tile_capacity;  ///< tiles that the arrays have room for
  unsigned long long point_capacity, contour_capacity;
  unsigned few_heads;    ///< up to so many contours are numbered without a scan
  unsigned scan_blocks;  ///< blocks of number_by_scan; none if by_level
  int levels;            ///< number of levels in the following, which are not used if by_level
  double level[kMaxLevels];
  float threshold[kMaxLevels];  ///< highest_low, of samples that are compared as floats

  __device__ __forceinline__ Connectivity connectivity() const {
    return connect_high != 0 ? Connectivity::High : Connectivity::Low;
  }
  /// Whether there is more than the workspace holds. Then pieces are incomplete, and no kernel that reads
  /// them may run.
  __device__ __forceinline__ bool overflowed(const Counters& counters) const {
    return counters.full != 0 || counters.earlier_segments + counters.segments > segment_capacity ||
           counters.earlier_pieces + counters.pieces > piece_capacity;
  }
  __device__ __forceinline__ LevelEntry level_of(int plane) const {
    return by_level != 0 ? work.near.levels[plane].entry
                         : LevelEntry{level[plane % levels], threshold[plane % levels], plane};
  }
};

/// A tile: its number, its plane and the channel that this is of, its first cell, and how many rows and
/// columns of cells it has.
struct TileBounds {
  int tile, plane, channel, row0, col0, rows, columns;
};

/// The bounds of the tile with this number in all channels, one after the other. `plane` is 0.
template <class P>
__device__ __forceinline__ TileBounds bounds_in_channels(const PlaneGroup<P>& group, int tile) {
  TileBounds bounds;
  bounds.tile = tile;
  bounds.plane = 0;
  const int rows = tile / group.tiles_x;
  bounds.channel = rows / group.tiles_y;
  bounds.row0 = (rows - bounds.channel * group.tiles_y) * kTileRows;
  bounds.col0 = (tile - rows * group.tiles_x) * kTileColumns;
  bounds.rows = min(kTileRows, group.cell_rows - bounds.row0);
  bounds.columns = min(kTileColumns, group.cell_columns - bounds.col0);
  return bounds;
}

/// The bounds of the tile with this number: in all planes, one after the other, or among near tiles.
template <class P>
__device__ __forceinline__ TileBounds bounds_of_tile(const PlaneGroup<P>& group, int tile) {
  if (group.by_level == 0) {
    TileBounds bounds = bounds_in_channels(group, tile);
    bounds.plane = bounds.channel;
    return bounds;
  }
  const uint2 near = group.work.near.tiles[tile];
  TileBounds bounds = bounds_in_channels(group, static_cast<int>(near.y));
  bounds.tile = tile;
  bounds.plane = static_cast<int>(near.x);
  return bounds;
}

/// The n-th tile that is traced, from tile `first_tile` of each plane on. Interleaved classes share lines of
/// memory, so tiles of all classes at one place are traced at about the same time and a line is fetched once.
template <class P>
__device__ __forceinline__ TileBounds bounds_of_nth(const PlaneGroup<P>& group, int n) {
  if (group.by_level != 0) return bounds_of_tile(group, n);
  const bool interleaved = group.map.plane_pitch < group.map.row_pitch;
  return bounds_of_tile(
      group, group.first_tile +
                 (interleaved ? n % group.planes * (group.tiles_x * group.tiles_y) + n / group.planes : n));
}

}  // namespace contorno::contour_engine
