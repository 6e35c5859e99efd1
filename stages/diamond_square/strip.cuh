// The kernel refine_strips of Diamond-Square, for levels of many cells: each warp walks down a strip of 124
// columns and holds everything in registers. A lane makes four cells of a row, from two coarser columns, and
// reads what it needs of its neighbours by shuffles. There are no barriers. Cells are computed twice only in
// the row above a strip and in the first lane, which provides the left neighbours of the second lane.
#pragma once

#include "stages/diamond_square/pass.cuh"

namespace contorno::diamond_square_cuda {

/// Four cells of a row, packed as in memory.
template <class T>
struct alignas(4 * sizeof(T)) Quad {
  static constexpr unsigned kWords = sizeof(T);
  std::uint32_t word[kWords];
};

/// The quad that begins `shift` cells further left: the last cells of the lane before, then the first of this
/// one.
template <class T>
__device__ Quad<T> shifted(const Quad<T>& quad, unsigned shift) {
  constexpr unsigned kWords = Quad<T>::kWords, kCellBits = 8 * sizeof(T);
  std::uint32_t line[2 * kWords];
#pragma unroll
  for (unsigned i = 0; i < kWords; ++i)
    line[i] = __shfl_up_sync(~0U, quad.word[i], 1), line[kWords + i] = quad.word[i];
  const unsigned whole = shift * kCellBits / 32, bits = shift * kCellBits % 32;
#pragma unroll
  for (unsigned step = 1; step < kWords; step *= 2)
#pragma unroll
    for (unsigned i = 2 * kWords - 1; i >= step; --i)
      line[i] = (whole & step) != 0 ? line[i - step] : line[i];
  Quad<T> moved;
#pragma unroll
  for (unsigned i = 0; i < kWords; ++i) {
    const std::uint64_t both = static_cast<std::uint64_t>(line[kWords + i]) << 32 | line[kWords + i - 1];
    moved.word[i] = kCellBits == 32 ? line[kWords + i] : static_cast<std::uint32_t>(both << bits >> 32);
  }
  return moved;
}

/// What a block keeps in shared memory: the rows' parts of random numbers, which are slower to compute in
/// every lane than to read.
struct StripShared {
  RowOfNoise rows[kStripWarps][2 * kStripRows];
};

/// Where a strip begins, and how many rows it has, in coarser rows and columns counted from the pass's first
/// tile.
struct StripPlace {
  int row, rows, col;
  __device__ StripPlace(const Pass& pass, unsigned strip) {
    const int across = static_cast<int>(strip % pass.tiles_across),
              down = static_cast<int>(strip / pass.tiles_across);
    const int tall = min(down, pass.tall_strips);
    row = tall * kStripRows + (down - tall) * kShortStripRows;
    rows = down < pass.tall_strips ? kStripRows : kShortStripRows;
    col = across * kStripCols - 2;
  }

  /// Whether all cells of the strip are in the output and have four neighbours, and all that it loads (one
  /// row more) is in the grid.
  __device__ bool inside(const Pass& pass) const {
    return 2 * row >= pass.top && 2 * (row + rows) <= pass.top + pass.out_rows && 2 * col >= pass.left &&
           2 * (col + 64) <= pass.left + pass.out_cols && row - 1 + pass.in_top >= 0 &&
           row + rows + 1 + pass.in_top < pass.in_rows && col + pass.in_left >= 0 &&
           col + 64 + pass.in_left < pass.in_cols;
  }
};

/// A warp's strip. Rows and columns are counted from the pass's first tile; each coarser one is two of the
/// output. kInside: StripPlace::inside holds, so that no limits are checked.
template <class T, bool kInside>
class Strip {
 public:
  __device__ Strip(const Pass& pass, std::uint32_t channel, const StripPlace& place, RowOfNoise* rows)
      : pass_(pass),
        channel_(channel),
        lane_(static_cast<int>(threadIdx.x) % 32),
        row_(place.row),
        end_(kInside ? place.rows : min(place.rows, (pass.top + pass.out_rows + 1) / 2 - place.row)),
        col_(place.col + 2 * lane_),
        rows_(rows) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      columns_[i] =
          column_of_noise(pass, counter_of(pass.tile_col, 2 * col_ + i) & pass.mask, pass.rules[0].level);
    const int first = kInside ? col_ + pass.in_left : 0;
#pragma unroll
    for (int i = 0; i < 3; ++i)
      places_[i] = kInside ? i : min(max(col_ + pass.in_left + i, 0), pass.in_cols - 1);
    line_ = static_cast<const char*>(pass.in) + static_cast<std::ptrdiff_t>(channel) * pass.in_plane +
            min(max(row_ - 1 + pass.in_top, 0), pass.in_rows - 1) * pass.in_pitch +
            first * static_cast<std::ptrdiff_t>(sizeof(T));
    to_ = static_cast<char*>(pass.out) + static_cast<std::ptrdiff_t>(channel) * pass.out_plane +
          (2 * row_ - pass.top) * pass.out_pitch + (2 * col_ - pass.left) * pass.out_cell;
  }

  __device__ void make() {
    rows_[lane_] = row_of(2 * row_ + lane_);
    __syncwarp();
    const Coarse above = load(row_ - 1);
    Coarse here = load(row_), below = load(row_ + 1);
    Diamonds up = diamonds(above, here, words(row_of(2 * row_ - 1), 1));
#pragma unroll 1
    for (int i = 0; i < end_; ++i) {
      const Coarse next = load(row_ + i + 2);
      const RowOfNoise &even = rows_[2 * i], &odd = rows_[2 * i + 1];
      // Random words for two rows are computed together: six independent chains of multiplications.
      const Words for_diamonds = words(odd, 1), for_even = words(even, 1), for_odd = words(odd, 0);
      const Diamonds down = diamonds(here, below, for_diamonds);
      make_even_row(2 * (row_ + i), for_even, here, up, down);
      make_odd_row(2 * (row_ + i) + 1, for_odd, here, below, down);
      here = below, below = next, up = down;
    }
  }

 private:
  static constexpr bool kFloat = std::is_same_v<T, float>;
  using N = std::conditional_t<kFloat, float, std::int32_t>;
  using Cell = std::conditional_t<kFloat, float, std::uint32_t>;  ///< a height in a register
  /// Coarse: the lane's two coarser cells of a row and the one after them. Diamonds: the cells between four
  /// coarser ones.
  struct Coarse {
    Cell cell[3];
  };
  struct Diamonds {
    Cell cell[2];
  };
  struct Words {
    std::uint32_t word[2];
  };

  __device__ std::uint32_t counter_of(std::int64_t first, int cell) const {
    return static_cast<std::uint32_t>(first) + (static_cast<std::uint32_t>(cell) << pass_.step_bits);
  }
  __device__ RowOfNoise row_of(int row) const {
    return RowOfNoise(pass_, counter_of(pass_.tile_row, row) & pass_.mask, pass_.rules[0].level, channel_);
  }

  /// Loads the next coarser row, `row`. Outside of the grid any cell is loaded instead; what is computed from
  /// it is not stored.
  __device__ Coarse load(int row) {
    Coarse loaded;
#pragma unroll
    for (int i = 0; i < 3; ++i) loaded.cell[i] = reinterpret_cast<const T*>(line_)[places_[i]];
    if (kInside || (row + pass_.in_top >= 0 && row + pass_.in_top + 1 < pass_.in_rows))
      line_ += pass_.in_pitch;
    return loaded;
  }

  /// Random words for cells `first` and `first` + 2 of the lane's four in a row.
  __device__ Words words(const RowOfNoise& row, int first) const {
    return {{row.word(pass_, columns_[first]), row.word(pass_, columns_[first + 2])}};
  }

  /// The height from four neighbours, in the order of height_of_four; with `three` one of them is missing and
  /// given as 0.
  __device__ Cell height(Cell a, Cell b, Cell c, Cell d, std::uint32_t word, bool three = false) const {
    const HeightRule& rule = pass_.rules[0];
    N noise, round4 = 0, round3 = 0;
    if constexpr (kFloat) {
      noise = noise_of<float>(word, rule);
    } else {  // in 32 bits: sums of 8-bit heights do not leave 16 bits, so it makes no difference
      noise = static_cast<std::int32_t>(philox_high(word, rule.span));
      round4 = pass_.low4, round3 = pass_.low3;
    }
    const auto of = [](Cell v) { return static_cast<T>(v); };
    if (!kInside && three) return height_of_three<T, N>(of(a), of(b), of(c), of(d), noise, round3);
    return height_of_four<T, N>(of(a), of(b), of(c), of(d), noise, round4);
  }

  __device__ Diamonds diamonds(const Coarse& above, const Coarse& below, const Words& drawn) const {
    Diamonds made;
#pragma unroll
    for (int i = 0; i < 2; ++i)
      made.cell[i] =
          height(above.cell[i], above.cell[i + 1], below.cell[i], below.cell[i + 1], drawn.word[i]);
    return made;
  }

  /// Stores a row of coarser cells with squares between them.
  __device__ void make_even_row(int row, const Words& drawn, const Coarse& here, const Diamonds& up,
                                const Diamonds& down) {
    const bool no_up = at_side(pass_.tile_row, row, 0), no_down = at_side(pass_.tile_row, row, pass_.side);
    Cell squares[2];
#pragma unroll
    for (int i = 0; i < 2; ++i)
      squares[i] = height(no_up ? Cell{} : up.cell[i], no_down ? Cell{} : down.cell[i], here.cell[i],
                          here.cell[i + 1], drawn.word[i], no_up || no_down);
    store(row, here.cell[0], squares[0], here.cell[1], squares[1]);
  }

  /// Stores a row of squares with diamonds between them.
  __device__ void make_odd_row(int row, const Words& drawn, const Coarse& above, const Coarse& below,
                               const Diamonds& made) {
    const Cell before[2] = {__shfl_up_sync(~0U, made.cell[1], 1), made.cell[0]};
    Cell squares[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int col = 2 * (col_ + i);
      const bool no_left = at_side(pass_.tile_col, col, 0),
                 no_right = at_side(pass_.tile_col, col, pass_.side);
      squares[i] = height(above.cell[i], below.cell[i], no_left ? Cell{} : before[i],
                          no_right ? Cell{} : made.cell[i], drawn.word[i], no_left || no_right);
    }
    store(row, squares[0], made.cell[0], squares[1], made.cell[1]);
  }

  /// Whether a row or column is the border `side` of a finite field.
  __device__ bool at_side(std::int64_t first, int cell, std::int64_t side) const {
    return !kInside && pass_.side >= 0 && first + cell * pass_.step == side;
  }

  /// Stores the next row, `row`. Inside, quads are moved left to the next multiple of their size, so that one
  /// instruction stores them; the second lane then stores the last cells of the first one. Strips that do not
  /// move their quads store the last three cells of the first lane, too, because their left neighbour, if it
  /// moves, leaves them out.
  __device__ void store(int row, Cell a, Cell b, Cell c, Cell d) {
    char* to = to_;
    to_ += pass_.out_pitch;
    if (kInside && pass_.out_cell == static_cast<std::ptrdiff_t>(sizeof(T))) {
      const std::uintptr_t beyond = reinterpret_cast<std::uintptr_t>(to) % sizeof(Quad<T>);
      const Quad<T> moved = shifted(packed(a, b, c, d), static_cast<unsigned>(beyond / sizeof(T)));
      if (lane_ > 0) *reinterpret_cast<Quad<T>*>(to - beyond) = moved;
      return;
    }
    const int r = row - pass_.top, first = 2 * col_ - pass_.left;
    if (!kInside && (r < 0 || r >= pass_.out_rows)) return;
    const Cell cells[4] = {a, b, c, d};
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if ((lane_ > 0 || i > 0) && (kInside || (first + i >= 0 && first + i < pass_.out_cols)))
        *reinterpret_cast<T*>(to + i * pass_.out_cell) = static_cast<T>(cells[i]);
  }
  __device__ static Quad<T> packed(Cell a, Cell b, Cell c, Cell d) {
    if constexpr (kFloat)
      return {{__float_as_uint(a), __float_as_uint(b), __float_as_uint(c), __float_as_uint(d)}};
    else if constexpr (sizeof(T) == 2)
      return {{__byte_perm(a, b, 0x5410), __byte_perm(c, d, 0x5410)}};
    else
      return {{__byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410)}};
  }

  const Pass& pass_;
  std::uint32_t channel_;
  int lane_;
  int row_, end_, col_;  ///< the strip's first row, how many it has, the lane's first column; coarser ones
  RowOfNoise* rows_;
  const char* line_;  ///< the line of the coarser grid that is loaded next
  char* to_;          ///< where the lane's next cells go
  int places_[3];     ///< of the lane's coarser cells in the line
  std::uint64_t columns_[4];
};

template <class T>
__global__ void __launch_bounds__(32 * kStripWarps, kStripBlocks)
    refine_strips(const __grid_constant__ Pass pass) {
  auto& shared = block_shared<StripShared>();
  const unsigned warp = threadIdx.x / 32, strip = blockIdx.x * kStripWarps + warp;
  const std::uint32_t channel = strip / pass.tiles;
  if (channel >= pass.channels) return;
  const StripPlace place(pass, strip - channel * pass.tiles);
  if (place.inside(pass))
    Strip<T, true>(pass, channel, place, shared.rows[warp]).make();
  else
    Strip<T, false>(pass, channel, place, shared.rows[warp]).make();
}

}  // namespace contorno::diamond_square_cuda
