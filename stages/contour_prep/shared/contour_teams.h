// Into which teams the threads of a device are divided for a function of (team, contour). The kernels are in
// contour_teams.cuh, their launch in team_launch.cuh.
#pragma once

#include <cstddef>
#include <cstdint>

#include "geometry/team.h"

namespace contorno {

/// A team of `few` threads takes a contour of fewer than `long_from` stored points, one of `many` threads a
/// longer one; 32 threads are a warp, others a block.
struct ContourTeams {
  static constexpr unsigned kNever = ~0U;
  unsigned few = 32, many = 256, long_from = 1024;
};
/// All contours by warps: for what needs the lanes of a warp alone.
inline constexpr ContourTeams kWarpsAlone{.long_from = ContourTeams::kNever};

}  // namespace contorno
