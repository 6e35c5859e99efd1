// Totals of the classes of a frame and of all frames, for every sink that says them: one place adds up.
#pragma once

#include <span>
#include <vector>

#include "plugins/files/contours/writer.h"

namespace contorno {

/// The measures of every contour of a frame, as they are written, in the order of the view.
std::span<const ContourMeasures> measure_frame(const ContoursView& view, ContourPlacer& placer,
                                               std::vector<ContourMeasures>& measures);

/// Adds up by classes: how many contours there are, their areas with their signs, their lengths, and the mean
/// of the map in them, of contours that have the attributes of measure_map. The mean is that of the samples
/// inside contours of positive area. Areas and lengths that are not finite add nothing. The share is the area
/// divided by that of all classes that are the whole; there is none where they have no area.
class TotalsCounter {
 public:
  void open(std::span<const ClassSpec> classes);
  /// Begins a frame, adds all of its contours, and adds the frame to the running totals.
  void add_frame(const ContoursView& view, std::span<const ContourMeasures> measures);
  ClassTotals of_frame(std::size_t of_class) const { return totals_of(frame_, of_class); }
  /// The totals of a class over all frames so far.
  ClassTotals running(std::size_t of_class) const { return totals_of(all_, of_class); }

 private:
  struct Sums {
    std::uint64_t contours = 0;
    double area = 0, perimeter = 0, samples = 0, weighted = 0;
    void add(const Sums& other);
  };
  ClassTotals totals_of(const std::vector<Sums>& sums, std::size_t of_class) const;

  std::vector<ClassSpec> classes_;
  std::vector<Sums> frame_, all_;
};

}  // namespace contorno
