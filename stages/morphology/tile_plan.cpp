// Planning the tiles of an element, see tile_plan.h.
#include "stages/morphology/tile_plan.h"

#include <algorithm>

#include "stages/morphology/structuring_element.h"

namespace contorno::morphology_cuda {
namespace {

/// Appends the runs for `rows` rows of the element that have the same run: pairs of runs `step` words apart,
/// of which the first begins `at` words from the tile's corner.
void add_rows(const TilePlan& plan, int at, int step, int rows, std::vector<TileRuns>& runs) {
  // Groups of four, two or one rows; the last group may overlap the one before.
  const int together = rows >= 4 ? 4 : rows >= 2 ? 2 : 1;
  for (int row = 0; row < rows; row += together) {
    const int first = at + std::min(row, rows - together) * plan.pitch;
    runs.push_back({first, first + step, together});
  }
}

/// The tile with the shortest sufficient rows, and with as many results a thread as fit.
TilePlan choose_tile(const Window& window, int pixel, int skew, std::size_t most_shared) {
  const long long across = skew + kTileAcross + static_cast<long long>(window.columns() - 1) * pixel;
  for (const int pitch : kTilePitches) {
    if (across > pitch) continue;
    for (const int outputs : {kTileOutputs, kTileOutputs / 2}) {
      TilePlan plan{.pitch = pitch, .outputs = outputs};
      plan.in_down = plan.down() + window.rows() - 1;
      if (plan.shared_bytes() <= most_shared) return plan;
    }
    break;
  }
  return {};
}

static_assert(StructuringElement::kMaxSide <= 1 << (kMostLevels - 1),
              "the longest run has a level of its own");

}  // namespace

TilePlan plan_tile(const Window& window, int pixel, int crop, std::size_t most_shared,
                   std::vector<TileRuns>& runs) {
  const int first_sample = (window.left + crop) * pixel, skew = first_sample & 3;
  TilePlan plan = choose_tile(window, pixel, skew, most_shared);
  if (plan.outputs == 0 || window.raised) return {};
  plan.runs = static_cast<int>(runs.size());
  plan.left = first_sample - skew;
  const auto length_of = [&](const RunTerm& term) {
    return window.tables[static_cast<std::size_t>(term.table)].length;
  };
  const auto level_of = [&](const RunTerm& term) {
    int level = 0;
    while (2 << level < length_of(term)) ++level;
    return level;
  };
  for (const RunTerm& term : window.terms) plan.levels = std::max(plan.levels, level_of(term) + 1);
  for (int level = 0; level < plan.levels; ++level) {
    for (std::size_t t = 0; t < window.terms.size();) {
      const RunTerm& term = window.terms[t];
      std::size_t next = t + 1;
      while (next < window.terms.size() && window.terms[next].table == term.table &&
             window.terms[next].shift == term.shift &&
             window.terms[next].row == term.row + static_cast<int>(next - t))
        ++next;
      const int rows = static_cast<int>(next - t);
      t = next;
      if (level_of(term) != level) continue;
      const int at = term.row * plan.pitch + skew + term.shift * pixel;
      add_rows(plan, at, (length_of(term) - (1 << level)) * pixel, rows, runs);
    }
    plan.level_ends[level] = static_cast<int>(runs.size()) - plan.runs;
  }
  return plan;
}

}  // namespace contorno::morphology_cuda
