// Lines of sight of a run of pixels, all at once: where they hit a fruit, and what light makes of its skin.
// The loops are the same for every machine and compiled for several; all give the same bits.
#pragma once

#include "plugins/synthetic/math.h"
#include "stages/shared/simd.h"

namespace contorno::synthetic {

struct Profile;

inline constexpr int kRun = 64;          ///< pixels at a time
inline constexpr int kCubeWeights = 64;  ///< steps from a texel to the next

/// A run of pixels in a row, in radii from the centre of a fruit.
struct RunOfPixels {
  const Profile* profile = nullptr;
  Rotation rotation;      ///< of the fruit
  float x = 0, step = 0;  ///< first pixel's middle, and to the next
  float y = 0;
  float sharpness = 1;  ///< pixels a radius
  int cube_side = 0;    ///< texels along an edge of the fruit's textures
};

/// What was hit. Without coverage the rest means nothing.
struct Rays {
  alignas(64) float coverage[kRun];  ///< of the pixel by the fruit, 0..1
  alignas(64) float normal_x[kRun], normal_y[kRun], normal_z[kRun];
  alignas(64) int texel[kRun];                     ///< upper left of the four around the point
  alignas(64) int x_weight[kRun], y_weight[kRun];  ///< of its right and lower neighbours
};

struct Surface {
  alignas(64) float red[kRun], green[kRun], blue[kRun], gloss[kRun];
  alignas(64) float bump_x[kRun], bump_y[kRun],
      bump_z[kRun];  ///< to be added to the normal, fruit coordinates
};

struct RayKernels {
  /// Always works on kRun pixels. False when none hits.
  bool (*cast)(const RunOfPixels& run, Rays& rays);
  /// Turns the surface's colours into light.
  void (*light)(const Rays& rays, const Rotation& rotation, Surface& surface);
};
RayKernels ray_kernels(Simd simd);

}  // namespace contorno::synthetic
