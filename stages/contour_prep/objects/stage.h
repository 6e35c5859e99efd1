// Objects: what lies on which object, and who is which from frame to frame.
//
// Input: contours of any stage, in the order of frames.
//
// Output: the same contours, with these attributes more:
//
//   id, age  as of track (stages/contour_prep/track/stage.h), of every class
//   object   id of the object that the contour belongs to; NaN of none
//   share    of the area that the outline of that object encloses: the contour's own area, below 0 of a hole;
//            0 of an open contour, NaN where the outline is open or the contour belongs to no object
//
// Objects are the outer contours of one class (`of`) that enclose min_area or more; with `holes` its holes,
// as those of a background. A contour of any class belongs to the object that lies closest around it: to the
// smallest one that encloses more than it does and has the middle of its first segment inside, by the
// even-odd rule. A contour that lies in none belongs to the smallest one that encloses more than it does and
// whose box, `reach` px larger on each side, has the middle of the contour's box; so do spots on the edge of
// an object whose class leaves them out. No contour is divided between objects.
//
// What a run makes of these attributes, a record of each object when it has left, is computed on the host
// (pipeline/value/object_ledger.h), by the rule that this stage tells (Stage::objects).
//
// Memory: that of track and of hierarchy, and 12 bytes a contour.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>

#include "geometry/contour_size.h"
#include "geometry/nesting.h"
#include "pipeline/value/objects.h"
#include "stages/contour_prep/track/stage.h"

namespace contorno {

struct ObjectsParams : TrackParams {
  std::string of;
  bool holes = false;
  double min_area = 0;  ///< px^2
  double reach = 2;     ///< px
  std::string called;
  std::string defects;
  double threshold = 0.02;
  double margin = 1;  ///< px
  int max_views = 256;
};

/// The attributes that it gives.
inline constexpr Attributes kObjectsAttributes =
    kTrackAttributes.with(Attributes(Attribute::Object, Attribute::Share));

/// What objects are of contours of `classes` classes, which the graph declares as `specs` unless they have no
/// names. Throws Error(BadConfig) for names that are none of theirs.
ObjectsRule objects_rule(const ObjectsParams& params, std::span<const ClassSpec> specs, int classes);

/// The CUDA implementation; only in builds that have CUDA.
std::unique_ptr<Stage> make_objects_cuda(const ParamSet& params);

const StageType& objects_stage();

}  // namespace contorno

// What is computed of a contour, for host and device.

namespace contorno::objects {

/// One frame's work; arrays have an element a contour of the capacity.
struct Work {
  ContoursView out;  ///< contours with the attributes of track
  unsigned of_class = 0;
  bool holes = false, positive_holes = false;
  double least = 0;  ///< the least area of an object, in the units of signed_area_in_units
  std::int64_t* areas = nullptr;
  std::uint32_t* parents = nullptr;  ///< the outline that lies closest around each contour

  Work(const ObjectsParams& params, const ObjectsRule& rule)
      : of_class(rule.of_class),
        holes(params.holes),
        positive_holes(params.positive_orientation == Orientation::High),
        least(2 * params.min_area * kSizeUnits) {}

  template <class Taker>
  void arrays(Taker& take, const ContoursFormat& format) {
    take(areas, format.contour_capacity), take(parents, format.contour_capacity);
  }
};

CONTORNO_HD inline double magnitude(std::int64_t area) {
  return static_cast<double>(area < 0 ? -area : area);
}

/// Measures a contour, and says in `object` which outlines are objects: those have their ids.
CONTORNO_FOR_TEAMS
template <class Team>
CONTORNO_HD void begin(const Team& team, const Work& work, std::uint32_t contour, unsigned of_class) {
  const std::int64_t area = signed_area_in_units(team, work.out, contour);
  if (!team.is_first()) return;
  work.areas[contour] = area;
  const bool is_object = of_class == work.of_class && magnitude(area) >= work.least;
  const double* const ids = work.out.column(Attribute::Id);  // which the tracker has written
  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference)
  put(work.out, Attribute::Object, contour, is_object ? ids[contour] : measuring::kNaN);
}

/// Writes the attributes of a contour, once the parents are known. Outlines have `object` already, and keep
/// it: others read it meanwhile.
CONTORNO_HD inline void end(const Work& work, std::uint32_t contour, unsigned of_class) {
  double* const objects = work.out.column(Attribute::Object);
  std::uint32_t owner = contour;
  if (!(objects[contour] == objects[contour])) {
    owner = work.parents[contour];
    if (owner != nesting::kNoParent) objects[contour] = objects[owner];
  }
  double share = measuring::kNaN;
  if (owner != nesting::kNoParent && work.areas[owner] != 0) {
    const bool turned = work.positive_holes != (work.holes && of_class == work.of_class);
    const auto area = static_cast<double>(work.areas[contour]);
    share = (turned ? -area : area) / magnitude(work.areas[owner]);
    if (share == 0) share = 0;  // and not -0
  }
  put(work.out, Attribute::Share, contour, share);
}

}  // namespace contorno::objects
