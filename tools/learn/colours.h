// Finds the reference colours of classes for `contorno learn`, from samples of pixels. Mean shift finds the
// modes of the samples: the colours around which they are densest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/value/classes.h"
#include "tools/learn/samples.h"

namespace contorno {

/// How it is known which class a pixel belongs to.
enum class Examples : std::uint8_t {
  Frames,  ///< it is not: every sample belongs to the rest, and the classes are found
  Masks,   ///< every sample has its class
  Picks,   ///< some samples have a class; the rest may be anything, the classes too
};

struct LearnParams {
  double sigma = 0.015;      ///< width of the kernel in oklab, lightness scaled
  double lightness = 0.5;    ///< as in classify
  int references = 5;        ///< most a class
  double min_share = 0.005;  ///< least of a class's pixels for a reference (of the rest: Learner::stands_out)
  int threads = 0;
};

struct LearnedClass {
  std::string name;
  bool hidden = false;
  std::vector<Colour> references;  ///< most frequent first
  double share = 0;                ///< of all pixels that were seen
  double recall = 0;               ///< share of its samples whose nearest reference is one of its own
};

/// A share in percent, "12.3"; with more digits where it is small, "0.048".
std::string percent_text(double share);

struct LearnedColours {
  std::vector<LearnedClass> classes;
  double softness = 0.05;  ///< for classify: the median distance of samples to their reference, within bounds
};

/// The least share of a class's picked pixels that a colour has; what has less is taken for something else
/// that lay there.
inline constexpr double kLeastOfPick = 0.02;

/// The name of the hidden class for what was not picked.
inline constexpr const char* kEverythingElse = "everything else";

/// Masks: `names[k]` gets the modes of the samples of class k that are not denser in another class. Picks:
/// the same; then every class, and one hidden class more for everything else, get the colours that tell them
/// apart best; the hidden class is left out where it would have none. Frames: the modes of all samples are
/// found; the largest is a class, then one by one those that are both far from the classes so far and large;
/// the others go to the class that is nearest in colour; the class with most pixels is `names[0]`. Throws
/// Error(BadData) when a class has no sample, or when there are fewer colours than classes.
LearnedColours learn_colours(const std::vector<ColourSample>& samples, const std::vector<std::string>& names,
                             Examples examples, const LearnParams& params);

}  // namespace contorno
