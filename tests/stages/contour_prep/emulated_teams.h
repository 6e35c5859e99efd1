// The kernels that call a function of (team, contour) for every contour, run by the emulator.
#pragma once

#include "stages/contour_prep/shared/contour_teams.cuh"
#include "stages/contour_prep/shared/per_contour.h"

namespace contorno::test {

template <unsigned kThreads, class Call>
void run_blocks(const ContoursView& contours, const Call& call, unsigned least, unsigned end) {
  emulated::run_grid(2, kThreads, sizeof(ByBlocksShared<kThreads>) + Call::kRoom, false,
                     [&] { contours_by_blocks<Call, kThreads>(contours, call, least, end); });
}

/// As TeamLaunch.
template <class Call>
void run_teams(const ContoursView& contours, const Call& call) {
  constexpr ContourTeams kTeams = Call::kTeams;
  if constexpr (kTeams.long_from != ContourTeams::kNever)
    run_blocks<kTeams.many>(contours, call, kTeams.long_from, ContourTeams::kNever);
  if constexpr (kTeams.few == kWarpLanes)
    emulated::run_grid(3, 96, 0, false, [&] { contours_by_warps(contours, call, kTeams.long_from); });
  else
    run_blocks<kTeams.few>(contours, call, 0, kTeams.long_from);
}
/// As PerContour::each.
template <class Step, class Call>
void run_step(const ContoursView& contours, const Step& step, const Call& call) {
  run_teams(contours, StepCall<Step, Call>{step, contours, call});
}

}  // namespace contorno::test
