// From coloured samples to the reference colours of classes: mean shift finds where colours gather. Used by
// `contorno learn`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/classes.h"

namespace contorno {

/// A pixel of an example frame. `owner` is the class that a mask gives it, -1 without a mask.
struct ColourSample {
  Colour colour;
  int owner = -1;
};

struct LearnParams {
  double sigma = 0.015;      ///< width of the kernel in oklab, lightness scaled
  double lightness = 0.5;    ///< as in classify
  int references = 5;        ///< most a class
  double min_share = 0.005;  ///< of a class's samples (without masks: of all) that a reference must stand for
  int threads = 0;
};

struct LearnedClass {
  std::string name;
  bool hidden = false;
  std::vector<Colour> references;  ///< most frequent first
  double share = 0;                ///< of all pixels that were seen
  double recall = 0;               ///< share of its samples whose nearest reference is one of its own
};

struct LearnedColours {
  std::vector<LearnedClass> classes;
  double softness = 0.05;  ///< for classify: the median distance of samples to their reference, within bounds
};

/// With owners: `names[k]` gets the modes of the samples of class k that are not more frequent in another
/// class. Without: all modes are found together, the largest become the classes in turn, the others go to the
/// class that is nearest in colour. `shares` (with owners): how many pixels of each class there were, else
/// empty. Throws Error(BadData) when a class has no sample, or when there are fewer colours than classes.
LearnedColours learn_colours(const std::vector<ColourSample>& samples, const std::vector<std::string>& names,
                             const std::vector<double>& shares, const LearnParams& params);

}  // namespace contorno
