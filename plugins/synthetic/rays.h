// Casts the lines of sight of several pixels at once: where they hit a fruit, and what colour its skin has in
// the light. The same loops are compiled for several instruction sets; all give the same bits.
#pragma once

#include "plugins/synthetic/math.h"
#include "stages/shared/simd.h"

namespace contorno::synthetic {

struct Profile;

inline constexpr int kRun = 64;          ///< pixels at a time
inline constexpr int kCubeWeights = 64;  ///< steps of interpolation from a texel to the next

/// kRun pixels of a row. Lengths are in radii of a fruit, from its centre.
struct RunOfPixels {
  const Profile* profile = nullptr;
  Rotation rotation;      ///< of the fruit
  float x = 0, step = 0;  ///< first pixel's middle, and to the next
  float y = 0;
  float sharpness = 1;  ///< pixels a radius
  int cube_side = 0;    ///< texels along an edge of the fruit's textures
};

/// Where the line of sight of each pixel hits the fruit. Where the coverage is 0 the rest means nothing.
struct Rays {
  alignas(64) float coverage[kRun];  ///< of the pixel by the fruit, 0..1
  alignas(64) float normal_x[kRun], normal_y[kRun], normal_z[kRun];
  alignas(64) int texel[kRun];                     ///< upper left of the four around the point
  alignas(64) int x_weight[kRun], y_weight[kRun];  ///< of its right and lower neighbours, of kCubeWeights
};

/// The skin at each of these places; colours are linear light.
struct Surface {
  alignas(64) float red[kRun], green[kRun], blue[kRun], gloss[kRun];
  alignas(64) float bump_x[kRun], bump_y[kRun],
      bump_z[kRun];  ///< to be added to the normal, fruit coordinates
};

struct RayKernels {
  /// Always works on kRun pixels. False when none hits.
  bool (*cast)(const RunOfPixels& run, Rays& rays);
  /// Replaces the skin's colours by the light that comes from it to the camera.
  void (*light)(const Rays& rays, const Rotation& rotation, Surface& surface);
};
RayKernels ray_kernels(Simd simd);

}  // namespace contorno::synthetic
