// Where the contours of an output come to lie, on the device.
#pragma once

#include <cstddef>
#include <variant>

#include "geometry/ascending.h"
#include "geometry/attributes.h"
#include "pipeline/graph/stage.h"
#include "pipeline/value/contours.h"
#include "stages/contour_prep/shared/sorts_and_sums.h"

namespace contorno {

// Prefix sums on the device without a kernel of their own. An array is cut into ranges of equal length. The
// kernel that makes the words writes each as the sum of those before it in its range, and the range's total;
// the kernel that reads them adds the totals of the ranges before. How many words there are is known to the
// device alone, so all that there is room for are written: what is not used is 0. The functions of kernels
// are in placement.cuh.

/// At most so many, so that a block adds up their totals in shared memory.
inline constexpr unsigned kMostRanges = 1024;

/// What kernels see. Range r has words r << shift to (r + 1 << shift) - 1. All sums are modulo 2^64.
struct RangeSumsView {
  unsigned long long* words = nullptr;
  unsigned long long* totals = nullptr;  ///< a range
  unsigned count = 0;                    ///< words
  int shift = 0;
};

class RangeSums {
 public:
  /// Asks for scratch, as part of the stage's plan, for `count` words, 1 or more. Throws what library_count
  /// throws.
  void plan(PlanContext& context, std::size_t count) {
    count_ = static_cast<unsigned>(library_count(count)), shift_ = kLeastRange;
    while ((count_ - 1) >> shift_ >= kMostRanges) ++shift_;
    words_ = context.temporary(count * sizeof(unsigned long long), MemoryKind::Device);
    totals_ = context.temporary(kMostRanges * sizeof(unsigned long long), MemoryKind::Device);
  }
  RangeSumsView view(const RunContext& context) const {
    return {.words = context.scratch<unsigned long long>(words_),
            .totals = context.scratch<unsigned long long>(totals_),
            .count = count_,
            .shift = shift_};
  }

 private:
  static constexpr int kLeastRange = 8;  // a word for each thread of a block

  unsigned count_ = 1;
  int shift_ = 0;
  Scratch words_, totals_;
};

// Where the contours of an output come to lie, on the device: stream compaction by an exclusive prefix sum. A
// kernel writes a word for every contour of the input: how many contours (0 or 1) the contour gives to the
// output, in bits 32 to 63, and how many points, in bits 0 to 31. The sum of the words before a contour then
// says at which contour and at which point of the output it is written. The functions of such kernels, and
// who writes which word, are in placement.cuh; a block of them shares RangeShared.

/// What kernels see; device memory that they do not own.
struct PlacementView {
  ContoursView in, out;
  /// The indices of the contours of `in`, class by class, in the order in which they are to be written; null:
  /// as they are.
  const unsigned* order = nullptr;
  /// The sums of in.format.contour_capacity + 1 words: word i is of contour order[i], and words behind the
  /// last contour are 0, so that the sum before the one behind it holds the total counts. They fit: offsets
  /// of points are of 32 bits, and a step that is placed like this writes no more points than there is room
  /// for.
  RangeSumsView sums;
  /// For each contour of `out`, the index of the contour of `in` that it comes from (not its place in
  /// `order`): in.format.contour_capacity of them. Null: nobody asks.
  unsigned* sources = nullptr;
};

/// How many contours may be read: none where they did not fit.
CONTORNO_HD inline unsigned contours_of(const ContoursView& in) {
  return in.fits() ? static_cast<unsigned>(in.counts->contours) : 0U;
}
/// The class of a contour, which has one.
CONTORNO_HD inline unsigned class_of(const ContoursView& in, unsigned contour) {
  return part_of(in.class_begin, static_cast<unsigned>(in.format.classes), contour);
}
/// The points that are stored of a contour.
CONTORNO_HD inline unsigned points_of(const ContoursView& in, unsigned contour) {
  return in.offsets[contour + 1] - in.offsets[contour];
}

// Words: of a contour that gives none, but points to the one before it, the word is their number.
inline constexpr int kContourBit = 32;
CONTORNO_HD inline unsigned long long contour_word(unsigned points) {
  return 1ULL << kContourBit | points;
}
CONTORNO_HD inline unsigned contours_in(unsigned long long sum) {
  return static_cast<unsigned>(sum >> kContourBit);
}
CONTORNO_HD inline unsigned points_in(unsigned long long sum) {
  return static_cast<unsigned>(sum);
}

/// For how many numbers i place_contour is called where there are `contours`.
CONTORNO_HD inline unsigned places_of(const ContoursView& in, unsigned contours) {
  const auto classes = static_cast<unsigned>(in.format.classes);
  return (contours > classes ? contours : classes) + 1;
}
/// Writes offset, closed flag, attributes and source of the contour at place i, and begin i of the classes;
/// behind the last contour the counts of the output. `sums`: [i] is the sum of the words before word i.
/// Contour c of the input gives one that is closed if closed_of(c). When the input does not fit, the output
/// gets its counts and no contours.
template <class Sums, class ClosedOf>
CONTORNO_HD void place_contour(const PlacementView& placement, const Sums& sums, unsigned i,
                               const ClosedOf& closed_of) {
  const ContoursView &in = placement.in, &out = placement.out;
  const bool fits = in.fits();
  const unsigned contours = contours_of(in);
  if (i <= static_cast<unsigned>(in.format.classes))
    out.class_begin[i] = fits ? contours_in(sums[in.class_begin[i]]) : 0;
  if (i > contours) return;
  const unsigned long long sum = sums[i];
  const unsigned place = contours_in(sum);
  if (i == contours) {
    out.offsets[place] = points_in(sum);
    *out.counts = fits ? ContourCounts{points_in(sum), place} : *in.counts;
  } else if (contours_in(sums[i + 1]) != place) {
    const unsigned contour = placement.order != nullptr ? placement.order[i] : i;
    out.offsets[place] = points_in(sum);
    out.closed[place] = closed_of(contour) ? 1 : 0;
    if (placement.sources != nullptr) placement.sources[place] = contour;
    copy_attributes(in, contour, out, place);
  }
}

/// The memory of the words and sources. A member of a stage on CUDA.
class ContourPlacement {
 public:
  /// Asks for scratch, as part of the stage's plan, for inputs of `format`: 12 bytes a contour, and 8 KiB.
  /// Throws what RangeSums::plan throws.
  void plan(PlanContext& context, const ContoursFormat& format) {
    const std::size_t contours = format.contour_capacity;
    sums_.plan(context, contours + 1);
    sources_ = context.temporary(contours * sizeof(unsigned), MemoryKind::Device);
  }
  /// From the stage's input 0 to its output 0.
  PlacementView view(const RunContext& context, const unsigned* order = nullptr) const {
    return {.in = std::get<ContoursView>(context.inputs[0]),
            .out = std::get<ContoursView>(context.outputs[0]),
            .order = order,
            .sums = sums_.view(context),
            .sources = context.scratch<unsigned>(sources_)};
  }
  /// PlacementView::sources, as Stage::selection wants them of a step that leaves contours whole.
  Scratch sources() const { return sources_; }

 private:
  RangeSums sums_;
  Scratch sources_;
};

}  // namespace contorno
