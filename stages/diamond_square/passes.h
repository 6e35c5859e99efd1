// How the work of Diamond-Square on the device is cut into passes (launches): levels of many cells are made
// by strips, one level a pass; coarser levels by tiles, at most six levels a pass. Host code that calls no
// CUDA function, so that it plans for the real kernels and the emulated ones. Included after pass.cuh.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

namespace contorno::diamond_square_cuda {

/// The passes from the corners to the image. The grids between them lie in a workspace of `workspace_bytes`,
/// whose address place_passes sets.
struct PassPlan {
  std::vector<Pass> passes;
  std::vector<std::size_t> places;  ///< where each pass's output but the last begins, in bytes
  std::size_t workspace_bytes = 0;
};

/// When levels are made by strips, and how many strips of each channel and level are short. Tests set both
/// for small images.
struct StripRule {
  std::int64_t cells = kStripCells;  ///< fewest of the coarsest level that is made by strips, in all channels
  unsigned shorts = kShortStrips;
};

/// Sets where the tiles or strips of a pass lie, from its output.
inline void place_tiles(Pass& pass, const StripRule& rule) {
  const std::int64_t side = pass.step << pass.levels;
  pass.tile_row = pass.rows.first & ~(side - 1), pass.tile_col = pass.cols.first & ~(side - 1);
  pass.top = static_cast<int>((pass.rows.first - pass.tile_row) / pass.step);
  pass.left = static_cast<int>((pass.cols.first - pass.tile_col) / pass.step);
  pass.out_rows = pass.rows.count(pass.step), pass.out_cols = pass.cols.count(pass.step);
  const auto rows = static_cast<unsigned>((pass.rows.last - pass.tile_row) / side + 1),
             cols = static_cast<unsigned>((pass.cols.last - pass.tile_col) / side + 1);
  pass.tiles_across = cols;
  unsigned down = rows;
  if (pass.strips) {
    pass.tiles_across = (cols + kStripCols - 1) / kStripCols;
    const unsigned in_short = rule.shorts / pass.tiles_across * kShortStripRows;
    const unsigned tall = rows > in_short ? (rows - in_short) / kStripRows : 0;
    pass.tall_strips = static_cast<int>(tall);
    down = tall + (rows - tall * kStripRows + kShortStripRows - 1) / kShortStripRows;
  }
  pass.tiles = pass.tiles_across * down;
}

/// Sets the grid from which a pass begins: `rows` and `cols` of the coarser cells.
inline void place_input(Pass& pass, CellSpan rows, CellSpan cols) {
  const std::int64_t side = pass.step << pass.levels;
  pass.in_row = rows.first, pass.in_col = cols.first;
  pass.in_rows = rows.count(side), pass.in_cols = cols.count(side);
  pass.in_top = static_cast<int>((pass.tile_row - rows.first) / side);
  pass.in_left = static_cast<int>((pass.tile_col - cols.first) / side);
}

inline PassPlan plan_passes(const DiamondSquarePlan& plan, const StripRule& rule = {}) {
  PassPlan result;
  const DiamondSquareParams& params = plan.params;
  const int exponent = params.exponent;
  const std::size_t cell = element_size(plan.format.type);
  Pass base;
  if (params.domain == DiamondSquareDomain::Finite) base.side = std::int64_t{1} << exponent;
  if (params.domain == DiamondSquareDomain::Cyclic) base.mask = (1U << exponent) - 1;
  base.channels = static_cast<unsigned>(plan.format.channels);
  base.given_corners = !plan.corners.empty();
  std::copy(plan.corners.begin(), plan.corners.end(), base.corners);
  CellSpan rows{params.row, params.row + plan.format.height - 1},
      cols{params.col, params.col + plan.format.width - 1};
  for (int done = 0; done < exponent;) {  // from the finest
    Pass pass = base;
    pass.step = std::int64_t{1} << done;
    pass.step_bits = done;
    pass.rows = rows, pass.cols = cols;
    pass.strips =
        done + 1 < exponent &&
        std::int64_t{rows.count(pass.step)} * cols.count(pass.step) * plan.format.channels >= rule.cells;
    pass.levels = pass.strips ? 1 : std::min(kLevels, exponent - done);
    place_tiles(pass, rule);
    for (int i = 0; i < pass.levels; ++i) {
      pass.rules[i] = plan.levels[static_cast<std::size_t>(exponent - 1 - done - i)];
      rows = coarser_span(rows, pass.step << i, pass.side),
      cols = coarser_span(cols, pass.step << i, pass.side);
    }
    pass.low4 = pass.rules[0].low + pass.rules[0].round4,
    pass.low3 = pass.rules[0].low + pass.rules[0].round3;
    done += pass.levels;
    place_input(pass, rows, cols);
    result.passes.push_back(pass);
  }
  std::reverse(result.passes.begin(), result.passes.end());
  for (std::size_t i = 0; i + 1 < result.passes.size(); ++i) {
    Pass& pass = result.passes[i];
    pass.out_cell = static_cast<std::ptrdiff_t>(cell);
    pass.out_pitch = static_cast<std::ptrdiff_t>(
        align_up(static_cast<std::size_t>(pass.cols.count(pass.step)) * cell, 64));
    pass.out_plane = pass.out_pitch * pass.rows.count(pass.step);
    result.places.push_back(result.workspace_bytes);
    result.workspace_bytes +=
        align_up(static_cast<std::size_t>(pass.out_plane) * static_cast<std::size_t>(plan.format.channels));
  }
  return result;
}

/// Sets the addresses of the passes' grids in `workspace`.
inline void place_passes(PassPlan& plan, std::byte* workspace) {
  for (std::size_t i = 0; i < plan.places.size(); ++i) {
    Pass &from = plan.passes[i], &to = plan.passes[i + 1];
    from.out = workspace + plan.places[i];
    to.in = from.out, to.in_pitch = from.out_pitch, to.in_plane = from.out_plane;
  }
}

/// `pass` with the random keys of a seed.
inline Pass with_seed(Pass pass, std::uint64_t seed) {
  pass.key = philox_key(seed);
  for (std::uint32_t round = 0; round < kPhiloxRounds; ++round) {
    pass.low_keys[round] = pass.key.low + round * kPhiloxW0;
    pass.high_keys[round] = pass.key.high + round * kPhiloxW1;
  }
  return pass;
}

/// The last pass, with the image as its output.
inline Pass with_image(Pass pass, const ImageView& out) {
  const auto cell = static_cast<std::ptrdiff_t>(element_size(out.format.type));
  const bool planar = out.format.layout == Layout::Planar;
  pass.out = out.data;
  pass.out_pitch = out.row_pitch;
  pass.out_plane = planar ? out.plane_pitch : cell;
  pass.out_cell = planar ? cell : cell * out.format.channels;
  return pass;
}

}  // namespace contorno::diamond_square_cuda
