// Picks: rectangles of frames in which a user shows `contorno learn` a class, `--pick NAME[@FRAME]=X,Y,W,H`.
// Nothing here opens a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/graph/source.h"

namespace contorno {

/// A rectangle of one frame that shows nothing, or little, but one class.
struct Pick {
  std::string name;   ///< of the class
  std::string frame;  ///< number of the frame from 0, or a picture's file name or its stem; empty: frame 0
  int x = 0, y = 0, width = 0, height = 0;  ///< px
  std::string text;                         ///< as it was given
};

/// Throws Error(Usage) that says what is allowed.
Pick parse_pick(const std::string& text);
/// Whether the pick is of that frame. `info.number` counts the frames of the source from 0.
bool lies_on(const Pick& pick, const FrameInfo& info);
/// Throws Error(BadOption) when the rectangle does not lie in a frame of `width` x `height` px.
void check_lies_within(const Pick& pick, int width, int height);

/// In place of a class: pixels of which no class is known; those of them around a pick, where the thing that
/// was picked may go on; and pixels that are not looked at (a mask's value is beyond the classes).
inline constexpr std::int16_t kRest = -1, kAroundPick = -2, kLeftOut = -3;

}  // namespace contorno
