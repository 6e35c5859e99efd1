// Takes the pixels that `contorno learn` learns from out of example frames. Every class gives about as many
// samples, however small it is. Of the rest, rare colours give more of their pixels than frequent ones, so
// that small things are not lost among large ones.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/value/classes.h"
#include "pipeline/value/image.h"

namespace contorno {

/// A pixel that stands for `weight` pixels of its frame. `owner` is a class, kRest or kAroundPick (picks.h).
struct ColourSample {
  Colour colour;
  std::int16_t owner = -1;
  double weight = 1;
};

class ColourSampler {
 public:
  /// Expected numbers, by which samples are shared out among frames: `frames[k]` that show class k, and
  /// `all_frames` that are looked at.
  ColourSampler(std::vector<int> frames, int all_frames);

  /// `owners`: the class of every pixel, row by row, or kRest, kAroundPick or kLeftOut; transparent pixels
  /// are left out in any case. The frame is uint8 and interleaved.
  void take(const ImageView& frame, std::span<const std::int16_t> owners);

  const std::vector<ColourSample>& samples() const { return samples_; }

 private:
  std::size_t group_of(const std::uint8_t* pixel, int channels, std::int16_t owner) const;
  /// Every how many pixels of a group one becomes a sample; 0 = none does.
  std::vector<std::int64_t> steps_of(const std::vector<std::int64_t>& counts) const;

  std::vector<int> frames_;
  int all_frames_;
  std::vector<ColourSample> samples_;
};

}  // namespace contorno
