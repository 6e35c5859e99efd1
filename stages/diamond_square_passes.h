// How the work of Diamond-Square on the device is cut into passes of at most six levels. Host code without
// CUDA, so that the emulated kernel and the real one share it.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

namespace contorno::diamond_square_cuda {

/// Passes from the corners to the image; grids between them lie in `workspace_bytes` of memory, which
/// place_passes puts in.
struct PassPlan {
  std::vector<Pass> passes;
  std::vector<std::size_t> places;  ///< of each pass's output but the last
  std::size_t workspace_bytes = 0;
};

inline PassPlan plan_passes(const DiamondSquarePlan& plan) {
  PassPlan result;
  const DiamondSquareParams& params = plan.params;
  const int exponent = params.exponent;
  const std::size_t cell = element_size(plan.format.type);
  Pass base;
  if (params.domain == DiamondSquareDomain::Finite) base.side = std::int64_t{1} << exponent;
  if (params.domain == DiamondSquareDomain::Cyclic) base.mask = (1U << exponent) - 1;
  base.given_corners = !plan.corners.empty();
  std::copy(plan.corners.begin(), plan.corners.end(), base.corners);
  CellSpan rows{params.row, params.row + plan.format.height - 1},
      cols{params.col, params.col + plan.format.width - 1};
  for (int done = 0; done < exponent;) {  // from the finest
    Pass pass = base;
    pass.levels = std::min(kLevels, exponent - done);
    pass.step = std::int64_t{1} << done;
    pass.step_bits = done;
    pass.rows = rows, pass.cols = cols;
    const std::int64_t side = pass.step << pass.levels;
    pass.tile_row = rows.first & ~(side - 1), pass.tile_col = cols.first & ~(side - 1);
    pass.tiles_across = static_cast<unsigned>((cols.last - pass.tile_col) / side + 1);
    pass.tiles = pass.tiles_across * static_cast<unsigned>((rows.last - pass.tile_row) / side + 1);
    for (int i = 0; i < pass.levels; ++i) {
      pass.rules[i] = plan.levels[static_cast<std::size_t>(exponent - 1 - done - i)];
      rows = coarser_span(rows, pass.step << i, pass.side),
      cols = coarser_span(cols, pass.step << i, pass.side);
    }
    done += pass.levels;
    pass.in_row = rows.first, pass.in_col = cols.first;
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

/// Points the passes at their memory.
inline void place_passes(PassPlan& plan, std::byte* workspace) {
  for (std::size_t i = 0; i < plan.places.size(); ++i) {
    Pass &from = plan.passes[i], &to = plan.passes[i + 1];
    from.out = workspace + plan.places[i];
    to.in = from.out, to.in_pitch = from.out_pitch, to.in_plane = from.out_plane;
  }
}

/// The pass for a seed.
inline Pass with_seed(Pass pass, std::uint64_t seed) {
  pass.key = philox_key(seed);
  for (std::uint32_t round = 0; round < kPhiloxRounds; ++round) {
    pass.low_keys[round] = pass.key.low + round * kPhiloxW0;
    pass.high_keys[round] = pass.key.high + round * kPhiloxW1;
  }
  return pass;
}

/// The last pass with the image as its output.
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
