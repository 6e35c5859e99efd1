// What a legend says of objects (the step `objects` of contour_prep): how many are in view and how many there
// were so far, and of each class its largest share of an object in view. The rules, for both backends.
// docs/reference/overlay.md defines the numbers.
//
// Both backends give the same numbers, because shares are added as whole multiples of 2^-32, in any order.
#pragma once

#include <cstdint>

#include "stages/overlay/labels.h"

namespace contorno {

/// What the legend has to know of the frames before; zeros are none. Ids ascend, so a bit for each of the
/// last kIds tells which of them were counted; older ones count as counted.
struct LegendState {
  static constexpr std::uint64_t kIds = 65536;
  std::uint64_t so_far = 0;  ///< objects that were counted
  std::uint64_t newest = 0;  ///< the highest id among them
  std::uint32_t counted[kIds / 32] = {};

  CONTORNO_HD static std::uint32_t word(std::uint64_t id) {
    return static_cast<std::uint32_t>(id % kIds / 32);
  }
  CONTORNO_HD static std::uint32_t bit(std::uint64_t id) { return 1U << static_cast<unsigned>(id % 32); }
  CONTORNO_HD bool has(std::uint64_t id) const {
    return id <= newest && (newest - id >= kIds || (counted[word(id)] & bit(id)) != 0);
  }
  /// Word `at` of `counted` when the highest id is `next`: without the ids that give their bits to new ones.
  CONTORNO_HD std::uint32_t kept(std::uint32_t at, std::uint64_t next) const {
    const std::uint64_t passed = next - newest, begin = (32ULL * at - newest - 1) % kIds;
    if (passed >= kIds) return 0;
    std::uint32_t bits = counted[at];
    for (unsigned i = 0; i < 32 && (begin < passed || begin > kIds - 32); ++i)
      if ((begin + i) % kIds < passed) bits &= ~(1U << i);
    return bits;
  }
};

/// The memory for one frame, by contours; only elements of outlines of objects are read.
struct LegendWork {
  std::uint32_t* outlines = nullptr;       ///< the contours that are outlines, one behind the other
  std::uint32_t* owners = nullptr;         ///< the outline of each contour's object, or kNoOwner
  unsigned long long* wholes = nullptr;    ///< what shares of this object are parts of; 0: it has none
  unsigned long long* of_class = nullptr;  ///< the share of the class in work
  std::uint32_t* by_id = nullptr;          ///< outlines by their ids; for a device, which lists them anyhow
  static constexpr std::uint32_t kNoOwner = ~0U;
};

/// Its scratch, a member of a stage.
class LegendScratch {
 public:
  /// take(bytes) asks for memory.
  template <class Take>
  void plan(std::uint64_t contours, const Take& take) {
    outlines_ = take(contours * sizeof(std::uint32_t)), owners_ = take(contours * sizeof(std::uint32_t));
    wholes_ = take(contours * sizeof(unsigned long long));
    of_class_ = take(contours * sizeof(unsigned long long));
    by_id_ = take(contours * sizeof(std::uint32_t));
  }
  LegendWork of(const RunContext& context) const {
    return {.outlines = context.scratch<std::uint32_t>(outlines_),
            .owners = context.scratch<std::uint32_t>(owners_),
            .wholes = context.scratch<unsigned long long>(wholes_),
            .of_class = context.scratch<unsigned long long>(of_class_),
            .by_id = context.scratch<std::uint32_t>(by_id_)};
  }

 private:
  Scratch outlines_, owners_, wholes_, of_class_, by_id_;
};

/// A share of 1, in the unit of sums of shares.
inline constexpr double kLegendUnit = 4294967296.0;
/// The largest share that is shown, in tenths of a per cent.
inline constexpr int kMostTenths = 9999;

/// The pictures of numbers in the legend, by their numbers in OverlayPlan::stamps, and where they end.
struct LegendForm {
  bool shown = false;  ///< whether there is anything of objects in the legend
  int digits = -1, of = -1, point = -1, per_cent = -1, none = -1;
  FramePoint objects_end{-1, -1};  ///< right end and top of the row of objects; x < 0: it has none
  int left = 0;  ///< left end of the legend; digits that have no room right of it are left out
  /// What shares are parts of before the areas of classes are added that are the whole (ClassSpec::whole): 0,
  /// or 1 in the unit of shares where there is no such class.
  unsigned long long whole = 0;
  static constexpr int kObjectPieces = 32, kSharePieces = 8;

  static constexpr std::size_t pieces(std::size_t classes) { return kObjectPieces + kSharePieces * classes; }
};

/// The id of the object of which a contour is the outline, 0 of others.
CONTORNO_HD inline std::uint64_t outlined(const ContoursView& contours, std::uint32_t contour) {
  const double id = contours.column(Attribute::Id)[contour];
  const bool is_outline = id == contours.column(Attribute::Object)[contour] && id >= 1 && id < 9e15;
  return is_outline ? static_cast<std::uint64_t>(id) : 0;
}

/// Whether a point of an outline lies less than 1 px inside the border of the map.
CONTORNO_HD inline bool is_at_border(const ContoursView& contours, const Point& point) {
  const auto right = static_cast<float>(contours.format.width - 2),
             bottom = static_cast<float>(contours.format.height - 2);
  return !(point.row >= 1 && point.col >= 1 && point.row <= bottom && point.col <= right);
}

/// A share in whole units; what is no number adds nothing. Below 0 as a complement, which sums modulo 2^64.
CONTORNO_HD inline unsigned long long share_in_units(double share) {
  if (!(share >= -4 && share <= 4)) return 0;
  return static_cast<unsigned long long>(static_cast<long long>(share * kLegendUnit));
}

/// The share of a class in tenths of a per cent, to the nearest.
CONTORNO_HD inline int tenths_of(unsigned long long sum, unsigned long long whole) {
  const auto part = static_cast<double>(static_cast<long long>(sum)),
             all = static_cast<double>(static_cast<long long>(whole));
  const double tenths = part / all * 1000 + 0.5;
  return tenths < kMostTenths ? (tenths > 0 ? static_cast<int>(tenths) : 0) : kMostTenths;
}

/// Puts the pictures of numbers into the legend, from right to left. `size_of(stamp)` tells the size of each.
template <class SizeOf>
class LegendWriter {
 public:
  CONTORNO_HD LegendWriter(const LegendForm& form, const SizeOf& size_of, PlacedStamp* pieces)
      : form_(form), size_of_(size_of), pieces_(pieces) {}

  CONTORNO_HD void objects(std::uint64_t in_view, std::uint64_t so_far) {
    if (form_.objects_end.x < 0) return;
    put_from(form_.objects_end, [&](auto& row) {
      row.number(so_far, form_.digits);
      row.stamp(form_.of);
      row.number(in_view, form_.digits);
    });
  }
  /// A share in tenths of a per cent; below 0: that no object has been measured.
  CONTORNO_HD void share(FramePoint end, int tenths) {
    if (end.x < 0) return;
    put_from(end, [&](auto& row) {
      row.stamp(form_.per_cent);
      if (tenths < 0) return row.stamp(form_.none);
      row.number(static_cast<unsigned>(tenths % 10), form_.digits);
      row.stamp(form_.point);
      row.number(static_cast<unsigned>(tenths / 10), form_.digits);
    });
  }
  CONTORNO_HD int count() const { return count_; }

 private:
  template <class Write>
  CONTORNO_HD void put_from(FramePoint end, const Write& write) {
    const auto put = [this](const PlacedStamp& piece) {
      if (piece.x >= form_.left) pieces_[count_++] = piece;
    };
    LeftwardStamps row(end, size_of_, put);
    write(row);
  }

  const LegendForm& form_;
  const SizeOf& size_of_;
  PlacedStamp* pieces_;
  int count_ = 0;
};

}  // namespace contorno
