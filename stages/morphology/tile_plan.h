// Planning window_tile for an element: which tile it takes, and the runs that make up the rows of the
// element. Internal.
#pragma once

#include <vector>

#include "stages/morphology/plan.h"

namespace contorno::morphology_cuda {

inline constexpr unsigned kTileThreads = 512;
inline constexpr int kTileAcross = 128;  ///< samples of a block's results
inline constexpr int kTileOutputs = 16;  ///< results of a thread, one below the other; or half as many
inline constexpr int kTileRows = 4;      ///< rows of threads
inline constexpr int kTilePitches[] = {192, 320, 432};  ///< words of a row in shared memory
inline constexpr int kMostLevels = 14;

/// 1, 2 or 4 neighbouring rows of the element with the same run. The run is two runs of a power of two,
/// `first` and `second`, in words from the tile's corner.
struct TileRuns {
  int first = 0, second = 0, rows = 1;
};

/// What TileJob has of a window's tile, and its pitch.
struct TilePlan {
  int pitch = 0, outputs = 0, in_down = 0;  ///< pitch: one of kTilePitches; outputs 0: too large an element
  int left = 0;
  int runs = 0;  ///< where its runs begin in the list of the whole plan
  int levels = 0, level_ends[kMostLevels] = {};

  int down() const { return kTileRows * outputs; }
  std::size_t shared_bytes() const {
    return static_cast<std::size_t>(pitch) * static_cast<std::size_t>(in_down) * sizeof(unsigned);
  }
};

/// The tile of a window, without outputs if the element is too large or has heights; appends its runs to
/// `runs`. `crop` is the column at which the image begins in the window's input; a block has at most
/// `most_shared` bytes of shared memory.
TilePlan plan_tile(const Window& window, int pixel, int crop, std::size_t most_shared,
                   std::vector<TileRuns>& runs);

}  // namespace contorno::morphology_cuda
