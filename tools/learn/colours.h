// From coloured samples to the reference colours of classes: mean shift finds where colours gather. Used by
// `contorno learn`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/value/classes.h"
#include "tools/learn/samples.h"

namespace contorno {

/// What says which pixels belong to a class.
enum class Examples : std::uint8_t {
  Frames,  ///< nothing: every sample belongs to the rest, and the classes are found
  Masks,   ///< every sample has its class
  Picks,   ///< some samples have a class; the rest may be anything, the classes too
};

struct LearnParams {
  double sigma = 0.015;      ///< width of the kernel in oklab, lightness scaled
  double lightness = 0.5;    ///< as in classify
  int references = 5;        ///< most a class
  double min_share = 0.005;  ///< of a class's pixels (of the rest's: less, the farther off the colour is)
  int threads = 0;
};

struct LearnedClass {
  std::string name;
  bool hidden = false;
  std::vector<Colour> references;  ///< most frequent first
  double share = 0;                ///< of all pixels that were seen
  double recall = 0;               ///< share of its samples whose nearest reference is one of its own
};

/// "12.3", "0.048": a share in percent; a small one is not nothing.
std::string percent_text(double share);

struct LearnedColours {
  std::vector<LearnedClass> classes;
  double softness = 0.05;  ///< for classify: the median distance of samples to their reference, within bounds
};

/// Of what was pointed at, a colour with less is taken for something that lay there too.
inline constexpr double kLeastOfPick = 0.02;

/// The class of what was not pointed at.
inline constexpr const char* kEverythingElse = "everything else";

/// Masks: `names[k]` gets the modes of the samples of class k that are not more frequent in another class.
/// Picks: the same, then every class and a hidden class more for everything else get those colours that tell
/// them apart best; the hidden class is left out where it would have none. Frames: all modes are found
/// together; the largest is a class, then always the one that is both far from those chosen and large; the
/// others go to the class that is nearest in colour; the most frequent class is `names[0]`. Throws
/// Error(BadData) when a class has no sample, or when there are fewer colours than classes.
LearnedColours learn_colours(const std::vector<ColourSample>& samples, const std::vector<std::string>& names,
                             Examples examples, const LearnParams& params);

}  // namespace contorno
