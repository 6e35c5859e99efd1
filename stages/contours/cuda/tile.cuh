// A tile while it is traced: what its threads share, and what each of them knows. The steps 3 to 6 are
// functions of a Tile.
#pragma once

#include "cuda/sums.cuh"
#include "stages/contours/cuda/cells.cuh"
#include "stages/contours/cuda/links.cuh"

namespace contorno::contour_engine {

/// A segment in the tile's list: its cell, its number in the cell, and its sides. from == to marks a segment
/// of length zero, which is left out.
struct TileSegment {
  int row, col, sub, from, to;
};
__device__ __forceinline__ unsigned short pack_segment(int row, int col, int sub, int sides) {
  return static_cast<unsigned short>(col | row << 6 | sub << 11 | sides << 12);
}
__device__ __forceinline__ TileSegment unpack_segment(unsigned short word) {
  return {(word >> 6) & 31, word & 63, (word >> 11) & 1, (word >> 12) & 3, word >> 14};
}

/// Bits of TileShared::flags. kHasPrevious: another segment of the tile leads to this one. The others are set
/// only in unusual tiles. kAtNothing: no segment follows. kAtSample: the segment ends on a sample;
/// kFarSample: that is the lower or right sample of its edge; the follower lies in the quadrant flags /
/// kQuadrant.
inline constexpr unsigned kHasPrevious = 1, kAtNothing = 2, kAtSample = 4, kFarSample = 8, kQuadrant = 16;

inline constexpr unsigned kLargestShift = 13;  ///< see TileShared::largest

/// Bit of a leader: a closed contour with too few points.
inline constexpr unsigned short kDropped = 0x8000;

/// What the threads of a tile share. A piece has a representative, the segment at which its data are
/// collected: the last one if it is open, the one with the largest index if it is closed. It also has a
/// leader, the segment from which it is listed: the first one along the contour if it is open, else the
/// representative.
template <class Links>
struct TileShared {
  static constexpr unsigned kCapacity = Links::kCapacity;
  static constexpr int kWords = static_cast<int>(kCapacity) / 32;
  TileBits bits;
  Links links;
  unsigned largest[kCapacity];  ///< largest segment of a representative's piece. Open: index << kLargestShift
                                ///< | steps to the end, closed: segments - 1; when the piece is written,
                                ///< where its points begin among the tile's
  unsigned short segment[kCapacity];      ///< see pack_segment
  unsigned short leader[kCapacity];       ///< open pieces from the front, closed ones from the back
  unsigned char flags[kCapacity];         ///< see kHasPrevious
  unsigned short before[kTileWords + 1];  ///< segments in the words of cells before
  unsigned first[kWords];                 ///< bit: this segment is the first (in raster order) of a piece
  unsigned first_before[kWords];
  unsigned placed;  ///< segments of the pieces that have places among the tile's points
  // In blocks the first four share 16 bytes: they are loaded together, and what other threads write meanwhile
  // must not lie in the same load.
  alignas(16) unsigned open, closed, segment_base, unused;
  unsigned piece_base, open_base, pieces;
};

/// The types of a tile: T of the samples, P of the points, L of the links. kCount threads trace it: those of
/// a block or, if they are 32, of a warp. kLevels: PlaneGroup::by_level, where it is known early.
template <class T, class P, class L, int kCount, bool kLevels>
struct TileTypes {
  using Element = T;
  using Value = typename Sample<T>::Value;
  using Point = P;
  using Links = L;
  static constexpr int kThreads = kCount;
  static constexpr bool kByLevel = kLevels;
};

/// A tile as one of its threads sees it. S is a TileTypes.
template <class S>
struct Tile {
  /// The last threads have the fewest segments to work on: the last one allocates elements of the global
  /// arrays.
  static constexpr int kLast = S::kThreads - 1;

  const PlaneGroup<typename S::Point>& group;
  TileShared<typename S::Links>& shared;
  const TileBounds bounds;
  const double level;
  const int thread;
  int segments = 0;
  // In thread kLast, the first elements that the tile has: of points, of pieces and (top half) open pieces.
  unsigned segment_base = 0;
  unsigned long long piece_bases = 0;

  __device__ __forceinline__ Tile(const PlaneGroup<typename S::Point>& group,
                                  TileShared<typename S::Links>& shared, const TileBounds& bounds)
      : group(group),
        shared(shared),
        bounds(bounds),
        level(group.level_of(bounds.plane).level),
        thread(static_cast<int>(S::kThreads == 32 ? threadIdx.x % 32 : threadIdx.x)) {}

  /// The barrier of its threads.
  static __device__ __forceinline__ void sync() {
    if constexpr (S::kThreads == 32)
      __syncwarp();
    else
      __syncthreads();
  }
};

/// The two samples of an edge, upper or left one first.
template <class Value>
struct EdgeSamples {
  Value a, b;
  GridEdge where;
};

template <class T>
__device__ __forceinline__ EdgeSamples<typename Sample<T>::Value> read_edge(const Map& map,
                                                                            const TileBounds& bounds,
                                                                            const TileSegment& segment,
                                                                            int side) {
  EdgeSamples<typename Sample<T>::Value> edge;
  edge.where = edge_of_side(bounds.row0 + segment.row, bounds.col0 + segment.col, side);
  const unsigned char* const first = map.data + bounds.channel * map.plane_pitch +
                                     edge.where.row * map.row_pitch + edge.where.col * map.sample_pitch;
  edge.a = Sample<T>::read(first);
  edge.b = Sample<T>::read(first + (edge.where.across ? map.sample_pitch : map.row_pitch));
  return edge;
}
template <class S>
__device__ __forceinline__ EdgeSamples<typename S::Value> read_edge(const Tile<S>& tile,
                                                                    const TileSegment& segment, int side) {
  return read_edge<typename S::Element>(tile.group.map, tile.bounds, segment, side);
}

template <class T>
__device__ __forceinline__ PointD crossing_of(const Map& map, double level,
                                              const EdgeSamples<typename Sample<T>::Value>& edge) {
  return crossing_point(edge.where, level, value_of<T>(map, edge.a), value_of<T>(map, edge.b));
}
template <class S>
__device__ __forceinline__ PointD crossing_of(const Tile<S>& tile,
                                              const EdgeSamples<typename S::Value>& edge) {
  return crossing_of<typename S::Element>(tile.group.map, tile.level, edge);
}

template <class P>
__device__ __forceinline__ unsigned raster_id(const PlaneGroup<P>& group, const TileBounds& bounds,
                                              const TileSegment& segment) {
  const int row = bounds.plane * group.raster_rows + bounds.row0 + segment.row;
  return 2U * (static_cast<unsigned>(row) * static_cast<unsigned>(group.cell_columns) +
               static_cast<unsigned>(bounds.col0 + segment.col)) +
         static_cast<unsigned>(segment.sub);
}

}  // namespace contorno::contour_engine
