// L. V. Greco's steps on contours: all pairs of points, on the host and on a device in his three versions.
// Coordinates are whole px.
#pragma once

#include <cstdint>
#include <vector>

namespace contorno::sources {

/// Contour c has points [begins[c], begins[c + 1]).
struct PlainContours {
  std::vector<int> x, y, begins{0};
  std::size_t points() const { return x.size(); }
  std::size_t contours() const { return begins.size() - 1; }
  bool operator==(const PlainContours&) const = default;
};

struct Brush {
  std::vector<int> x, y;
};

/// What stays of `contours`: the points whose flag is not 0, and the contours that still have some.
PlainContours kept(const PlainContours& contours, const std::vector<int>& flags);
/// Where merged() puts things: point i of contour c goes to `places[c] + i - contours.begins[c]`.
struct MergedPlaces {
  std::vector<int> places, begins{0};  ///< `begins` are those of the merged contours
};
/// Contours between which there is a chain of close ones become one, in the place of the first.
MergedPlaces merged_places(const PlainContours& contours, const std::vector<char>& close);
PlainContours merged(const PlainContours& contours, const std::vector<char>& close);
/// The first contour, and then always the nearest that is left, by squares of distances.
PlainContours ordered(const PlainContours& contours, const std::vector<int>& squares);

// The serial program (section 2). Matrices have a row and a column a contour.
std::vector<int> flags_of_brush(const PlainContours& contours, const Brush& brush);
/// 0 for the points of contours with fewer than `least` points.
std::vector<int> flags_of_small(const PlainContours& contours, int least);
std::vector<int> flags_of_duplicates(const PlainContours& contours, int distance);
std::vector<char> close_contours(const PlainContours& contours, int distance);
std::vector<int> contour_distances(const PlainContours& contours);

#if CONTORNO_HAVE_CUDA
enum class GrecoVersion : std::uint8_t {
  Int4,   ///< two arrays of coordinates, four points a thread where his text has it so (3)
  Int2,   ///< one array of points (5)
  Patch,  ///< a thread a square patch of the matrix of pairs (6)
};

/// Seconds on the device, by kernel; what a step does not run stays 0.
struct GrecoTimes {
  double flags = 0, scan = 0, move = 0, affiliation = 0, afference = 0, realign = 0;
};
// Each from and to host memory.
PlainContours brushed_on_device(const PlainContours& contours, const Brush& brush, GrecoVersion version,
                                GrecoTimes* times = nullptr);
PlainContours large_on_device(const PlainContours& contours, int least, GrecoVersion version,
                              GrecoTimes* times = nullptr);
PlainContours unique_on_device(const PlainContours& contours, int distance, GrecoVersion version,
                               GrecoTimes* times = nullptr);
PlainContours merged_on_device(const PlainContours& contours, int distance, GrecoVersion version,
                               GrecoTimes* times = nullptr);
PlainContours ordered_on_device(const PlainContours& contours, GrecoVersion version,
                                GrecoTimes* times = nullptr);
#endif

}  // namespace contorno::sources
