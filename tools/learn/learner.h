// Where the colours of samples lie in oklab, and where they gather: what `contorno learn` judges colours by.
// Borrows the samples; used by one thread.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "stages/classify/stage.h"
#include "tools/learn/colours.h"

namespace contorno {

double distance(const Triple& a, const Triple& b);

/// A place where colours gather, by a sample that lies there.
struct Mode {
  std::size_t sample = 0;
  Colour colour;
  Triple place;
  double share = 0;  ///< of the pixels that were looked at
};

class Learner {
 public:
  /// Both are borrowed and outlive the learner.
  Learner(const std::vector<ColourSample>& samples, const LearnParams& params);

  const LearnParams& params() const { return params_; }
  std::size_t count() const { return samples_.size(); }
  /// A class, or kRest.
  std::int16_t owner(std::size_t sample) const;
  const Colour& colour(std::size_t sample) const { return samples_[sample].colour; }
  double weight(std::size_t sample) const { return weights_[sample]; }
  const Triple& place(std::size_t sample) const { return places_[sample]; }

  /// Modes of the samples that `owner` has, the largest first.
  std::vector<Mode> modes_of(std::int16_t owner, double sigma) const;

  /// How dense the samples of each class are around `at`: shares of the class within two sigmas. The last is
  /// the rest's.
  std::vector<double> densities(const Triple& at, std::size_t classes) const;

  /// Index of the nearest reference's class, and how far it is.
  std::pair<int, double> nearest(const Triple& at, const std::vector<LearnedClass>& classes) const;

  /// Whether a colour with `share` of the pixels is there often enough, that is less often the farther `away`
  /// it is from those that are chosen: what is small and coloured counts, shades of what is large do not.
  bool stands_out(double share, double away) const;

  /// Leaves out what lies around picks and looks much like a class: what was pointed at goes on there, in
  /// other light, so lightness counts for less.
  void leave_out_shades(const std::vector<LearnedClass>& classes);

  /// Shares, recalls and softness. With masks a pixel counts for its own class, else for the nearest.
  void judge(LearnedColours& learned, Examples examples) const;

 private:
  Triple place_of(const Colour& colour) const { return pixel_.place(colour.red, colour.green, colour.blue); }

  const std::vector<ColourSample>& samples_;
  const LearnParams& params_;
  std::array<float, 256> decode_;
  ClassifyPixel pixel_;
  std::vector<Triple> places_;
  std::vector<double> weights_;
};

}  // namespace contorno
