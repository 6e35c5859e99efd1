// Fourier descriptors: the form of every closed contour as a few numbers, as attributes. They do not change
// when a contour is moved, turned, scaled or mirrored, begins at another point or runs the other way round.
//
// Input: contours of any stage.
//
// Output: the same contours, with these attributes more:
//
//   fourier_minus_1             |c_-1| / |c_1|: 0 of a circle, (a - b) / (a + b) of an ellipse with the
//                               half-axes a and b, 1 of a line there and back
//   fourier_2, fourier_3, ...   |c_k| / |c_1| for k = 2, 3, 4
//   fourier_minus_2, ...        |c_k| / |c_1| for k = -2, -3, -4
//
// c_k are the Fourier coefficients of z = col + i row at the own points, and k counts in the direction in
// which the contour runs: if |c_-1| is greater than |c_1|, c_-k takes the place of c_k. NaN: of open
// contours, of frequencies that fewer points do not have, where both are 0 (less than 0.5e-9 px), and where a
// coordinate is not finite.
//
// Memory: 4 bytes a contour of the planned capacity, and the output.
//
// Source: G. H. Granlund, "Fourier preprocessing for hand print character recognition", 1972: coefficients of
// points as complex numbers.
#pragma once

#include "geometry/attributes.h"
#include "geometry/complex.h"
#include "geometry/own_points.h"
#include "pipeline/graph/stage.h"
#include "stages/contour_prep/shared/per_contour.h"

namespace contorno {

/// The attributes that it gives.
inline constexpr Attributes kFourierAttributes{
    Attribute::FourierMinus1, Attribute::Fourier2, Attribute::FourierMinus2, Attribute::Fourier3,
    Attribute::FourierMinus3, Attribute::Fourier4, Attribute::FourierMinus4};

}  // namespace contorno

// Descriptors of a contour, for host and device. Of so few coefficients each is the sum that
// defines it, in lanes (geometry/team.h).

namespace contorno::describing {

using namespace fourier;

/// Frequencies up to this one, both ways round.
inline constexpr unsigned kHighest = 4;

/// One lane's part of N c_k: of the frequencies k = 1 to kHighest, and of -k.
struct FourierSums {
  Complex positive[kHighest], negative[kHighest];

  /// Point j of `own`. Points are taken relative to the first one, which only c_0 tells.
  CONTORNO_HD void add(const OwnPoints& own, std::uint32_t j) {
    const Point &point = own.points[j], &first = own.points[0];
    const Complex z{static_cast<double>(point.col) - first.col, static_cast<double>(point.row) - first.row};
    const Complex root = root_of_unity(j, own.count);
    Complex power = root;
    for (unsigned k = 0; k < kHighest; ++k) {
      positive[k] = positive[k] + z * conjugate(power);
      negative[k] = negative[k] + z * power;
      power = power * root;
    }
  }
  CONTORNO_HD void add(const FourierSums& other) {
    for (unsigned k = 0; k < kHighest; ++k)
      positive[k] = positive[k] + other.positive[k], negative[k] = negative[k] + other.negative[k];
  }
};

/// Writes the attributes of a contour with `count` own points.
CONTORNO_HD inline void write(const ContoursView& out, std::uint32_t contour, bool closed,
                              std::uint32_t count, const FourierSums& sums) {
  constexpr Attribute kPositive[] = {Attribute::Fourier2, Attribute::Fourier3, Attribute::Fourier4};
  constexpr Attribute kNegative[] = {Attribute::FourierMinus1, Attribute::FourierMinus2,
                                     Attribute::FourierMinus3, Attribute::FourierMinus4};
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kNothing = 0.5e-9;  // px
  const bool turned = magnitude(sums.negative[0]) > magnitude(sums.positive[0]);
  const Complex *const positive = turned ? sums.negative : sums.positive, *const negative =
                                                                              turned ? sums.positive
                                                                                     : sums.negative;
  const double first = magnitude(positive[0]);
  const bool known = closed && count >= 3 && first >= kNothing * count;
  for (unsigned k = 1; k <= kHighest; ++k) {
    // With an even number of points, half of it is a frequency below 0.
    put(out, kNegative[k - 1], contour, known && 2 * k <= count ? magnitude(negative[k - 1]) / first : kNaN);
    if (k > 1)
      put(out, kPositive[k - 2], contour, known && 2 * k < count ? magnitude(positive[k - 1]) / first : kNaN);
  }
}

}  // namespace contorno::describing

namespace contorno {

struct FourierDescriptors {
  using Params = NoParams;
  static constexpr const char* kName = "fourier_descriptors";
  static constexpr Gives kGives = Gives::Attributes;
  static constexpr Attributes kAttributes = kFourierAttributes;
  static constexpr ContourTeams kTeams = kWarpsAlone;

  explicit FourierDescriptors(const NoParams&) {}

  CONTORNO_FOR_TEAMS
  template <class Team>
  CONTORNO_HD void operator()(const Team& team, const ContoursView& out, std::uint32_t contour) const {
    using describing::FourierSums;
    const OwnPoints own(out, contour);
    const FourierSums sums = team.template sum<FourierSums>(
        own.count, [=](FourierSums& lane, std::uint64_t i) { lane.add(own, static_cast<std::uint32_t>(i)); });
    if (team.is_first()) describing::write(out, contour, own.closed, own.count, sums);
  }
};

const StageType& fourier_descriptors_stage();

}  // namespace contorno
