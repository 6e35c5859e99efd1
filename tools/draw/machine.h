// A drawing machine: arms that turn at constant speeds, each fixed to the tip of the one before (epicycles),
// whose last tip draws. The arms are the terms of the Fourier series of some points: at step j of a period
// the tip is at point j, or near it where terms are left out. Points are complex, x + i y, in px of the map
// that the contours were found in.
//
// Source: L. V. Greco, "Fourier Drawing Machine", section 1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "geometry/fourier_series.h"
#include "pipeline/value/contours.h"

namespace contorno {

struct Arm {
  fourier::Complex coefficient;  ///< vector from its centre to its tip at step 0, px
  std::int64_t turns = 0;        ///< in a period; less than 0 backwards, 0 for the term that never turns
};

struct Machine {
  std::vector<Arm> arms;               ///< the one that never turns first, then from long to short
  std::uint64_t period = 0;            ///< steps, as many as the series has points
  std::vector<fourier::Complex> line;  ///< where the tip is at steps 0, 1, ... as long as it draws, px
  std::vector<std::uint32_t> strokes;  ///< indices in the line where the pen is put down; the first is 0

  /// The part of the line from one time the pen is put down to the next. Borrowed from the machine.
  std::span<const fourier::Complex> stroke(std::size_t i) const;
  /// The centre of the first arm that turns, then the tip of each arm that turns, at a step (that of any
  /// period), px.
  std::vector<fourier::Complex> joints(std::uint64_t step) const;
};

/// How series are made of contours.
struct SeriesOptions {
  bool all = false;                 ///< one series of the points of all contours, in their order
  std::uint64_t terms = 0;          ///< terms that are kept of each series; 0 keeps all
  KeptTerms keep = KeptTerms::Low;  ///< which of them: of lowest frequency, or of largest modulus
  int threads = 1;
};

/// The machines that draw contours, none of which is empty, one after the other; a closed contour ends with
/// its first point. They are: one for each, or one for all. An open contour
/// with a series of its own (not one for all) is continued by its way back, which is not drawn, so that the
/// series has no jump.
std::vector<Machine> machines_of(const ContoursView& contours, const SeriesOptions& options);

/// How many points the lines of all machines have together: the steps of the whole film.
std::uint64_t line_points(std::span<const Machine> machines);

}  // namespace contorno
