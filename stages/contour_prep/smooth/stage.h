// Smooth: each contour as the sum of a few terms of its Fourier series, those of the lowest frequencies or
// the largest ones.
//
// Input: contours of any stage.
//
// Output: the same contours with as many points, which have moved. With z = col + i row, a closed contour is
// the sum of c_k exp(2 pi i k j / N) at its own point j of N, of the k that are kept. Of an open contour what
// is smoothed is its offset from the straight line between its ends, which is 0 at the ends: continued as an
// odd function to a period of twice the length, its series is one of sines, which keeps the ends in place.
// What has fewer than 3 own points, no more terms than are kept, or a point that is not finite, stays as it
// is.
//
// Memory: 176 bytes a point of the planned capacity and the output; once for all frames a table of 16 to 64
// bytes a point.
//
// Equal bits because both backends run the same text, in which each number has one way to come
// about.
//
// Source: G. H. Granlund, "Fourier preprocessing for hand print character recognition", 1972; L. V. Greco,
// "Fourier Drawing Machine", section 1.
#pragma once

#include "geometry/fourier_selection.h"
#include "geometry/fourier_series.h"
#include "geometry/own_points.h"
#include "geometry/points.h"
#include "pipeline/graph/stage.h"
#include "stages/contour_prep/shared/per_contour.h"

namespace contorno {

struct SmoothParams {
  int terms = 21;  ///< coefficients that are kept
  KeptTerms keep = KeptTerms::Low;
};

}  // namespace contorno

// How one contour is smoothed, for host and device.
//
// The odd continuation of an open contour has a period of 2 n points for n segments, but is transformed as
// two sequences of n: one step of radix 2 gives the even frequencies of the sum of both halves of the period,
// and the odd ones of their difference, turned; and the second half is the first one backwards with the other
// sign. So both kinds of contours need one transform of about as many points as they have.

namespace contorno::smoothing {

using namespace fourier;

struct SmoothTerms {
  Index terms = 1;
  KeptTerms keep = KeptTerms::Low;

  SmoothTerms() = default;
  explicit SmoothTerms(const SmoothParams& params)
      : terms(static_cast<Index>(params.terms)), keep(params.keep) {}
};

CONTORNO_HD inline Complex complex_of(const Point& point) {
  return {point.col, point.row};
}

/// One contour and the memory that its series is in.
class Series {
 public:
  /// Numbers of memory a point: of coefficients, and of all.
  static constexpr Index kCoefficients = 2, kMostMemory = kCoefficients + Transform::kMostMemory;

  CONTORNO_HD explicit Series(const OwnPoints& own)
      : points_(own.points),
        steps_(own.closed || own.count == 0 ? own.count : own.count - 1),
        parts_(own.closed ? 1 : 2),
        own_(own.count) {}

  /// The points of one transform.
  CONTORNO_HD Index steps() const { return steps_; }
  CONTORNO_HD bool has_more_terms(Index kept) const {
    // In a series of sines the terms of the frequencies 0 and n are 0.
    return own_ >= 3 && kept < (parts_ == 1 ? steps_ : 2 * steps_ - 1);
  }
  CONTORNO_HD bool is_finite(Index i) const { return contorno::is_finite(points_[i]); }

  /// Part `part` at step j.
  CONTORNO_HD Complex value(Index part, Index j) const {
    if (parts_ == 1) return complex_of(points_[j]);
    const Complex here = offset(j), there = offset(steps_ - j);
    return part == 0 ? here - there : (here + there) * conjugate(root_of_unity(j, 2 * steps_));
  }
  /// The point at step j, of what the parts have become.
  CONTORNO_HD Point point(Index j, const Complex& even, const Complex& odd) const {
    const Complex z = parts_ == 1 ? even : line(j) + even + root_of_unity(j, 2 * steps_) * odd;
    return {static_cast<float>(z.im), static_cast<float>(z.re)};
  }

  CONTORNO_HD Index parts() const { return parts_; }
  CONTORNO_HD Index coefficients() const { return parts_ * steps_; }
  /// Where in the memory of coefficients that of an index lies, and the index of number j of a part.
  CONTORNO_HD Index place(Index index) const { return index % parts_ * steps_ + index / parts_; }
  CONTORNO_HD Index index(Index part, Index j) const { return j * parts_ + part; }

  /// Whether a coefficient is kept; importance_at(place) is that of one. Those of sines come in pairs of
  /// frequencies -k and k, of which k comes last: with it, both are kept.
  template <class Importance>
  CONTORNO_HD bool keeps(const Selection& selection, Index index, const Importance& importance_at) const {
    const Index last = representative(index);
    return selection.keeps(importance_at(place(last)), rank_of(last, coefficients()));
  }
  /// The index whose importance is that of `index`: of the last one of a pair.
  CONTORNO_HD Index representative(Index index) const {
    const Index mirrored = coefficients() - index;
    return parts_ == 1 || index < mirrored ? index : mirrored;
  }

 private:
  CONTORNO_HD Complex line(Index j) const {
    const Complex first = complex_of(points_[0]), last = complex_of(points_[steps_]);
    return first + (static_cast<double>(j) / static_cast<double>(steps_)) * (last - first);
  }
  CONTORNO_HD Complex offset(Index j) const {
    return j == 0 || j == steps_ ? Complex{} : complex_of(points_[j]) - line(j);
  }

  const Point* points_;
  Index steps_, parts_, own_;
};

/// Which coefficients are kept. `scratch`: memory for as many doubles as there are coefficients.
CONTORNO_FOR_TEAMS
template <class Team>
CONTORNO_HD Selection select(const Team& team, const SmoothTerms& terms, const Series& series,
                             const Complex* coefficients, double* scratch) {
  if (terms.keep == KeptTerms::Low) return {0, terms.terms};
  const Index all = series.coefficients();
  team.each(all, [=](Index i) {
    scratch[i] = importance_of(coefficients[series.place(series.representative(i))]);
  });
  return select_top(team, all, terms.terms, [=](Index i) { return scratch[i]; });
}

/// Smooths a contour in place. `points` are those of `own`; `coefficients` is memory of kCoefficients a
/// point, `memory` of the transform of series.steps(), with `roots` for it.
CONTORNO_FOR_TEAMS
template <class Team>
CONTORNO_HD void smooth(const Team& team, const SmoothTerms& terms, const OwnPoints& own, Point* points,
                        Complex* coefficients, Complex* memory, const Complex* roots) {
  const Series series(own);
  if (!series.has_more_terms(terms.terms)) return;
  if (team.count(own.count, [=](Index i) { return !series.is_finite(i); }) > 0) return;
  const Index steps = series.steps(), parts = series.parts();
  const Transform transform(steps, memory, roots);
  Complex* const data = transform.data();
  const double scale = 1 / static_cast<double>(series.coefficients());
  transform.prepare(team);
  for (Index part = 0; part < parts; ++part) {
    team.each(steps, [=](Index j) { data[j] = series.value(part, j); });
    transform.run(team);
    team.each(steps, [=](Index j) { coefficients[part * steps + j] = scale * data[j]; });
  }
  const Selection selection = select(team, terms, series, coefficients, &data[0].re);
  const bool top = terms.keep == KeptTerms::Top;
  for (Index part = 0; part < parts; ++part) {
    // Backwards: the conjugate of the transform of conjugates.
    team.each(steps, [=](Index j) {
      const bool keeps = series.keeps(selection, series.index(part, j), [=](Index place) {
        return top ? importance_of(coefficients[place]) : 0;
      });
      data[j] = keeps ? conjugate(coefficients[part * steps + j]) : Complex{};
    });
    transform.run(team);
    team.each(steps, [=](Index j) { coefficients[part * steps + j] = conjugate(data[j]); });
  }
  const Complex* const odd = coefficients + (parts - 1) * steps;
  team.each(steps, [=](Index j) {
    if (parts == 2 && j == 0) return;  // an end stays
    points[j] = series.point(j, coefficients[j], odd[j]);
    if (parts == 1 && j == 0) points[steps] = points[0];
  });
}

}  // namespace contorno::smoothing

namespace contorno {

struct Smooth {
  using Params = SmoothParams;
  using Complex = fourier::Complex;
  using Series = smoothing::Series;
  static constexpr const char* kName = "smooth";
  static constexpr Gives kGives = Gives::Shape;
  static constexpr ContourTeams kTeams{.few = 256, .long_from = ContourTeams::kNever};
  /// For any contour of up to 512 points, and for 1024 or 2048 steps. Five blocks fit into a multiprocessor.
  static constexpr std::size_t kRoom = 2560 * sizeof(Complex);

  explicit Smooth(const SmoothParams& params) : terms(params) {}

  void arrays(ArrayTaker& take, const ContoursFormat& format) {
    take(memory, format.point_capacity * Series::kMostMemory);
  }
  void tables(Tables& tables, const SmoothParams&, const ContoursFormat& format) {
    roots = tables.keep(fourier::transform_roots(format.point_capacity));
  }

  CONTORNO_FOR_TEAMS
  template <class Team>
  CONTORNO_HD void operator()(const Team& team, const ContoursView& out, std::uint32_t contour) const {
    const OwnPoints own(out, contour);
    Complex* const coefficients = memory + own.begin * Series::kMostMemory;
    Complex* const transform = team.room(fourier::Transform::memory(Series(own).steps()),
                                         coefficients + own.count * Series::kCoefficients);
    smoothing::smooth(team, terms, own, out.points + own.begin, coefficients, transform, roots);
  }

  smoothing::SmoothTerms terms;
  Complex* memory = nullptr;
  const Complex* roots = nullptr;
};

const StageType& smooth_stage();

}  // namespace contorno
