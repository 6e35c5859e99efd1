// A drawing machine: arms that turn at constant speeds, each fixed to the tip of the one before, whose last
// tip draws. The arms are the terms of a Fourier series, so that the tip passes along the points it was made
// of, or near them where terms are left out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/value/contours.h"
#include "stages/contour_prep/fourier/series.h"

namespace contorno {

struct Arm {
  fourier::Complex coefficient;  ///< where it points at the start, x + i y in px
  std::int64_t turns = 0;        ///< in a period
};

struct Machine {
  std::vector<Arm> arms;               ///< the resting one first, then by length
  std::uint64_t period = 0;            ///< time steps
  std::vector<fourier::Complex> line;  ///< where the tip is at the steps at which it draws, from 0 on
  std::vector<std::uint32_t> strokes;  ///< where in the line the pen is put down anew; the first is 0

  /// The part of the line from one time the pen is put down to the next. Borrowed from the machine.
  std::span<const fourier::Complex> stroke(std::size_t i) const;
  /// The centre of the first arm that turns, then the tip of each arm that turns, at a step.
  std::vector<fourier::Complex> joints(std::uint64_t step) const;
};

/// How series are made of contours.
struct SeriesOptions {
  bool all = false;         ///< one series for all contours
  std::uint64_t terms = 0;  ///< that are kept of each; 0 keeps all
  KeptTerms keep = KeptTerms::Low;
  int threads = 1;
};

/// The machines that draw the contours one after the other. An open contour is continued by its way back,
/// which is not drawn, so that its series has no jump.
std::vector<Machine> machines_of(const ContoursView& contours, const SeriesOptions& options);

/// How many points all lines have.
std::uint64_t line_points(std::span<const Machine> machines);

}  // namespace contorno
