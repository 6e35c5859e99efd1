// What measure writes of a contour, for both backends.
#pragma once

#include "geometry/hull.h"
#include "stages/contour_prep/measure/stage.h"
#include "stages/contour_prep/shared/per_contour.h"

namespace contorno {

struct Measure {
  using Params = NoParams;
  static constexpr const char* kName = "measure";
  static constexpr Gives kGives = Gives::Attributes;
  static constexpr Attributes kAttributes = measuring::kMeasuredAttributes;
  static constexpr ContourTeams kTeams{};

  explicit Measure(const NoParams&) {}

  void arrays(ArrayTaker& take, const ContoursFormat& format) {
    take(room.sorted, format.point_capacity);
    if (!take.on_host()) return;
    const std::size_t corners = format.point_capacity + format.contour_capacity;  // hulls end as they begin
    take(room.hull, corners), take(room.bins, corners);
  }

  CONTORNO_FOR_TEAMS
  template <class Team>
  CONTORNO_HD void operator()(const Team& team, const ContoursView& out, std::uint32_t contour) const {
    const std::uint32_t begin = out.offsets[contour], count = out.offsets[contour + 1] - begin;
    const Point* const points = out.points + begin;
    const std::size_t corners = std::size_t{begin} + contour;
    const double hull =
        count == 0
            ? 0
            : hull_area(team, points, count,
                        measuring::HullRoom{room.sorted + begin, room.hull + corners, room.bins + corners});
    measuring::write_outline(team, out, contour, points, count, out.closed[contour] != 0, hull);
  }

  measuring::HullRoom room;
};

}  // namespace contorno
