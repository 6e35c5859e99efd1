// Which points exclude leaves out, for both backends.
#pragma once

#include "stages/contour_prep/exclude/region.h"
#include "stages/contour_prep/shared/per_contour.h"

namespace contorno {

struct Exclude {
  using Params = ExcludeParams;
  static constexpr const char* kName = "exclude";
  static constexpr Gives kGives = Gives::Marks;
  static constexpr ContourTeams kTeams{};

  /// Throws what check_points and check_strokes throw.
  explicit Exclude(const ExcludeParams& params) { check_points(params), check_strokes(params); }

  void tables(Tables& tables, const ExcludeParams& params, const ContoursFormat&) {
    const Region made(params);
    region = made.view();
    region.begins = tables.keep(made.begins());
    region.lists = tables.keep(made.lists());
    region.mask = tables.keep(made.mask());
  }

  CONTORNO_FOR_TEAMS
  template <class Team>
  CONTORNO_HD void operator()(const Team& team, const OwnPoints& own, std::uint8_t* keep) const {
    const RegionView& where = region;
    const Point* const points = own.points;
    team.each(own.count, [&](std::uint64_t i) { keep[i] = where.has(points[i]) ? 0 : 1; });
  }

  RegionView region;
};

}  // namespace contorno
