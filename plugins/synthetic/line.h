// The synthetic sorting line: rollers that carry fruit from left to right and turn it, as many lanes as fit
// the picture. Lengths are in lanes: a lane is 1 high. A place is where a fruit may lie; places are
// Line::kPlace apart. A Line owns its fruit and allocates everything when it is made. One thread calls it; it
// paints fruit with several.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pipeline/value/image.h"
#include "plugins/synthetic/fruit.h"

namespace contorno::synthetic {

struct LineParams {
  std::uint64_t seed = 1;
  int lanes = 0;                 ///< 0: as many as give round fruit of a good size
  std::vector<FruitKind> kinds;  ///< that come along, at least one
  double defective = 0.7;        ///< share of fruit with defects
  double fill = 0.95;            ///< share of places with a fruit
  double step = 0.08;            ///< places that the line moves on from frame to frame
  double spin = 0.33;            ///< turns of a fruit from place to place
  int labels = kLabels;          ///< labels that may occur
  int threads = 1;
  Simd simd = best_simd();
};

/// A fruit as it lies in one frame.
struct LyingFruit {
  const Fruit* fruit = nullptr;
  float x = 0, y = 0;  ///< centre, in lanes
  float radius = 0;    ///< across the axis, in lanes
  float reach = 0;     ///< nothing of it is farther from the centre than this, in lanes
  Rotation rotation;
};

/// The stem of a fruit as a line, in radii of the fruit from its centre.
struct StemLine {
  Vec3 from, to;
  float thickness = 0;
  bool shown = false, in_front = false;  ///< whether there is a stem, and whether it is before the fruit
};
StemLine stem_of(const LyingFruit& lying);
/// How much of the pixel at (x, y), in radii from the fruit's centre, the stem covers, 0..1; `along` gets the
/// nearest place on the stem, 0 (foot) to 1 (tip). `sharpness` is in pixels a radius.
float stem_coverage(const StemLine& stem, float x, float y, float sharpness, float& along);

class Line {
 public:
  Line(const LineParams& params, int frame_width, int frame_height);

  /// Moves the line to a frame; fruit that came into view is made.
  void advance(std::uint64_t frame);
  const std::vector<LyingFruit>& fruit() const { return lying_; }
  double travelled() const { return travelled_; }  ///< in lanes
  int lanes() const { return lanes_; }
  float width() const { return width_; }  ///< of the picture, in lanes
  const Palette& palette() const { return palette_; }
  int threads() const { return params_.threads; }
  const RayKernels& rays() const { return rays_; }

  static constexpr float kPlace = 0.98F;    ///< distance from place to place, in lanes
  static constexpr double kOddLanes = 0.5;  ///< places that every other lane is ahead
  static constexpr float kRadius = 0.425F;  ///< of nominal fruit, in lanes

 private:
  struct Slot {
    std::unique_ptr<Fruit> fruit;
    std::int64_t place = INT64_MIN;
    bool filled = false;
  };
  Slot& slot(int lane, std::int64_t place);
  void lay(int lane, std::int64_t place, Slot& slot);

  LineParams params_;
  RayKernels rays_;
  int lanes_ = 1, places_ = 1;
  float width_ = 1;
  double travelled_ = 0;
  Palette palette_;
  std::vector<Slot> slots_;
  std::vector<Fruit*> fresh_;
  std::vector<LyingFruit> lying_;
};

}  // namespace contorno::synthetic
