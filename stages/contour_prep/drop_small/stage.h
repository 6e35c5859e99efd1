// Drop small: leaves out contours with few points, a short length or a small area.
//
// Input: contours of any stage.
//
// Output: the contours that are large enough, unchanged and in their order.
//
// Memory: 5 bytes a contour of the planned capacity on the CPU, about 13 on CUDA, and the output.
//
// Source: L. V. Greco, "Fourier Drawing Machine", section 2.3 (filter_vector_by_min), for the number of
// points.
#pragma once

#include <algorithm>
#include <cmath>

#include "pipeline/graph/stage.h"
#include "stages/contour_prep/shared/per_contour.h"

namespace contorno {

struct DropSmallParams {
  int min_points = 10;
  double min_length = 0;  ///< px
  double min_area = 0;    ///< px^2; an open contour has none
};

// Which contours drop_small keeps, for both backends.

/// What a contour needs at least, in the units of size_in_units; one without points is none.
struct DropSmall {
  using Params = DropSmallParams;
  static constexpr const char* kName = "drop_small";
  static constexpr Gives kGives = Gives::Choice;
  static constexpr ContourTeams kTeams = kLargeBlocks;

  explicit DropSmall(const DropSmallParams& params)
      : points(static_cast<std::uint64_t>(std::max(params.min_points, 1))),
        length(in_units(params.min_length)),
        twice_area(in_units(2 * params.min_area)) {}

  CONTORNO_FOR_TEAMS
  template <class Team>
  CONTORNO_HD bool operator()(const Team& team, const ContoursView& in, std::uint32_t contour) const {
    return in.offsets[contour + 1] - in.offsets[contour] >= points &&
           (length == 0 || size_in_units(team, ContourSize::Length, in, contour) >= length) &&
           (twice_area == 0 || size_in_units(team, ContourSize::Area, in, contour) >= twice_area);
  }

  std::uint64_t points = 0, length = 0, twice_area = 0;

 private:
  static std::uint64_t in_units(double value) {
    return static_cast<std::uint64_t>(std::llround(value * kSizeUnits));
  }
};

const StageType& drop_small_stage();

}  // namespace contorno
