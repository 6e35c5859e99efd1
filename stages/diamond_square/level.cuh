// One level of a tile of Diamond-Square on the device: from the coarser cells in shared memory to the finer
// ones, first the diamonds, then the squares. kLanes threads work on a row, so that what is constant along
// the row is computed once for several cells. All rows of a warp are of one kind, so that its threads take
// the same branches.
#pragma once

#include "stages/diamond_square/pass.cuh"

namespace contorno::diamond_square_cuda {

template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T first, second;
};

/// Cells from row to row of the grid of a level. Levels are numbered from the finest, 0; the grid of even
/// levels has room for the whole tile, that of odd levels for half of it.
template <bool kEven>
inline constexpr int kPitch = kEven ? kTile : kGrid;

/// The making of one level, of which the block holds the coarser cells. kEven: the level has an even number.
template <class T, bool kEven>
struct LevelOfTile {
  using N = typename Heights<T>::Noise;
  static constexpr int kOldPitch = kPitch<!kEven>, kNewPitch = kPitch<kEven>;
  const Pass& pass;
  HeightRule rule;  ///< a copy, so that loops find it in registers
  std::uint32_t channel;
  std::uint32_t tile_row, tile_col;  ///< row and column of the tile's first cell, as counters
  int bits;  ///< a new cell is 2^bits cells of the pass's finest level from an old one
  Window from, to;
  bool at_top, at_bottom;  ///< the coarser cells begin, end at the border of a finite field
  const T* old;
  T* diamonds;
  T* out;

  __device__ RowOfNoise row_of(int row) const {
    return RowOfNoise(pass, counter_of(tile_row, from.row + (row << bits)) & pass.mask, rule.level, channel);
  }
  __device__ std::uint32_t counter_of(std::uint32_t first, int cell) const {
    return first + (static_cast<std::uint32_t>(cell) << pass.step_bits);
  }
  /// Counter of a column, and its difference to the next column of the same thread.
  __device__ std::uint32_t column(int col) const { return counter_of(tile_col, from.col + (col << bits)); }
  __device__ std::uint32_t next_column() const { return counter_of(0, 2 * kLanes << bits); }
  __device__ N noise(const RowOfNoise& random, std::uint32_t col) const {
    return noise_of<T>(random.word(pass, column_of_noise(pass, col & pass.mask, rule.level)), rule);
  }

  __device__ void make_diamonds() const {
    const int lane = static_cast<int>(threadIdx.x) % kLanes, rows = from.rows - 1, cols = from.cols - 1;
    const std::uint32_t next = next_column();
    const auto round = static_cast<N>(rule.round4);
    for (int r = static_cast<int>(threadIdx.x) / kLanes; r < rows; r += kRows) {
      const RowOfNoise random = row_of(2 * r + 1);
      const T* above = old + r * kOldPitch;
      const T* below = above + kOldPitch;
      T* made = diamonds + r * kGrid;
      std::uint32_t counter = column(2 * lane + 1);
#pragma unroll 1
      for (int c = lane; c < cols; c += kLanes, counter += next)
        made[c] = height_of_four<T, N>(above[c], above[c + 1], below[c], below[c + 1], noise(random, counter),
                                       round);
    }
  }

  /// Stores two neighbouring cells of an output row at `place` and `place` + 1, as far as they are inside.
  __device__ void store(T* line, int place, T first, T second) const {
    if ((place & 1) == 0 && place >= 0 && place + 1 < to.cols) {
      *reinterpret_cast<Pair<T>*>(line + place) = Pair<T>{first, second};
      return;
    }
    if (place >= 0) line[place] = first;
    if (place + 1 >= 0 && place + 1 < to.cols) line[place + 1] = second;
  }

  /// Makes the output rows: first those of old cells with squares between them, then those of diamonds with
  /// squares between them, so that the rows of a warp are of one kind.
  __device__ void make_squares() const {
    const int top = (to.row - from.row) >> bits, left = (to.col - from.col) >> bits;
    const int first_pair = left / 2, end = (left + to.cols - 1) / 2 + 1;
    const int lane = static_cast<int>(threadIdx.x) % kLanes, slot = static_cast<int>(threadIdx.x) / kLanes;
    // Holds for most tiles of the finest level: they do not touch the border, and their output begins and
    // ends with a pair of cells.
    const bool inside = !at_top && !at_bottom && left == 2 && to.cols % 2 == 0 && end < from.cols;
    for (int r = top % 2 + 2 * slot; r < to.rows; r += 2 * kRows)
      if (inside)
        even_row_inside(r, (top + r) / 2, first_pair + lane, end);
      else
        even_row(r, (top + r) / 2, left, first_pair + lane, end);
    for (int r = 1 - top % 2 + 2 * slot; r < to.rows; r += 2 * kRows)
      if (inside)
        odd_row_inside(r, (top + r) / 2, first_pair + lane, end);
      else
        odd_row(r, (top + r) / 2, left, first_pair + lane, end);
  }

  __device__ void even_row_inside(int r, int k, int first, int end) const {
    const RowOfNoise random = row_of(2 * k);
    const T* known = old + k * kOldPitch;
    const T* up = diamonds + (k - 1) * kGrid;
    auto* pairs = reinterpret_cast<Pair<T>*>(out + r * kNewPitch);  // from number 1 on
    const auto round = static_cast<N>(rule.round4);
    const std::uint32_t next = next_column();
    std::uint32_t counter = column(2 * first + 1);
#pragma unroll 1
    for (int i = first; i < end; i += kLanes, counter += next) {
      const T here = known[i];
      pairs[i - 1] = {here, height_of_four<T, N>(up[i], up[i + kGrid], here, known[i + 1],
                                                 noise(random, counter), round)};
    }
  }

  __device__ void odd_row_inside(int r, int k, int first, int end) const {
    const RowOfNoise random = row_of(2 * k + 1);
    const T* above = old + k * kOldPitch;
    const T* known = diamonds + k * kGrid;
    auto* pairs = reinterpret_cast<Pair<T>*>(out + r * kNewPitch);
    const auto round = static_cast<N>(rule.round4);
    const std::uint32_t next = next_column();
    std::uint32_t counter = column(2 * first);
#pragma unroll 1
    for (int i = first; i < end; i += kLanes, counter += next) {
      const T after = known[i];
      pairs[i - 1] = {height_of_four<T, N>(above[i], above[i + kOldPitch], known[i - 1], after,
                                           noise(random, counter), round),
                      after};
    }
  }

  __device__ void even_row(int r, int k, int left, int first, int end) const {
    const RowOfNoise random = row_of(2 * k);
    const std::uint32_t next = next_column();
    const T* known = old + k * kOldPitch;
    T* line = out + r * kNewPitch;
    const bool no_up = k == 0 && at_top, no_down = k == from.rows - 1 && at_bottom, three = no_up || no_down;
    const T* up = diamonds + (k - 1) * kGrid;
    const T* down = diamonds + k * kGrid;
    const auto round3 = static_cast<N>(rule.round3), round4 = static_cast<N>(rule.round4);
    std::uint32_t counter = column(2 * first + 1);
#pragma unroll 1
    for (int i = first; i < end; i += kLanes, counter += next) {
      const N drawn = noise(random, counter);
      const bool inside = i < from.cols - 1;
      const T here = known[i], beside = inside ? known[i + 1] : T{};
      T square{};
      if (three)
        square =
            height_of_three<T, N>(no_up ? T{} : up[i], no_down ? T{} : down[i], here, beside, drawn, round3);
      else
        square = height_of_four<T, N>(up[i], down[i], here, beside, drawn, round4);
      store(line, 2 * i - left, here, square);
    }
  }

  __device__ void odd_row(int r, int k, int left, int first, int end) const {
    const RowOfNoise random = row_of(2 * k + 1);
    const std::uint32_t next = next_column();
    const T* above = old + k * kOldPitch;
    const T* below = above + kOldPitch;
    const T* known = diamonds + k * kGrid;
    T* line = out + r * kNewPitch;
    const auto round3 = static_cast<N>(rule.round3), round4 = static_cast<N>(rule.round4);
    std::uint32_t counter = column(2 * first);
#pragma unroll 1
    for (int i = first; i < end; i += kLanes, counter += next) {
      const N drawn = noise(random, counter);
      const bool no_left = i == 0, no_right = i == from.cols - 1;
      const T before = no_left ? T{} : known[i - 1], after = no_right ? T{} : known[i];
      T square{};
      if (no_left || no_right)  // at the border of a finite field; elsewhere such cells are not in the output
        square = height_of_three<T, N>(above[i], below[i], before, after, drawn, round3);
      else
        square = height_of_four<T, N>(above[i], below[i], before, after, drawn, round4);
      store(line, 2 * i - left, square, after);
    }
  }
};

}  // namespace contorno::diamond_square_cuda
