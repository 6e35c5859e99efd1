// What a step gives: contours in an order or a choice of them, some of their points, or as many with other
// points; on either backend.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "geometry/attributes.h"
#include "geometry/own_points.h"
#include "stages/contour_prep/shared/array_launch.h"
#include "stages/contour_prep/shared/placement.h"
#include "stages/contour_prep/shared/sorts_and_sums.h"

namespace contorno {

// Whole contours in another order, and how the contours of an output begin.

/// Begins `out` as contours of the format of `in` without any. Returns whether `in` fits its capacities; if
/// not, `out` gets its counts, and is complete: the frame runs again with more room. On the CPU.
bool begin_output(const ContoursView& in, const ContoursView& out);

/// Writes contours of `in`, which fits, to `out`, which has room for them and their classes already:
/// contour sources[i] becomes contour i. `starts`: of each contour of `in` the own point from which on it is
/// drawn (drawn_point); null: the first. On the CPU.
void gather_contours(const ContoursView& in, const std::uint32_t* sources, const ContoursView& out,
                     const std::uint32_t* starts = nullptr);

/// Whole contours in another order, from a stage's input to its output. On the CPU; ContourOrder has the same
/// functions.
class HostOrder {
 public:
  /// Asks for scratch, as part of the stage's plan.
  void plan(PlanContext& context, const ContoursFormat& format) {
    sources_ = context.temporary(format.contour_capacity * sizeof(std::uint32_t), MemoryKind::Host);
  }
  /// Writes of each class the first `limit` contours of an order, which has the numbers of all contours,
  /// class by class. `starts` as of gather_contours.
  void write_first(const RunContext& context, const unsigned* order, unsigned limit,
                   const unsigned* starts = nullptr) const;
  /// See Stage::selection.
  Scratch sources() const { return sources_; }

 private:
  Scratch sources_;
};

/// A choice of whole contours, in their order, from a stage's input to its output. On the CPU.
class HostChoice {
 public:
  /// Asks for scratch, as part of the stage's plan.
  void plan(PlanContext& context, const ContoursFormat& format);
  /// Flags, to be written: whether a contour of the input stays.
  std::uint8_t* chosen(const RunContext& context) const { return context.scratch<std::uint8_t>(chosen_); }
  /// Where the input does not fit the output gets its counts alone, and no flag is read.
  void write(const RunContext& context) const;
  /// See Stage::selection.
  Scratch sources() const { return sources_; }

 private:
  Scratch chosen_, sources_;
};

/// Writes whole contours on the device, with what begin_output does.
class ContourOrder {
 public:
  /// Asks for scratch, as part of the stage's plan.
  void plan(PlanContext& context, const ContoursFormat& format);
  /// Where kernels of the stage write words before `write`.
  PlacementView view(const RunContext& context) const { return placement_.view(context); }
  /// Writes the contours whose word is contour_word(their points); of others it is 0.
  void write(const RunContext& context) const { write(context, placement_.view(context), nullptr); }
  /// Does what HostOrder::write_first does.
  void write_first(const RunContext& context, const unsigned* order, unsigned limit,
                   const unsigned* starts = nullptr) const;
  Scratch sources() const { return placement_.sources(); }

 private:
  void write(const RunContext& context, const PlacementView& placement, const unsigned* starts) const;

  ArrayLaunch launch_;
  ContourPlacement placement_;
};

/// HostChoice on the device.
class DeviceChoice {
 public:
  void plan(PlanContext& context, const ContoursFormat& format);
  std::uint8_t* chosen(const RunContext& context) const { return context.scratch<std::uint8_t>(chosen_); }
  void write(const RunContext& context) const;
  Scratch sources() const { return order_.sources(); }

 private:
  ArrayLaunch launch_;
  ContourOrder order_;
  Scratch chosen_;
};

// Contours that are written one behind the other, on the CPU.

/// Appends contours to an output that begin_output has begun.
class ContourWriter {
 public:
  explicit ContourWriter(const ContoursView& out) : out_(out) {}
  void add_points(const Point* points, std::uint32_t count) {
    std::copy_n(points, count, out_.points + points_);
    points_ += count;
  }
  /// Its attributes are those of contour `first` of `in`.
  void end_contour(const ContoursView& in, std::uint32_t first, bool closed) {
    out_.closed[contours_] = closed ? 1 : 0;
    copy_attributes(in, first, out_, contours_);
    out_.offsets[++contours_] = points_;
  }
  /// A contour of `in`, whole.
  void add_contour(const ContoursView& in, std::uint32_t contour) {
    add_points(in.points + in.offsets[contour], in.offsets[contour + 1] - in.offsets[contour]);
    end_contour(in, contour, in.closed[contour] != 0);
  }
  ContourCounts counts() const { return {.points = points_, .contours = contours_}; }

 private:
  const ContoursView& out_;
  std::uint32_t points_ = 0, contours_ = 0;
};

// Keeping some of the points of contours. What remains of a contour stays a contour, in its place; one of
// which nothing remains is left out.
//
// The repeated last point of a closed contour is no point of its own: it goes when the first one goes. A
// closed contour stays closed while all or at least 3 points remain, and its first remaining point is
// repeated. So the result does not depend on the point with which a closed contour begins.

/// Writes the points of `in` with keep[i] != 0 to `out`, which has room for all points of `in`. `keep` has a
/// flag for each stored point; those of repeated points are not read. When `in` does not fit its capacities,
/// `out` gets its counts and nothing else: the frame runs again with more room.
void select_points(const ContoursView& in, const std::uint8_t* keep, const ContoursView& out);

/// The selection of a stage, from its input to its output. On the CPU.
class HostSelection {
 public:
  void plan(PlanContext& context, const ContoursFormat& format) {
    keep_ = context.temporary(format.point_capacity, MemoryKind::Host);
  }
  std::uint8_t* keep(const RunContext& context) const { return context.scratch<std::uint8_t>(keep_); }
  void run(const RunContext& context) const {
    select_points(std::get<ContoursView>(context.inputs[0]), keep(context),
                  std::get<ContoursView>(context.outputs[0]));
  }

 private:
  Scratch keep_;
};

/// HostSelection on the device.
class DeviceSelection {
 public:
  /// Asks for scratch, as part of the stage's plan: 1.4 bytes a point and 12 a contour.
  void plan(PlanContext& context, const ContoursFormat& format);
  /// The flags, 0 or 1, one for each point that there is room for. The stage's kernels write those of the
  /// points that exist, before `run`.
  std::uint8_t* keep(const RunContext& context) const { return context.scratch<std::uint8_t>(keep_); }
  /// Enqueues the work, from the stage's input to its output.
  void run(const RunContext& context) const;

 private:
  ArrayLaunch launch_;
  RangeSums before_;
  ContourPlacement placement_;
  Scratch keep_, kept_;
};

// Outputs with as many contours and other points: where the contours lie when each has been given its number
// of points. A frame that does not fit is run again with more room (Stage::overflow), never truncated.

/// Called for 0 <= i < places_of(in, contours).
struct PlaceNewPoints {
  ContoursView in, out;
  const std::uint64_t* before = nullptr;  ///< number of points before each contour's, and of all contours
  std::uint64_t* needed = nullptr;        ///< points of the frame; 0 if the input did not fit

  CONTORNO_HD void operator()(unsigned i) const {
    const bool in_fits = in.fits();
    const unsigned contours = contours_of(in);
    const std::uint64_t points = before[contours], capacity = out.format.point_capacity;
    const bool fits = in_fits && points <= capacity;
    if (i == 0) {
      // Where the input did not fit, the output may not seem to fit either.
      const std::uint64_t more = in.counts->points > capacity ? in.counts->points : capacity + 1;
      *out.counts = {in_fits ? points : more, in.counts->contours};
      *needed = in_fits ? points : 0;
    }
    if (i <= static_cast<unsigned>(in.format.classes)) out.class_begin[i] = fits ? in.class_begin[i] : 0;
    if (!fits || i > contours) return;
    out.offsets[i] = static_cast<unsigned>(before[i]);
    if (i == contours) return;
    out.closed[i] = in.closed[i];
    copy_attributes(in, i, out, i);
  }
};

/// On the CPU; DeviceNewPoints has the same functions. Call them in this order.
class HostNewPoints {
 public:
  /// Asks for scratch, as part of the stage's plan, for contours of `in` that become contours of `out`.
  /// `name` is that of the step, for messages.
  void plan(PlanContext& context, const ContoursFormat& in, const ContoursFormat& out, const char* name);
  void clear(const RunContext&) const {}
  /// How many points each contour of the stage's input gets; the stage writes them.
  std::uint64_t* counts(const RunContext& context) const { return context.scratch<std::uint64_t>(counts_); }
  /// Writes offsets, closed flags, attributes, begins of the classes and counts of the output.
  void place(const RunContext& context) const;
  /// See Stage::overflow. Throws Error(BadData) when there are more points than offsets can say.
  std::uint64_t overflow(const RunContext& context) const;

 protected:
  void plan_counts(PlanContext& context, const ContoursFormat& in, const ContoursFormat& out,
                   const char* name, MemoryKind memory, MemoryKind answers);
  /// What `place` calls for each contour, behind the sums.
  PlaceNewPoints placed(const RunContext& context) const {
    return {.in = std::get<ContoursView>(context.inputs[0]),
            .out = std::get<ContoursView>(context.outputs[0]),
            .before = counts(context),
            .needed = context.scratch<std::uint64_t>(needed_)};
  }

  Scratch counts_, needed_;
  std::uint64_t capacity_ = 0;
  const char* name_ = "";
};

/// On the device.
class DeviceNewPoints : public HostNewPoints {
 public:
  void plan(PlanContext& context, const ContoursFormat& in, const ContoursFormat& out, const char* name);
  /// Enqueues that counts are 0 at first: those of contours that there are not stay so.
  void clear(const RunContext& context) const;
  void place(const RunContext& context) const;

 private:
  std::size_t words_ = 0;
  PrefixSum sum_;
};

}  // namespace contorno
