// Rectangles that a person points at: `--pick NAME[@FRAME]=X,Y,W,H` of `contorno learn`. Values only; nothing
// here opens a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/graph/source.h"

namespace contorno {

/// A rectangle of one frame that shows nothing, or little, but one class.
struct Pick {
  std::string name;   ///< of the class
  std::string frame;  ///< number of the frame from 0, or file name of a picture; empty: the first frame
  int x = 0, y = 0, width = 0, height = 0;  ///< px
  std::string text;                         ///< as it was given
};

/// Throws Error(Usage) that says what is allowed.
Pick parse_pick(const std::string& text);
/// `info.number` counts the frames of the source from 0.
bool lies_on(const Pick& pick, const FrameInfo& info);
/// Throws Error(BadOption) when the rectangle does not lie in a frame of `width` x `height` px.
void check_lies_within(const Pick& pick, int width, int height);

/// Pixels of no class in particular; those of them that lie around a pick, where the thing that was pointed
/// at goes on; and pixels that are not to be looked at (transparent, or a mask's value beyond the classes).
inline constexpr std::int16_t kRest = -1, kAroundPick = -2, kLeftOut = -3;

}  // namespace contorno
