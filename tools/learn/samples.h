// Which pixels of example frames `contorno learn` learns from. A class gives about as many however small it
// is, and the rest of a frame gives more where its colours are rare: what is small and coloured is not lost
// among what is large.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/value/classes.h"
#include "pipeline/value/image.h"

namespace contorno {

/// A pixel that stands for `weight` pixels of its frame. `owner` is a class, kRest or kAroundPick.
struct ColourSample {
  Colour colour;
  std::int16_t owner = -1;
  double weight = 1;
};

class ColourSampler {
 public:
  /// `frames[k]` frames are expected to show class k, and `all_frames` to be looked at.
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
