// Mipmap levels: an image and ever smaller copies of it. Their sizes, and how a whole chain lies side by side
// in one image (an atlas), so that it goes through ports, copies and sinks as any image does. Level 0 is at
// the top left, level 1 below it, the others stand one below the other at the right of level 1. Views own
// nothing.
#pragma once

#include <vector>

#include "pipeline/value/image.h"

namespace contorno {

/// Where a level lies in its atlas, in px.
struct LevelBox {
  int x = 0, y = 0, width = 0, height = 0;
};

/// The side of the next level, at least 1.
int next_side(int side, int divisor, LevelSizes sizes);

/// Sizes of all levels, the image first. The next level is made while the smaller side is above `stop`; with
/// `stop` 1 the chain continues until both sides are 1.
std::vector<LevelBox> level_sizes(int width, int height, int divisor, LevelSizes sizes, int stop);

/// The levels of an atlas, placed.
std::vector<LevelBox> level_boxes(const LevelAtlas& atlas);

/// The part of width x height that `boxes` do not cover, as boxes that do not overlap.
std::vector<LevelBox> free_boxes(const std::vector<LevelBox>& boxes, int width, int height);

/// The format of an atlas of `base` with the levels that `atlas` says. Throws Error(BadConfig) where a side
/// exceeds kMaxSide.
ImageFormat atlas_format(const ImageFormat& base, const LevelAtlas& atlas);

/// Whether the image is an atlas that still has the size that it was made with.
bool holds_levels(const ImageFormat& format);

/// A level in its atlas; the image itself where it holds no levels.
ImageView level_view(const ImageView& atlas, const LevelBox& box);

}  // namespace contorno
