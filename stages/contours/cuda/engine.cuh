// The contour engine on the device: what its kernels share. A frame's maps become contours in three launches
// if they are small, in five if they are large, and in one more if the contours go to the host. The steps are
// in read.cuh (with bits.cuh), tile.cuh, link.cuh (with nodes.cuh), rank.cuh and pieces.cuh for a tile, in
// trace.cuh the kernels that take a tile through them; then come join.cuh, number.cuh (with heads.cuh and
// scan.cuh), place.cuh and export.cuh. What a cell, a level or a point means is in ../rules.
//
//   trace_small, or             a tile of 64 x 32 cells: reads its samples, finds its segments, links them
//   trace_tiles, trace_dense    into pieces (the parts of contours inside the tile), ranks each segment in
//                               its piece, in shared memory. Closed pieces are finished contours.
//   join_ahead                  what join_pieces can do while bands of the map are missing
//   join_pieces                 ranks the open pieces by pointer jumping, over tile borders
//   finish_and_number           where in its contour each lies; numbers and offsets of contours, in the
//                               raster order of their first segments
//   join_and_number             both, for small maps
//   place_points                writes every point where it belongs
//   export_contours             only if contours go to the host: copies them there
//
// The order of everything that comes out follows from raster ids; atomics only hand out places in
// intermediate arrays, so two runs give the same bits. A segment's raster id is 2 * ((plane * cell_rows +
// row) * cell_columns + column) + sub.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/launch.cuh"
#include "stages/contours/rules/crossing_point.h"
#include "stages/contours/rules/keep_contour.h"

namespace contorno::contour_engine {

inline constexpr int kTileColumns = 64;  ///< cells; one word of bits a row
inline constexpr int kTileRows = 32;     ///< cells; one lane of a warp a row
inline constexpr int kTileSegments = 2 * kTileColumns * kTileRows;
inline constexpr int kTileEdges = kTileColumns + kTileRows;  ///< grid edges on a tile's upper and left side
inline constexpr int kTileSlots = 5 * kTileEdges;            ///< one an edge, four a sample (one a quadrant)
inline constexpr int kMaxLevels = 128;
inline constexpr unsigned kNone = 0xFFFFFFFFU;
inline constexpr unsigned kMostHeads = 4096;  ///< contours that can be numbered without a scan

/// Where the samples of all planes lie. `mask` (null: none) has one byte a sample, 0 = left out.
struct Map {
  const unsigned char* data;
  long long plane_pitch, row_pitch, sample_pitch;
  const unsigned char* mask;
  long long mask_pitch;
  int width, height;
  double divisor;  ///< stored integers stand for v / divisor
};

/// Counters of a frame under way; all zero between frames. A map that is uploaded in several groups of planes
/// (see Job) is worked on group by group: each group uses the same workspace, and the totals of earlier
/// groups are kept here.
struct Counters {
  alignas(8) unsigned pieces;  ///< one 64-bit atomic hands out pieces and active pieces
  unsigned active;
  unsigned segments;
  unsigned dense_tiles;
  unsigned heads;                             ///< contours that are listed in Work::heads
  unsigned finishing_blocks;                  ///< blocks of finish_and_number that have finished their pieces
  unsigned finished_blocks;                   ///< blocks of place_points that are done
  unsigned earlier_segments, earlier_pieces;  ///< in earlier groups of planes
  alignas(8) unsigned long long numbered;     ///< contours << 32 | points, of all earlier groups
};

/// A piece as place_points needs it. The end point of its j-th segment is point base + j of the contour in an
/// order that follows from the length of the contour and whether it is closed.
struct alignas(16) PieceInfo {
  unsigned base;
  unsigned length_closed;  ///< segments of the whole contour, top bit: it is closed
  unsigned head;           ///< piece with the contour's smallest raster id; kNone: the contour is left out
  unsigned first;  ///< open: 1 if it begins the contour, at `from`; closed piece: its smallest raster id
};

/// An active piece: an open one, which has to be joined to others.
struct alignas(16) ActivePiece {
  unsigned first_id, last_id;  ///< smallest and largest raster id
  unsigned last_pos;           ///< position in the piece of the segment with the largest id
  unsigned piece;
};

/// What pointer jumping knows of an active piece and those that follow it, up to but without `next`. (A chain
/// is all pieces of one contour.) Its highest piece is the one with the largest index among the active
/// pieces; a piece where an open chain ends counts as higher than all others.
struct Window {
  unsigned next;     ///< active piece; with kInSlot: the slot that has its index
  unsigned length;   ///< segments from the piece to `next`
  unsigned best;     ///< the highest piece, with kEnd if the chain ends there
  unsigned best_at;  ///< segments from the piece to the highest one
};
inline constexpr unsigned kInSlot = 1U << 31, kEnd = 1U << 31;

/// What the pieces of a chain have together, collected at the chain's highest piece.
struct alignas(16) Chain {
  unsigned long long first;  ///< least (smallest raster id << 32 | piece)
  unsigned long long last;  ///< if closed, greatest (largest raster id << 32 | segments to the highest piece)
  unsigned far;             ///< most segments from a piece to the highest one
  unsigned count;           ///< segments of the highest piece
  unsigned unused[2];
};

struct TileBits;

template <class P>
struct Work {
  Counters* counters;
  TileBits* tile_bits;              ///< of tiles with too many segments for trace_tiles, in any order
  unsigned* dense_tiles;            ///< which tile each of them is
  unsigned long long* scan_status;  ///< one a block of number_by_scan
  uint2* tile_pieces;               ///< of each tile: first piece, number of pieces
  unsigned short* row_pieces;       ///< kTileRows + 1 a tile: first piece that begins in the row or below
  unsigned* slots;                  ///< see slot_of_edge, slot_of_sample
  P* points;                        ///< end point of each segment, tile by tile
  uint2* places;                    ///< its piece (kNone: no point) and its place in the piece
  unsigned* head_points;  ///< a contour's number of points at its head piece (top bit: closed), else 0;
                          ///< all zero between frames
  PieceInfo* pieces;
  P* from;                ///< first point of a piece, if open
  unsigned* head_offset;  ///< at head pieces: the contour's first point
  ActivePiece* active;
  uint4* windows;  ///< Window, read and written whole
  Chain* chains;
  unsigned*
      heads;  ///< kMostHeads: contours in any order; a closed piece (top bit) or a chain's highest piece
};

template <class P>
struct Output {
  unsigned long long* counts;  ///< points, contours
  P* points;
  unsigned* offsets;
  unsigned char* closed;
  unsigned* class_begin;
};

/// Division by a number that the host knows, as a multiplication; exact while dividend * divisor < 2^32.
struct FastDivide {
  unsigned divisor, magic;
  __device__ __forceinline__ unsigned quotient(unsigned n) const {
    return divisor == 1 ? n : __umulhi(n, magic);
  }
};
inline FastDivide fast_divide(unsigned divisor) {
  return {divisor, divisor < 2 ? 0 : static_cast<unsigned>(((1ULL << 32) + divisor - 1) / divisor)};
}

/// The arguments of all kernels of a frame. They are the same for every frame but for addresses. Planes do
/// not depend on each other, so a map that is still being uploaded is worked on in groups of planes, with a
/// job for each group.
template <class P>
struct Job {
  Map map;
  Work<P> work;
  Output<P> out;
  int planes, cell_rows, cell_columns, tiles_x, tiles_y;
  FastDivide by_tiles_x, by_tiles_y;
  int first_tile;             ///< of each plane: earlier tiles have been traced already
  int last_planes;            ///< 1: this group is the last of the frame
  int exported;               ///< 1: contours go to the host by export_contours
  int connect_high, reverse;  ///< Connectivity::High, Orientation::High; words, as instructions take them
  unsigned min_points;
  unsigned segment_capacity, piece_capacity;
  unsigned long long point_capacity, contour_capacity;
  unsigned few_heads;  ///< up to so many contours are numbered without a scan
  unsigned scan_blocks;
  int levels;
  double level[kMaxLevels];
  float threshold[kMaxLevels];  ///< highest_low, of samples that are compared as floats

  __device__ __forceinline__ Connectivity connectivity() const {
    return connect_high != 0 ? Connectivity::High : Connectivity::Low;
  }
  /// Whether there is more than the workspace holds. Then pieces are incomplete, and no kernel that reads
  /// them may run.
  __device__ __forceinline__ bool overflowed(const Counters& counters) const {
    return counters.earlier_segments + counters.segments > segment_capacity ||
           counters.earlier_pieces + counters.pieces > piece_capacity;
  }
};

/// Points of a contour in memory, in samples: float32 for the stream, float64 for find_contours.
struct alignas(8) Point32 {
  float row, col;
};
struct alignas(16) Point64 {
  double row, col;
};
__device__ __forceinline__ void store_point(Point32& to, const PointD& from) {
  to = {static_cast<float>(from.row), static_cast<float>(from.col)};
}
__device__ __forceinline__ void store_point(Point64& to, const PointD& from) {
  to = {from.row, from.col};
}

// Samples ------------------------------------------------------------------------------------------------
/// How samples of element type T are read: exactly, as a `Value`, in which they are compared. Integers are
/// not divided yet.
template <class T>
struct Sample {
  using Value = float;
  static constexpr bool kMayBeNan = false;
  static constexpr bool kInteger = true;
  static __device__ __forceinline__ Value read(const unsigned char* p) {
    return static_cast<float>(*reinterpret_cast<const T*>(p));
  }
};
template <>
struct Sample<float> {
  using Value = float;
  static constexpr bool kMayBeNan = true;
  static constexpr bool kInteger = false;
  static __device__ __forceinline__ Value read(const unsigned char* p) {
    return __ldg(reinterpret_cast<const float*>(p));
  }
};
template <>
struct Sample<double> {
  using Value = double;
  static constexpr bool kMayBeNan = true;
  static constexpr bool kInteger = false;
  static __device__ __forceinline__ Value read(const unsigned char* p) {
    return __ldg(reinterpret_cast<const double*>(p));
  }
};
template <>
struct Sample<__half> {
  using Value = float;
  static constexpr bool kMayBeNan = true;
  static constexpr bool kInteger = false;
  static __device__ __forceinline__ Value read(const unsigned char* p) {
    return __half2float(__ldg(reinterpret_cast<const __half*>(p)));
  }
};

template <class T>
__device__ __forceinline__ typename Sample<T>::Value read_sample(const Map& map, int plane, int row,
                                                                 int col) {
  return Sample<T>::read(map.data + plane * map.plane_pitch + row * map.row_pitch + col * map.sample_pitch);
}
/// The value that a stored sample stands for: integers are divided by the map's divisor.
template <class T>
__device__ __forceinline__ double value_of(const Map& map, typename Sample<T>::Value stored) {
  const auto value = static_cast<double>(stored);
  return Sample<T>::kInteger ? value / map.divisor : value;
}
template <class T>
__device__ __forceinline__ double read_value(const Map& map, int plane, int row, int col) {
  return value_of<T>(map, read_sample<T>(map, plane, row, col));
}
__device__ __forceinline__ bool is_masked(const Map& map, int row, int col) {
  return map.mask != nullptr && map.mask[row * map.mask_pitch + col] == 0;
}

}  // namespace contorno::contour_engine
