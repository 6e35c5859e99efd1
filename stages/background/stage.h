// Background: what differs from the empty scene, before a camera that stands still. The scene is a reference
// picture, or what the frames have shown most of the time. docs/reference/background.md has the mathematics.
//
// Input: a frame, uint8: grey, RGB or RGBA, whose alpha counts for nothing.
//
// Output: one map, float32, 0..1: 0.5 where the pixel differs from the scene by `threshold`, more where it
// differs more. Or the frame, painted in one colour wherever it does not differ so much.
//
// State: the scene of the frame before, 2 bytes for every colour of every pixel and 64 bytes; nothing where a
// reference is given that never changes.
//
// Memory: the state, for each slot twice; the reference, 2 bytes a colour of a pixel.
//
// Both backends give the same bits, because ScenePixel is the same operations in the same order, and the
// scene is whole numbers.
#pragma once

#include <cstdint>
#include <memory>

#include "pipeline/graph/stage.h"

namespace contorno {

enum class BackgroundOutput : std::uint8_t { Maps, Frame };

struct BackgroundParams {
  SharedMask reference;
  double threshold = 0.1;
  double lightness = 1;
  double rate = 0.1;
  BackgroundOutput output = BackgroundOutput::Maps;
  Colour paint{0, 0, 0, 255};
};

/// A colour of the scene, in 256ths of a level.
using SceneColour = std::uint16_t;
inline constexpr int kSceneUnit = 256;
/// How far the scene moves behind its first frame without a reference, in levels; behind frame n it is an
/// n-th.
inline constexpr int kFirstStep = 32;

/// What goes before the colours of a scene that is carried from frame to frame.
struct SceneHeader {
  std::uint64_t frames = 0;  ///< that made it
  std::uint64_t shape = 0;   ///< of the frames: scenes of another shape may have as many bytes
  std::uint64_t unused[6] = {};

  /// How many frames have made the scene, if it is of that shape.
  CONTORNO_HD std::uint64_t frames_of(std::uint64_t wanted) const { return shape == wanted ? frames : 0; }
};

/// The arithmetic of a pixel. `colours` is 1 (grey) or 3.
struct ScenePixel {
  int colours = 1;
  float lightness = 1;  ///< squared
  float threshold = 0;  ///< squared

  /// How probable it is that a pixel is not of the scene.
  CONTORNO_HD float operator()(const std::uint8_t* pixel, const SceneColour* scene) const {
    constexpr float kFull = 255.0F * static_cast<float>(kSceneUnit);
    float squared = 0;
    if (colours == 1) {
      const float away = static_cast<float>(difference(pixel[0], scene[0])) / kFull;
      squared = lightness * (away * away);
    } else {
      const float red = static_cast<float>(difference(pixel[0], scene[0])) / kFull;
      const float green = static_cast<float>(difference(pixel[1], scene[1])) / kFull;
      const float blue = static_cast<float>(difference(pixel[2], scene[2])) / kFull;
      const float mean = (red + green + blue) / 3.0F;
      const float r = red - mean, g = green - mean, b = blue - mean;
      squared = lightness * (mean * mean) + (r * r + g * g + b * b) / 3.0F;
    }
    return squared / (squared + threshold);
  }
  /// The colour of the scene behind a frame that has `level` there: nearer to it by `step`, not beyond it.
  CONTORNO_HD static SceneColour moved(std::uint8_t level, SceneColour scene, int step) {
    const int away = difference(level, scene);
    const int move = away > step ? step : away < -step ? -step : away;
    return static_cast<SceneColour>(static_cast<int>(scene) + move);
  }
  CONTORNO_HD static int difference(std::uint8_t level, SceneColour scene) {
    return static_cast<int>(level) * kSceneUnit - static_cast<int>(scene);
  }
};

/// A pixel as it is painted, in the channels of the frame.
struct ScenePaint {
  std::uint8_t channels[4] = {0, 0, 0, 255};

  /// The pixel itself where it is more probably not of the scene.
  CONTORNO_HD void operator()(float probability, const std::uint8_t* pixel, int count,
                              std::uint8_t* out) const {
    for (int c = 0; c < count; ++c) out[c] = probability >= 0.5F ? pixel[c] : channels[c];
  }
};

/// The step behind a frame when `frames` made the scene before it: at least `least`.
CONTORNO_HD inline int scene_step(std::uint64_t frames, int least, bool has_reference) {
  constexpr int kFirst = kFirstStep * kSceneUnit;
  if (has_reference || frames >= static_cast<std::uint64_t>(kFirst)) return least;
  const int step = kFirst / static_cast<int>(frames);
  return step > least ? step : least;
}

/// The CUDA implementation; only in builds that have CUDA.
std::unique_ptr<Stage> make_background_cuda(const ParamSet& params);

const StageType& background_stage();

}  // namespace contorno
