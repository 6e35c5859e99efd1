// Computes what the skin of a fruit looks like in one direction from its centre: ground colour, blush,
// streaks, spots, pits, and the defects on top. It only reads; any number of threads may use it.
#pragma once

#include <span>
#include <utility>

#include "plugins/synthetic/fruit.h"

namespace contorno::synthetic {

/// Smallest and largest chord from a defect's middle to its edge, on the unit sphere.
std::pair<float, float> defect_radius(Label label);

/// The colours of a kind of fruit, and how much there is of each.
struct Look {
  Vec3 ground, blush, deep, speck;
  float blushed = 0;  ///< how much of the skin is blushed, -2 (nothing) to 2 (everything)
  float streaks = 0;  ///< from end to end
  float patches = 0;  ///< large clouds
  float specks = 0;   ///< small light or dark dots
  float pits = 0;     ///< depth of pores
  float pit_scale = 60;
  float gloss = 0.5F;
};
const Look& look_of(FruitKind kind);

/// The skin of one fruit; `offset` and `ripeness` are random numbers of the fruit.
struct SkinOf {
  const Palette& palette;
  FruitKind kind;
  float offset = 0, ripeness = 0.5F;
  std::span<const Defect> defects;

  SkinPoint at(Vec3 direction) const;

 private:
  Vec3 plain_colour(Vec3 d) const;
  float height(Vec3 d) const;
  Vec3 bump(Vec3 d) const;
  void ends(Vec3 d, SkinPoint& point) const;
  void defect(const Defect& one, Vec3 d, SkinPoint& point) const;
};

}  // namespace contorno::synthetic
