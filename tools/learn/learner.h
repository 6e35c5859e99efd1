// The Learner answers what `contorno learn` asks about its samples: where their colours lie in oklab, where
// they are dense, and how well reference colours sort them. It borrows the samples and is used by one thread.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "stages/classify/stage.h"
#include "tools/learn/colours.h"

namespace contorno {

double distance(const Triple& a, const Triple& b);

/// A mode of the density of colours, by the sample that is nearest to it.
struct Mode {
  std::size_t sample = 0;
  Colour colour;
  Triple place;
  double share = 0;  ///< of the pixels among which it was found: those that went to it
};

class Learner {
 public:
  /// `samples` and `params` are borrowed and outlive the learner.
  Learner(const std::vector<ColourSample>& samples, const LearnParams& params);

  const LearnParams& params() const { return params_; }
  std::size_t count() const { return samples_.size(); }
  /// A class, or kRest (of samples around picks as well).
  std::int16_t owner(std::size_t sample) const;
  const Colour& colour(std::size_t sample) const { return samples_[sample].colour; }
  double weight(std::size_t sample) const { return weights_[sample]; }       ///< in pixels
  const Triple& place(std::size_t sample) const { return places_[sample]; }  ///< in oklab, lightness scaled

  /// Modes of the samples that `owner` has, the largest first.
  std::vector<Mode> modes_of(std::int16_t owner, double sigma) const;

  /// How dense the samples of each class are around `at`: the share of the class that lies within two sigmas.
  /// The last number is that of the rest.
  std::vector<double> densities(const Triple& at, std::size_t classes) const;

  /// The index of the class with the reference nearest to `at`, and the distance of that reference.
  std::pair<int, double> nearest(const Triple& at, const std::vector<LearnedClass>& classes) const;

  /// Whether a colour with `share` of the pixels is frequent enough to be a reference. The farther `away` it
  /// is from those that were chosen, the smaller a share is enough: small things of another colour count,
  /// shades of large ones do not.
  bool stands_out(double share, double away) const;

  /// Gives samples of the rest that look much like a class the weight 0. Around picks the thing that was
  /// picked goes on, in other light, so that lightness counts for less. Elsewhere lie others of its kind: the
  /// class has more of such shades than the rest has, and the colour itself is not one on which things lie.
  void leave_out_shades(const std::vector<LearnedClass>& classes);

  /// Fills in shares, recalls and softness. Shares count a pixel for its own class with masks, else for the
  /// class of the nearest reference.
  void judge(LearnedColours& learned, Examples examples) const;

 private:
  /// Whether a colour may be that of a class in other light.
  bool is_shade(const Triple& place, const LearnedClass& one) const;
  /// Whether what has it, somewhere in the frames, is rather one more thing of a class than anything else.
  bool is_of_a_class(const Triple& place, const std::vector<LearnedClass>& classes) const;
  /// The share of each class's samples, and behind them of the rest's, whose places are near.
  template <class Near>
  std::vector<double> shares(std::size_t classes, const Near& is_near) const;
  Triple place_of(const Colour& colour) const { return pixel_.place(colour.red, colour.green, colour.blue); }

  const std::vector<ColourSample>& samples_;
  const LearnParams& params_;
  std::array<float, 256> decode_;
  ClassifyPixel pixel_;
  std::vector<Triple> places_;
  std::vector<double> weights_;
};

}  // namespace contorno
