// Close at border: joins contours that end on the border of the map along it, so that they are rings around
// what is high.
//
// Input: contours of any stage, with the sides of their map.
//
// Output: where an open contour ends on the border, the border is followed with the high side on the same
// hand, through corners, to where an open contour of the class begins. Contours that are linked in a ring
// become one closed contour, in the place of the first of them; others are unchanged. The sum of the signed
// areas of a class is then the area above the level, unless no contour of it reaches a border that is high.
//
// What belongs together is told as with brackets: an end opens, a begin closes. Where all contours of a map
// are there, ends and begins alternate, so that each end is linked with the very next begin.
//
// Memory: about 180 bytes a contour of the planned capacity on the CPU, 165 on CUDA, and the output, with
// room for 5 points a contour more than the input has.
//
// Source: K. Weiler and P. Atherton, "Hidden surface removal using polygon area sorting", 1977: as they join
// the parts of a polygon along the window that clips it.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>

#include "base/host_device.h"
#include "geometry/ascending.h"
#include "geometry/team.h"
#include "pipeline/graph/stage.h"
#include "pipeline/value/contours.h"
#include "pipeline/value/orientation.h"
#include "stages/contour_prep/shared/arrays.h"
#include "stages/contour_prep/shared/placement.h"

namespace contorno {

struct CloseAtBorderParams {
  Orientation positive_orientation = Orientation::Low;  ///< as contour_assembly was told
};

/// The format of the output: as many contours, and room for all points that they may get. Throws
/// Error(BadConfig) when these are more than offsets can say.
ContoursFormat closed_format(const PlanContext& context);

/// The CUDA implementation; only in builds that have CUDA.
std::unique_ptr<Stage> make_close_at_border_cuda(const ParamSet& params);

// Where points lie along the border of a map, and what comes between two of them, for both backends.

/// Corners of a map that follow each other.
struct BorderCorners {
  unsigned first = 0, count = 0;  ///< numbers for MapBorder::corner: `count` of them, from `first` on
};

/// The rectangle on which the outermost sample centres lie, followed clockwise on screen from (0, 0): with
/// the map on the right, as what is high is on the right of contours. Contours that are directed the other
/// way follow it the other way: clockwise on the transposed map.
class MapBorder {
 public:
  MapBorder() = default;
  MapBorder(const ContoursFormat& format, Orientation orientation)
      : last_row_(static_cast<float>(format.height - 1)),
        last_col_(static_cast<float>(format.width - 1)),
        is_transposed_(orientation == Orientation::High) {}

  CONTORNO_HD bool has(const Point& p) const {
    return p.row >= 0 && p.row <= last_row_ && p.col >= 0 && p.col <= last_col_ &&
           (p.row == 0 || p.row == last_row_ || p.col == 0 || p.col == last_col_);
  }

  static constexpr int kSideBits = 31, kPlaceBits = 33;
  /// The key by which points of the border (see has) are sorted along it: the number of the side, then the
  /// bits of a float that ascends along the side, from 0 at its corner. The key is no distance; different
  /// points have different keys.
  CONTORNO_HD std::uint64_t place(const Point& p) const {
    const float row = is_transposed_ ? p.col : p.row, last_row = is_transposed_ ? last_col_ : last_row_;
    const float col = is_transposed_ ? p.row : p.col, last_col = is_transposed_ ? last_row_ : last_col_;
    if (row == 0 && col < last_col) return place(0, bits(col));
    if (col == last_col && row < last_row) return place(1, bits(row));
    if (row == last_row && col > 0) return place(2, bits(last_col) - bits(col));
    return place(3, bits(last_row) - bits(row));
  }

  /// The corners strictly between two places, along the border from the first one; none between equal places.
  CONTORNO_HD static BorderCorners between(std::uint64_t from, std::uint64_t to) {
    if (from == to) return {};
    const auto from_side = static_cast<unsigned>(from >> kSideBits);
    const unsigned to_side = static_cast<unsigned>(to >> kSideBits) + (to < from ? 4U : 0U);
    const bool ends_on_corner = (to & ((1ULL << kSideBits) - 1)) == 0;
    return {from_side + 1, to_side - from_side - (ends_on_corner ? 1U : 0U)};
  }
  /// The corner at which side `side` % 4 begins.
  CONTORNO_HD Point corner(unsigned side) const {
    const unsigned number = is_transposed_ ? 4 - side % 4 : side;  // the other way round
    const bool is_right = number % 4 == 1 || number % 4 == 2;
    return {number % 4 >= 2 ? last_row_ : 0.0F, is_right ? last_col_ : 0.0F};
  }

 private:
  CONTORNO_HD static std::uint64_t place(unsigned side, unsigned along) {
    return std::uint64_t{side} << kSideBits | along;
  }
  /// They ascend with numbers that are not negative; -0 is 0.
  CONTORNO_HD static unsigned bits(float value) { return std::bit_cast<unsigned>(value + 0.0F); }

  float last_row_ = 0, last_col_ = 0;
  bool is_transposed_ = false;
};

/// The key by which ends of contours are sorted along the border: of several at one place, contours end there
/// before contours begin, so that these are joined there and not once round the border.
inline constexpr int kEndBits = MapBorder::kPlaceBits + 1;
CONTORNO_HD inline std::uint64_t end_key(const MapBorder& border, const Point& point, bool begins) {
  return border.place(point) << 1 | (begins ? 1U : 0U);
}

/// What a contour adds to the ring in which `next` follows it.
struct RingPart {
  std::uint32_t points = 0;  ///< the contour's own points; without the last if the next contour begins there
  BorderCorners corners;     ///< corners behind those points

  /// The contour ends on the border, and `next` begins there.
  CONTORNO_HD RingPart(const MapBorder& border, const ContoursView& in, std::uint32_t contour,
                       std::uint32_t next) {
    const std::uint64_t end = border.place(in.points[in.offsets[contour + 1] - 1]);
    const std::uint64_t begin = border.place(in.points[in.offsets[next]]);
    points = in.offsets[contour + 1] - in.offsets[contour] - (end == begin ? 1 : 0);
    corners = MapBorder::between(end, begin);
  }
  CONTORNO_HD std::uint32_t stored() const { return points + corners.count; }
};

/// Whether a contour is open and has two points or more: others have no ends to join.
CONTORNO_HD inline bool has_ends(const ContoursView& in, std::uint32_t contour) {
  return in.closed[contour] == 0 && in.offsets[contour + 1] - in.offsets[contour] > 1;
}

const StageType& close_at_border_stage();

// close_at_border for both backends. An end is a number: twice that of its contour, and 1 more where the
// contour begins. On a device, sorts and sums go over as many ends and contours as there is room for;
// elements that are not used come last.
//
//   FindEnds     a key for every end on the border: its class, and where it lies
//   (sort)       ends along the border, class by class
//   CountOpen    1 where a contour ends, -1 where one begins
//   (sum)        how many are open before each end
//   FindDepths   a key for every end: its class, and how many are open with it
//   (sort)       ends by depth; those of one depth stay in order, so that what belongs together is next
//   LinkEnds     which contour follows each one
//   FindRings    the rings
//   CountRings   what each contour gives, as a word
//   (sum)        where it is written
//   PlaceRings   the contours without their points
//   WriteRings   the points

namespace closing {

inline constexpr unsigned kNone = ~0U;
inline constexpr int kDepthBits = 32;
using Word = unsigned long long;

/// What the functions below share.
struct Rings {
  ContoursView in, out;
  MapBorder border;
  unsigned ends = 0;                                            ///< those that the loops go over
  Word *keys = nullptr, *along = nullptr, *by_depth = nullptr;  ///< an end
  unsigned *numbers = nullptr, *ends_along = nullptr, *ends_by_depth = nullptr;  ///< the ends of these keys
  Word* open = nullptr;        ///< contours that are open before each end along the border; one element more
  Word* words = nullptr;       ///< a word a contour, and one more: see placement.h
  unsigned* next = nullptr;    ///< a contour, as what follows: what it is linked with, or kNone
  unsigned* first = nullptr;   ///< the first one of its ring; of others itself
  unsigned* before = nullptr;  ///< points of its ring before those that it adds
  unsigned* points = nullptr;  ///< points of the ring that begins with the contour; 0 where none does

  void arrays(ArrayTaker& take, const ContoursFormat& format) {
    const std::size_t contours = format.contour_capacity;
    for (auto** one : {&keys, &along, &by_depth}) take(*one, 2 * contours);
    for (auto** one : {&numbers, &ends_along, &ends_by_depth}) take(*one, 2 * contours);
    take(open, 2 * contours + 1), take(words, contours + 1);
    for (auto** one : {&next, &first, &before, &points}) take(*one, contours);
  }
  CONTORNO_HD static bool begins(unsigned end) { return (end & 1U) != 0; }
  /// The key behind those of all classes.
  CONTORNO_HD Word last_key(int bits) const { return static_cast<Word>(in.format.classes) << bits; }
};

struct FindEnds : Rings {
  CONTORNO_HD void operator()(unsigned contour) const {
    const bool has = contour < contours_of(in) && has_ends(in, contour);
    const Word k = has ? part_of(in.class_begin, static_cast<unsigned>(in.format.classes), contour) : Word{0};
    for (unsigned i = 0; i < 2; ++i) {
      const unsigned end = 2 * contour + i;
      keys[end] = last_key(kEndBits), numbers[end] = end;
      if (!has) continue;
      const Point& point = in.points[begins(end) ? in.offsets[contour] : in.offsets[contour + 1] - 1];
      if (border.has(point)) keys[end] = k << kEndBits | end_key(border, point, begins(end));
    }
    next[contour] = kNone, first[contour] = contour, before[contour] = points[contour] = 0;
  }
};

struct CountOpen : Rings {
  CONTORNO_HD void operator()(unsigned i) const {
    open[i] = i == ends || along[i] >= last_key(kEndBits) ? 0 : begins(ends_along[i]) ? ~Word{0} : 1;
  }
};

struct FindDepths : Rings {
  CONTORNO_HD void operator()(unsigned i) const {
    keys[i] = last_key(kDepthBits);
    if (along[i] >= last_key(kEndBits)) return;
    const unsigned depth = static_cast<unsigned>(open[i]) + (begins(ends_along[i]) ? 0U : 1U);
    keys[i] = along[i] >> kEndBits << kDepthBits | (depth ^ 0x80000000U);  // may be negative
  }
};

struct LinkEnds : Rings {
  /// Where in the order of depths the begin lies that the end at place `i` is linked with; `ends` if there is
  /// none.
  CONTORNO_HD unsigned partner_of(unsigned i) const {
    const Word key = by_depth[i], k = key >> kDepthBits;
    if (i + 1 < ends && by_depth[i + 1] == key) return i + 1;
    // Once round; by then more may be open, where contours have only one end on the border.
    const Word more = open[lower_bound_of(along, ends, (k + 1) << kEndBits)] -
                      open[lower_bound_of(along, ends, k << kEndBits)];
    const unsigned place = lower_bound_of(by_depth, ends, key - more);
    return place < ends && by_depth[place] == key - more && begins(ends_by_depth[place]) ? place : ends;
  }
  CONTORNO_HD void operator()(unsigned i) const {
    if (by_depth[i] >= last_key(kDepthBits) || begins(ends_by_depth[i])) return;
    const unsigned partner = partner_of(i);
    if (partner < ends) next[ends_by_depth[i] / 2] = ends_by_depth[partner] / 2;
  }
};

/// The ring is written by the call for its lowest number: each goes on until it meets a lower one. Contours
/// that lead to one without a next one are no ring; their links are taken away, so that the calls behind do
/// not follow them again. It does not matter which calls see that at the same time.
struct FindRings : Rings {
  CONTORNO_HD void operator()(unsigned contour) const {
    if (contour >= contours_of(in) || first[contour] != contour) return;
    unsigned at = next[contour];
    if (at == kNone) return;
    while (at != kNone && at > contour) at = next[at];
    if (at == contour) return write(contour);
    if (at != kNone && next[at] != kNone) return;
    for (unsigned one = contour; one != kNone;) {
      const unsigned following = next[one];
      next[one] = kNone, one = following;
    }
  }

 private:
  CONTORNO_HD void write(unsigned contour) const {
    unsigned at = contour, stored = 0;
    do {
      first[at] = contour, before[at] = stored;
      stored += RingPart(border, in, at, next[at]).stored();
      at = next[at];
    } while (at != contour);
    points[contour] = stored + 1;  // the first one again
  }
};

struct CountRings : Rings {
  CONTORNO_HD void operator()(unsigned i) const {
    words[i] = i >= contours_of(in) || first[i] != i
                   ? 0
                   : contour_word(points[i] > 0 ? points[i] : points_of(in, i));
  }
};

struct PlaceRings : Rings {
  CONTORNO_HD void operator()(unsigned i) const {
    place_contour({.in = in, .out = out}, words, i,
                  [this](unsigned contour) { return points[contour] > 0 || in.closed[contour] != 0; });
    // Where the input did not fit, the output may not seem to fit either.
    if (i == 0 && !in.fits() && out.counts->points <= out.format.point_capacity)
      out.counts->points = out.format.point_capacity + 1;
  }
};

/// Called for every contour by a team.
struct WriteRings : Rings {
  static constexpr ContourTeams kTeams = kLargeBlocks;
  static constexpr std::size_t kRoom = 0;

  CONTORNO_FOR_TEAMS
  template <class Team>
  CONTORNO_HD void operator()(const Team& team, std::uint32_t contour) const {
    const unsigned ring = first[contour];
    const Point* const from = in.points + in.offsets[contour];
    Point* to = out.points + points_in(words[ring]) + before[contour];
    if (points[ring] == 0) return team.copy(from, points_of(in, contour), to);
    const RingPart part(border, in, contour, next[contour]);
    team.copy(from, part.points, to);
    if (!team.is_first()) return;
    to += part.points;
    for (unsigned i = 0; i < part.corners.count; ++i) *to++ = border.corner(part.corners.first + i);
    if (next[contour] == ring) *to = in.points[in.offsets[ring]];
  }
};

}  // namespace closing

/// On a backend: OnHost (on_host.h) or OnDevice (on_device.cuh).
template <class On>
class CloseAtBorder final : public Stage {
 public:
  explicit CloseAtBorder(const CloseAtBorderParams& params) : orientation_(params.positive_orientation) {}

  void plan(PlanContext& context) override {
    const auto& format = std::get<ContoursFormat>(context.input(0));
    const std::size_t contours = format.contour_capacity;
    const int class_bits = static_cast<int>(std::bit_width(static_cast<unsigned>(format.classes)));
    arrays_.plan(context, On::kMemory, format, closing::Rings{});
    sort_along_.plan(context, 2 * contours, kEndBits + class_bits);
    sort_depths_.plan(context, 2 * contours, closing::kDepthBits + class_bits);
    open_sum_.plan(context, 2 * contours + 1), place_sum_.plan(context, contours + 1);
    on_.template plan<closing::WriteRings>(format);
    context.set_output(0, closed_format(context));
  }

  void run(const RunContext& context) const override {
    auto rings = arrays_.of(context, closing::Rings{});
    rings.in = std::get<ContoursView>(context.inputs[0]);
    rings.out = std::get<ContoursView>(context.outputs[0]);
    rings.border = MapBorder(rings.in.format, orientation_);
    const unsigned contours = On::contours(rings.in);
    link(context, rings, contours);
    On::for_each(context, "find_rings", contours, closing::FindRings{rings});
    On::for_each(context, "count_rings", contours + 1, closing::CountRings{rings});
    place_sum_.run(context, rings.words, contours + 1);
    On::for_each(context, "place_rings", places_of(rings.in, contours), closing::PlaceRings{rings});
    on_.each_briefly(context, "write_rings", rings.in, closing::WriteRings{rings});
  }

 private:
  void link(const RunContext& context, closing::Rings& rings, unsigned contours) const {
    On::for_each(context, "find_ends", contours, closing::FindEnds{rings});
    rings.ends = sort_along_.run(context, {rings.keys, rings.along, rings.numbers, rings.ends_along},
                                 2 * contours, rings.last_key(kEndBits));
    On::for_each(context, "count_open", rings.ends + 1, closing::CountOpen{rings});
    open_sum_.run(context, rings.open, rings.ends + 1);
    On::for_each(context, "find_depths", rings.ends, closing::FindDepths{rings});
    sort_depths_.run(context, {rings.keys, rings.by_depth, rings.ends_along, rings.ends_by_depth}, rings.ends,
                     rings.last_key(closing::kDepthBits));
    On::for_each(context, "link_ends", rings.ends, closing::LinkEnds{rings});
  }

  Orientation orientation_;
  On on_;
  PlannedArrays arrays_;
  typename On::template Sort<closing::Word> sort_along_, sort_depths_;
  typename On::Sum open_sum_, place_sum_;
};

}  // namespace contorno
