// Track: the same object keeps its id from frame to frame.
//
// Input: contours of any stage, in the order of frames.
//
// Output: the same contours, with these attributes more:
//
//   id   of the object that the contour shows, from 1, in the order in which objects appear; over all classes
//   age  how many frames ago it appeared, by the frames' numbers: 0 of a new one
//
// Objects are what lies inside outer contours. A closed contour that runs the other way round than those do
// (positive_orientation) is a hole: it shows no object, and both attributes are NaN.
//
// A contour shows an object of its class that was seen before if their boxes overlap by at least min_overlap
// (intersection over union of the box of its points and the one with which the object was seen last), or
// else if their centroids (as of measure) are at most max_distance apart. Of all such pairs the best come
// first: those that overlap, the more the better; then the nearest; of equal ones that with the lower id,
// then the contour that comes first. What a contour or an object is taken by is not taken again. Overlaps
// and squares of distances are compared as float32. A contour that shows no known object is a new one.
//
// State: what was seen last of up to max_objects objects, and the counts of each class. An object is dead
// when it was missed in more than max_missed frames in a row, by their numbers, so that dropped frames count.
// If a frame's number is not greater than the one before, all known objects die; ids go on. If there are more
// than max_objects, objects that are not seen are forgotten first, then those of the last contours, which are
// new ones in the next frame.
//
// Memory: about 200 bytes a contour of the planned capacity and 110 an object on the CPU, 40 and 50 on CUDA,
// and the output; as state, for each slot, 128 bytes for each of max_objects and 48 for each class (at least
// 256).
//
// Speed: contours and objects are paired by chains (stages/shared/pair_in_chains.h) with about two searches
// for each. On the CPU a search goes down a tree of boxes (stages/shared/partner_tree.h), so that the time is
// that of a sort. On CUDA an index by rows finds which boxes come near each other's rows, all contours look
// at once, and those whose offers are surpassed look again; where that goes on for many rounds (all contours
// around each other) one block pairs them by chains, and each search looks at all that are left.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/host_device.h"
#include "base/memory.h"
#include "geometry/attributes.h"
#include "geometry/measures.h"
#include "geometry/row_lists.h"
#include "pipeline/graph/stage.h"
#include "pipeline/value/orientation.h"
#include "stages/shared/partner_tree.h"

namespace contorno {

struct TrackParams {
  double min_overlap = 0.3;
  double max_distance = 20;  ///< px
  int max_missed = 5;        ///< frames
  int max_objects = 4096;
  Orientation positive_orientation = Orientation::Low;  ///< as contour_assembly was told
};

/// The attributes that it gives.
inline constexpr Attributes kTrackAttributes{Attribute::Id, Attribute::Age};

/// The CUDA implementation; only in builds that have CUDA.
std::unique_ptr<Stage> make_track_cuda(const ParamSet& params);

}  // namespace contorno

// How contours and objects belong together, for host and device: what is seen of a contour, what is
// known of an object, how good a pair of them is, which are paired, and what becomes of them.

namespace contorno::tracking {

/// Where a contour or an object is.
struct Seen {
  Box box;                  ///< empty without a point
  double row = 0, col = 0;  ///< centroid; NaN without one
};

/// An object as it was seen last, in frame `last`; its first frame was `first`.
struct Object {
  Seen seen;
  std::uint64_t id = 0, first = 0, last = 0, of_class = 0;
};
static_assert(sizeof(Object) == 64);

struct Header {
  std::uint64_t frame = 0;    ///< that left the state
  std::uint64_t ids = 0;      ///< that were given so far
  std::uint64_t objects = 0;  ///< that are known
  std::uint64_t begun = 0;    ///< 0: no frame was before
};

/// A state, or the memory for one: what one frame leaves to the next. Zeros are a state without a past.
struct StateView {
  Header* header = nullptr;
  TrackCounts* counts = nullptr;  ///< a class
  unsigned classes = 0;           ///< that there are counts for
  Object* objects = nullptr;      ///< in no order that matters
};
/// The classes that a state has counts for. Who brings contours frame by frame may bring other classes each
/// time: the state is the same one all the same.
inline unsigned classes_of_state(int classes) {
  constexpr unsigned kFewest = 256;
  return std::max(kFewest, std::bit_ceil(static_cast<unsigned>(classes)));
}
inline std::size_t state_bytes(int classes, int max_objects) {
  return align_up(sizeof(Header)) + align_up(classes_of_state(classes) * sizeof(TrackCounts)) +
         static_cast<std::size_t>(max_objects) * sizeof(Object);
}
inline StateView state_view(std::byte* data, int classes) {
  const unsigned of_state = classes_of_state(classes);
  std::byte* const counts = data + align_up(sizeof(Header));
  return {reinterpret_cast<Header*>(data), reinterpret_cast<TrackCounts*>(counts), of_state,
          reinterpret_cast<Object*>(counts + align_up(of_state * sizeof(TrackCounts)))};
}

/// What pairs are judged by.
struct Limits {
  double min_overlap = 0, max_distance = 0;
  std::uint64_t max_missed = 0, max_objects = 0;
  bool positive_holes = false;  ///< holes have an area above 0, and not below
  int class_of_holes = -1;      ///< class whose areas have the opposite sign: its holes are objects; -1: none

  /// Whether holes of a class have an area above 0.
  CONTORNO_HD bool has_positive_holes(unsigned of_class) const {
    return positive_holes != (static_cast<int>(of_class) == class_of_holes);
  }

  explicit Limits(const TrackParams& params)
      : min_overlap(params.min_overlap),
        max_distance(params.max_distance),
        max_missed(static_cast<std::uint64_t>(params.max_missed)),
        max_objects(static_cast<std::uint64_t>(params.max_objects)),
        positive_holes(params.positive_orientation == Orientation::High) {}
};

/// Whether a contour is a hole, by the sum over its triangles. An open one is none: it may be that of a
/// region that the map cuts.
CONTORNO_HD inline bool is_hole(bool closed, const measuring::FirstMoments& area, bool positive_holes) {
  return closed && (positive_holes ? area.weight > 0 : area.weight < 0);
}

/// What is seen of a contour; says in `hole` whether it is one.
CONTORNO_FOR_TEAMS
template <class Team>
CONTORNO_HD Seen look_at(const Team& team, const ContoursView& contours, std::uint32_t contour,
                         bool positive_holes, bool& hole) {
  const std::uint32_t begin = contours.offsets[contour], count = contours.offsets[contour + 1] - begin;
  const Point* const points = contours.points + begin;
  const bool closed = contours.closed[contour] != 0;
  hole = false;
  Seen seen;
  seen.row = seen.col = measuring::kNaN;
  if (count == 0) return seen;
  seen.box = box_of(team, points, count);
  using measuring::CentroidSums, measuring::Offset;
  const auto sums = team.template sum<CentroidSums>(count - 1, [=](CentroidSums& lane, std::uint64_t i) {
    lane.add(Offset(points[i], points[0]), Offset(points[i + 1], points[0]));
  });
  seen.row = points[0].row, seen.col = points[0].col;
  sums.move_to_centroid(closed, seen.row, seen.col);
  hole = is_hole(closed, sums.area, positive_holes);
  return seen;
}

/// How well an object fits a contour; greater is better, 0 does not fit.
using Score = std::uint32_t;

/// Intersection over union; 0 where the boxes are apart or have no area.
CONTORNO_HD inline double overlap_of(const Box& a, const Box& b) {
  const auto length = [](float low, float high) {
    return static_cast<double>(high) - static_cast<double>(low);
  };
  const double rows = length(a.top > b.top ? a.top : b.top, a.bottom < b.bottom ? a.bottom : b.bottom);
  const double cols = length(a.left > b.left ? a.left : b.left, a.right < b.right ? a.right : b.right);
  if (!(rows > 0 && cols > 0)) return 0;
  const double both = rows * cols;
  return both / (length(a.top, a.bottom) * length(a.left, a.right) +
                 length(b.top, b.bottom) * length(b.left, b.right) - both);
}

inline constexpr Score kOverlaps = 1U << 31;
CONTORNO_HD inline Score score_of_overlap(double overlap) {
  return kOverlaps | std::bit_cast<std::uint32_t>(static_cast<float>(overlap));
}
/// The score of a squared distance of centroids; below that of any overlap.
CONTORNO_HD inline Score score_of_square(double square, const Limits& limits) {
  if (!(square <= limits.max_distance * limits.max_distance)) return 0;
  return kOverlaps - 1 - std::bit_cast<std::uint32_t>(static_cast<float>(square));
}
/// The score of an object and a contour, by their overlap or by the distance of their centroids.
CONTORNO_HD inline Score score_of(const Seen& object, const Seen& contour, const Limits& limits) {
  const double overlap = overlap_of(object.box, contour.box);
  if (overlap > 0 && overlap >= limits.min_overlap) return score_of_overlap(overlap);
  const double rows = object.row - contour.row, cols = object.col - contour.col;
  return score_of_square(rows * rows + cols * cols, limits);
}

/// What an object has to offer to a contour, so that the greatest one is the best: of equal scores the one
/// of the first contour. Never 0.
CONTORNO_HD inline unsigned long long offer_of(Score score, std::uint32_t contour) {
  return static_cast<unsigned long long>(score) << 32 | (~0U - contour);
}
CONTORNO_HD inline std::uint32_t contour_of(unsigned long long offer) {
  return ~0U - static_cast<std::uint32_t>(offer);
}

inline constexpr std::uint32_t kNone = kNoPartner;      ///< there is no such object or contour
inline constexpr std::uint32_t kHole = kNoPartner - 1;  ///< the contour is a hole, which has no object

/// The best object for a contour, by ids, or contour for an object, by their order.
using Choice = BestPartner<Score>;

// The index: an object is entered with the rows of its box and its centroid, which may lie outside; a contour
// looks for those in its own rows and as far from its centroid as the centroid of an object may be.
struct Rows {
  double top, bottom;

  CONTORNO_HD void add(double low, double high) {
    top = low < top ? low : top, bottom = high > bottom ? high : bottom;
  }
};
CONTORNO_HD inline Rows rows_of(const Seen& object) {
  Rows rows{object.box.top, object.box.bottom};
  rows.add(object.row, object.row);
  return rows;
}
CONTORNO_HD inline Rows rows_sought(const Seen& contour, const Limits& limits) {
  // One more: a distance that is just too long may be rounded to one that is not.
  const double beyond = limits.max_distance + 1;
  Rows rows{contour.box.top, contour.box.bottom};
  rows.add(contour.row - beyond, contour.row + beyond);
  return rows;
}
/// The list of an object; `none` if it can fit nothing.
CONTORNO_HD inline unsigned long long list_of(const Object& object, unsigned long long none) {
  const Rows rows = rows_of(object.seen);
  if (!(rows.top <= rows.bottom)) return none;
  return row_lists::list_of(static_cast<unsigned>(object.of_class), rows.top, rows.bottom);
}

// What becomes of objects in frame number `frame`.

/// Whether the frame begins anew: its number is not greater than the last one.
CONTORNO_HD inline bool begins_anew(const Header& before, std::uint64_t frame) {
  return before.begun != 0 && frame <= before.frame;
}
/// Whether an object may be seen again in this frame, and whether it is still known when it is not.
CONTORNO_HD inline bool is_awaited(const Object& object, std::uint64_t frame, bool anew,
                                   const Limits& limits) {
  return !anew && frame - object.last - 1 <= limits.max_missed;
}
CONTORNO_HD inline bool stays(const Object& object, std::uint64_t frame, bool anew, const Limits& limits) {
  return !anew && frame - object.last <= limits.max_missed;
}

/// The attributes of a hole, which shows no object.
CONTORNO_HD inline void write_hole(const ContoursView& out, std::uint32_t contour) {
  put(out, Attribute::Id, contour, measuring::kNaN);
  put(out, Attribute::Age, contour, measuring::kNaN);
}
/// The object that contour `contour` shows from now on, and its attributes. `known`: as it was before, or
/// null.
CONTORNO_HD inline Object object_of(const ContoursView& out, std::uint32_t contour, unsigned of_class,
                                    const Seen& seen, const Object* known, std::uint64_t new_id,
                                    std::uint64_t frame) {
  const Object object{seen, known != nullptr ? known->id : new_id, known != nullptr ? known->first : frame,
                      frame, of_class};
  out.column(Attribute::Id)[contour] = static_cast<double>(object.id);
  out.column(Attribute::Age)[contour] = static_cast<double>(frame - object.first);
  return object;
}

}  // namespace contorno::tracking

namespace contorno {

const StageType& track_stage();

}  // namespace contorno
