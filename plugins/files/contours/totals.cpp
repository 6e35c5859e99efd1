#include "plugins/files/contours/totals.h"

#include <algorithm>
#include <cmath>

namespace contorno {

std::span<const ContourMeasures> measure_frame(const ContoursView& view, ContourPlacer& placer,
                                               std::vector<ContourMeasures>& measures) {
  const auto contours = static_cast<std::uint32_t>(view.counts->contours);
  measures.resize(contours);
  for (std::uint32_t i = 0; i < contours; ++i)
    measures[i] = measure(placer.points(view, i), view.closed[i] != 0 ? Closure::Closed : Closure::Open);
  return measures;
}

void TotalsCounter::Sums::add(const Sums& other) {
  contours += other.contours;
  area += other.area, perimeter += other.perimeter;
  samples += other.samples, weighted += other.weighted;
}

void TotalsCounter::open(std::span<const ClassSpec> classes) {
  classes_.assign(classes.begin(), classes.end());
  frame_.resize(classes_.size());
  all_.resize(classes_.size());
}

void TotalsCounter::add_frame(const ContoursView& view, std::span<const ContourMeasures> measures) {
  const double *const samples = view.column(Attribute::Samples), *const mean = view.column(Attribute::Mean);
  std::fill(frame_.begin(), frame_.end(), Sums{});
  for (std::size_t k = 0; k < static_cast<std::size_t>(view.format.classes); ++k) {
    Sums& sums = frame_[k];
    for (std::uint32_t i = view.class_begin[k]; i < view.class_begin[k + 1]; ++i) {
      ++sums.contours;
      if (std::isfinite(measures[i].area)) sums.area += measures[i].area;
      if (std::isfinite(measures[i].length)) sums.perimeter += measures[i].length;
      if (samples == nullptr || mean == nullptr || !(measures[i].area > 0) || !(samples[i] > 0)) continue;
      sums.samples += samples[i];
      sums.weighted += mean[i] * samples[i];
    }
    all_[k].add(sums);
  }
}

ClassTotals TotalsCounter::totals_of(const std::vector<Sums>& sums, std::size_t of_class) const {
  double whole = 0;
  for (std::size_t k = 0; k < classes_.size(); ++k)
    if (classes_[k].whole) whole += sums[k].area;
  const Sums& of = sums[of_class];
  return {.name = classes_[of_class].name,
          .contours = of.contours,
          .area = of.area,
          .perimeter = of.perimeter,
          .share = whole > 0 ? std::optional(of.area / whole) : std::nullopt,
          .mean = of.samples > 0 ? std::optional(of.weighted / of.samples) : std::nullopt};
}

}  // namespace contorno
