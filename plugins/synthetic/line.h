// The synthetic sorting line: rollers that carry fruit from left to right and turn it, as many lanes as fit
// the picture. Lengths are in lanes: a lane is 1 high. A Line owns its fruit and the picture of the rollers;
// everything is taken when it is made. One thread calls it; inside it works with several.
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
  std::vector<FruitKind> kinds;  ///< that come along
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
  float radius = 0;    ///< across, in lanes
  float reach = 0;     ///< nothing of it is farther from the centre than this, in lanes
  Rotation rotation;
};

/// Distance in radii from the middle of the stem's line, and whether it is in front of the fruit. Less than
/// 0: no stem.
struct StemLine {
  Vec3 from, to;
  float thickness = 0;
  bool shown = false, in_front = false;
};
StemLine stem_of(const LyingFruit& lying);
/// How much of a pixel the stem covers, and where along it (0..1).
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

  static constexpr float kPlace = 0.98F;    ///< from fruit to fruit
  static constexpr double kOddLanes = 0.5;  ///< places that every other lane is ahead
  static constexpr float kRadius = 0.425F;  ///< of nominal fruit

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
