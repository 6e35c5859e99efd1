// What may be known of a contour beside its points: named numbers, such as its area or the number of the
// contour around it. Those that a frame's contours have are columns of doubles, one number a contour.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "cuda/host_device.h"

namespace contorno {

/// Lengths are in px of the map, areas in px^2, angles in radians. Which stage gives an attribute, and its
/// exact definition, stand in the declaration of that stage.
enum class Attribute : std::uint8_t {
  Level,   ///< of the map, at which the contour was found
  Number,  ///< of the contour in its frame, from 0: what Parent refers to, wherever the contour goes
  Parent,  ///< the Number of the smallest contour around it; -1 = none
  Depth,   ///< how many contours are around it; odd = a hole
  Id,      ///< of the object that the contour shows, the same from frame to frame
  Age,     ///< frames since the object was first seen
  Area,    ///< signed
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
  Mean,     ///< of the class map inside the contour
  Maximum,  ///< likewise
};

inline constexpr std::size_t kAttributeCount = 21;
/// The names by which users and files know them, in the order of Attribute.
inline constexpr std::array<std::string_view, kAttributeCount> kAttributeNames{
    "level",       "number",     "parent",     "depth",       "id",        "age",          "area",
    "perimeter",   "min_row",    "min_col",    "max_row",     "max_col",   "centroid_row", "centroid_col",
    "orientation", "major_axis", "minor_axis", "circularity", "convexity", "mean",         "maximum"};

constexpr std::string_view name_of(Attribute attribute) {
  return kAttributeNames[static_cast<std::size_t>(attribute)];
}
/// Nothing when no attribute is called so.
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
  /// How many there are, and how many stand before `one` in the order of Attribute.
  CONTORNO_HD constexpr unsigned count() const { return ones(bits_); }
  CONTORNO_HD constexpr unsigned before(Attribute one) const { return ones(bits_ & (bit(one) - 1)); }
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
