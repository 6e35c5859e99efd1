// Attributes: what may be known of a contour beside its points, as named numbers, such as its area or which
// contour lies around it. All contours of a frame have the same attributes; ContoursView has a column of
// doubles for each, with a number for every contour.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/host_device.h"

namespace contorno {

/// Lengths are in px of the map, areas in px^2, angles in radians; NaN = the contour does not have it. A new
/// one stands before End, has its name at the same place in kAttributeNames, and a stage that gives it.
enum class Attribute : std::uint8_t {
  // stages/contour_prep/hierarchy/stage.h
  Number,  ///< its index among all contours of the frame when hierarchy ran; later steps do not change it
  Parent,  ///< the Number of the contour of its class that lies closest around it; -1 = none
  Depth,   ///< how many contours of its class are around it
  // stages/contour_prep/measure/stage.h
  Area,  ///< above 0 around high regions, below 0 of holes (with the default direction of contours)
  Perimeter,
  MinRow,
  MinCol,
  MaxRow,
  MaxCol,
  CentroidRow,
  CentroidCol,
  Orientation,
  MajorAxis,
  MinorAxis,
  Circularity,
  Convexity,
  // stages/contour_prep/measure_map/stage.h
  Samples,  ///< how many samples of the class's map are inside
  Mean,
  Maximum,
  // stages/contour_prep/fourier_descriptors/stage.h
  FourierMinus1,  ///< |c_-1| / |c_1| of the contour's Fourier coefficients; the others likewise
  Fourier2,
  FourierMinus2,
  Fourier3,
  FourierMinus3,
  Fourier4,
  FourierMinus4,
  // stages/contour_prep/track/stage.h
  Id,   ///< of the object that the contour shows, the same one in every frame
  Age,  ///< frames since that object appeared
  // stages/contour_prep/objects/stage.h
  Object,  ///< the Id of the object that the contour belongs to
  Share,   ///< its area as a part of what the object's outline encloses; below 0 of holes
  // stages/contours/stage.h
  Level,  ///< the iso-level that it was found at; where a class has several
  End,    ///< no attribute: behind the last one
};

inline constexpr std::size_t kAttributeCount = static_cast<std::size_t>(Attribute::End);
static_assert(kAttributeCount <= 32, "Attributes has a bit for each");

/// The names by which users and files know them, in the order of Attribute.
// clang-format off
inline constexpr std::array<std::string_view, kAttributeCount> kAttributeNames{
    "number", "parent", "depth",
    "area", "perimeter", "min_row", "min_col", "max_row", "max_col", "centroid_row", "centroid_col", "orientation",
    "major_axis", "minor_axis", "circularity", "convexity",
    "samples", "mean", "maximum",
    "fourier_minus_1", "fourier_2", "fourier_minus_2", "fourier_3", "fourier_minus_3", "fourier_4",
    "fourier_minus_4",
    "id", "age",
    "object", "share",
    "level"};
// clang-format on
static_assert(!kAttributeNames.back().empty(), "each attribute has a name");

constexpr std::string_view name_of(Attribute attribute) {
  return kAttributeNames[static_cast<std::size_t>(attribute)];
}
/// The attribute with that name; nothing when there is none.
std::optional<Attribute> attribute_called(std::string_view name);

/// A set of attributes.
class Attributes {
 public:
  constexpr Attributes() = default;
  template <class... Others>
  CONTORNO_HD constexpr explicit Attributes(Attribute first, Others... others)
      : bits_(bit(first) | (0U | ... | bit(others))) {}

  CONTORNO_HD constexpr bool has(Attribute one) const { return (bits_ & bit(one)) != 0; }
  CONTORNO_HD constexpr bool empty() const { return bits_ == 0; }
  CONTORNO_HD constexpr Attributes with(Attributes others) const { return of_bits(bits_ | others.bits_); }
  /// How many there are.
  CONTORNO_HD constexpr unsigned count() const { return ones(bits_); }
  /// The column of `one`, which is in the set: columns are in the order of Attribute.
  CONTORNO_HD constexpr unsigned column(Attribute one) const { return ones(bits_ & (bit(one) - 1)); }
  constexpr bool operator==(const Attributes&) const = default;

  /// Calls f(attribute) for each, in the order of Attribute.
  template <class F>
  CONTORNO_HD constexpr void for_each(const F& f) const {
    for (std::size_t i = 0; i < kAttributeCount; ++i)
      if (has(static_cast<Attribute>(i))) f(static_cast<Attribute>(i));
  }

 private:
  CONTORNO_HD static constexpr std::uint32_t bit(Attribute one) { return 1U << static_cast<unsigned>(one); }
  CONTORNO_HD static constexpr Attributes of_bits(std::uint32_t bits) {
    Attributes set;
    set.bits_ = bits;
    return set;
  }
  CONTORNO_HD static constexpr unsigned ones(std::uint32_t bits) {
    unsigned count = 0;
    for (; bits != 0; bits &= bits - 1) ++count;
    return count;
  }

  std::uint32_t bits_ = 0;
};

}  // namespace contorno
