// The second step of a tile: listing its segments. TileTracer then takes the tile through the other steps:
// linking (link.cuh), ranking (rank.cuh) and writing (pieces.cuh).
#pragma once

#include "stages/contours/cuda/link.cuh"

namespace contorno::contour_engine {

/// The cell (bit) of the n-th segment, from 0, of 32 cells of which `crossed` have a segment and `saddle` a
/// second one.
__device__ __forceinline__ int cell_of_segment(unsigned crossed, unsigned saddle, unsigned n) {
  int cell = 0;
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    const unsigned below = (1U << (cell + step)) - 1;
    const auto segments = static_cast<unsigned>(__popc(crossed & below) + __popc(saddle & below));
    if (segments <= n) cell += step;
  }
  return cell;
}

/// One tile, as one of the threads that trace it sees it.
template <class T, class P, class Links, int kThreads>
class TileTracer : public TileLinks<T, P, Links, kThreads> {
 public:
  using Base = TileLinks<T, P, Links, kThreads>;
  using Base::Base;

  /// The first warp counts the segments before each group of cells. Ends with a barrier; returns how many the
  /// tile has.
  __device__ int count_segments() {
    if (thread_ < 32) {
      const CellWords left = s_.bits.cells[2 * thread_];
      const CellWords right = s_.bits.cells[2 * thread_ + 1];
      const auto in_left = static_cast<unsigned>(__popc(left.crossed) + __popc(left.saddle));
      const auto in_right = static_cast<unsigned>(__popc(right.crossed) + __popc(right.saddle));
      const unsigned sum = Base::warp_scan(in_left + in_right);
      s_.before[2 * thread_] = static_cast<unsigned short>(sum - in_right - in_left);
      s_.before[2 * thread_ + 1] = static_cast<unsigned short>(sum - in_right);
      if (thread_ == 31) s_.before[kTileGroups] = static_cast<unsigned short>(sum);
    }
    if (thread_ == 0) s_.open = s_.closed = 0;
    sync();
    segments_ = s_.before[kTileGroups];
    return segments_;
  }

  /// All further steps, after count_segments. There must be at least one segment, and at most kCapacity.
  __device__ void run() {
    Base::ask_for_points();
    if constexpr (kThreads == 32)
      list_by_segments();
    else
      list_by_cells();
    sync();
    Base::link();
    Base::rank();
    Base::collect_pieces();
    Base::find_leaders();
    Base::write();
  }

 private:
  using Base::s_, Base::segments_, Base::sync, Base::thread_;

  __device__ __forceinline__ void list(unsigned index, int group, int bit, int sub, const CellWords& cells) {
    const FromWords from = s_.bits.from[group];
    const unsigned sides = (from.odd >> bit & 1) | (from.late >> bit & 1) << 1 |
                           (cells.to_odd >> bit & 1) << 2 | (cells.to_late >> bit & 1) << 3;
    // The second segment of a saddle has the opposite sides.
    s_.segment[index] =
        static_cast<unsigned short>(static_cast<unsigned>(group * 32 + bit) |
                                    static_cast<unsigned>(sub) << 11 | (sides ^ (sub != 0 ? 10U : 0U)) << 12);
    s_.joints[index] = 0;
  }

  /// Lists segments with a lane a segment: most tiles have few.
  __device__ __forceinline__ void list_by_segments() {
#pragma unroll 1
    for (int i = thread_; i < segments_; i += kThreads) {
      const auto index = static_cast<unsigned>(i);
      int group = 0;  // the last one with at most i segments before it
#pragma unroll
      for (int step = kTileGroups / 2; step > 0; step /= 2)
        if (s_.before[group + step] <= index) group += step;
      const CellWords cells = s_.bits.cells[group];
      const unsigned n = index - s_.before[group];
      const int bit = cell_of_segment(cells.crossed, cells.saddle, n);
      const unsigned below = (1U << bit) - 1;
      const auto first = static_cast<unsigned>(__popc(cells.crossed & below) + __popc(cells.saddle & below));
      list(index, group, bit, static_cast<int>(n - first), cells);
    }
  }

  /// Lists segments with a lane a cell; each warp takes some groups of 32 cells.
  __device__ __forceinline__ void list_by_cells() {
    const int lane = thread_ % 32;
    const unsigned below = (1U << lane) - 1;
#pragma unroll 1
    for (int group = thread_ / 32; group < kTileGroups; group += kThreads / 32) {
      const CellWords cells = s_.bits.cells[group];
      if ((cells.crossed >> lane & 1) == 0) continue;
      const unsigned index = s_.before[group] + static_cast<unsigned>(__popc(cells.crossed & below)) +
                             static_cast<unsigned>(__popc(cells.saddle & below));
      list(index, group, lane, 0, cells);
      if ((cells.saddle >> lane & 1) != 0) list(index + 1, group, lane, 1, cells);
    }
  }
};

}  // namespace contorno::contour_engine
