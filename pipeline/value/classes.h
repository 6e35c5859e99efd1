// The classes of a graph: what is looked for, at which level its contours lie, and how they are drawn.
// Declared in the `classes:` section of a graph.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace contorno {

struct Colour {
  std::uint8_t red = 0, green = 0, blue = 0, alpha = 255;
  bool operator==(const Colour&) const = default;
};

/// A range of hue (degrees, may wrap through 360), saturation and value (0..1) that belongs to a class.
struct HueRange {
  double hue_from = 0, hue_to = 360, saturation_from = 0, saturation_to = 1, value_from = 0, value_to = 1;
  bool operator==(const HueRange&) const = default;
};

struct ClassSpec {
  std::string name{};
  double level = 0.5;            ///< iso-level of this class's map
  std::vector<double> levels{};  ///< several iso-levels of it, ascending, in place of `level`; empty: `level`
  Colour colour{};               ///< of its lines, legend entry and label
  double line_width = 0;         ///< px; 0 = the overlay's width
  double fill = 0;               ///< opacity of the inside, 0..1; 0 = not filled
  bool hidden = false;           ///< contours are found but not drawn (a background class)
  bool whole = false;            ///< its area is part of the whole of which totals say the classes' shares
  std::vector<Colour> references{};  ///< colours that belong to the class, for the classify stage
  std::vector<HueRange> ranges{};    ///< and hue ranges, for the same

  /// The iso-levels of this class's map, at least one.
  std::span<const double> iso_levels() const { return levels.empty() ? std::span(&level, 1) : levels; }
};

/// The most levels that a class may have.
inline constexpr std::size_t kMaxClassLevels = 1000;

/// Whether a class has a list of levels. Then each contour has its level as an attribute (Attribute::Level).
inline bool have_levels(std::span<const ClassSpec> classes) {
  return std::any_of(classes.begin(), classes.end(),
                     [](const ClassSpec& spec) { return !spec.levels.empty(); });
}

}  // namespace contorno
