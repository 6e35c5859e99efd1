#include "plugins/synthetic/rays.h"

#include "plugins/synthetic/fruit.h"
#include "stages/shared/simd.h"

namespace contorno::synthetic {
namespace {

/// Where the direction (x, y, z) leaves the cube.
struct CubePlace {
  int texel, x_weight, y_weight;
};
CONTORNO_BODY CubePlace cube_place(float x, float y, float z, int side) {
  const float ax = std::abs(x), ay = std::abs(y), az = std::abs(z);
  const bool x_major = ax >= ay && ax >= az, y_major = !x_major && ay >= az;
  const float a = x_major ? y : x, b = x_major || y_major ? z : y;
  const float major = x_major ? ax : y_major ? ay : az, along = x_major ? x : y_major ? y : z;
  const int face = (x_major ? 0 : y_major ? 2 : 4) + (along < 0 ? 1 : 0);
  // The last step of an edge is left to the weight of the texel before it.
  const float scale = static_cast<float>((side - 1) * kCubeWeights) * 0.5F,
              inverse = scale / (major > 1e-6F ? major : 1e-6F);
  const int most = (side - 1) * kCubeWeights - 1;
  const int column = static_cast<int>(a * inverse + scale), line = static_cast<int>(b * inverse + scale);
  const int in_column = column < 0      ? 0
                        : column > most ? most
                                        : column,
            in_line = line < 0      ? 0
                      : line > most ? most
                                    : line;
  return {(face * side + in_line / kCubeWeights) * side + in_column / kCubeWeights, in_column % kCubeWeights,
          in_line % kCubeWeights};
}

CONTORNO_BODY float between(const float* table, float place, int i) {
  return table[i] + (table[i + 1] - table[i]) * (place - static_cast<float>(i));
}

CONTORNO_BODY bool cast_all(const RunOfPixels& given, Rays& rays) {
  const RunOfPixels run = given;
  const float *radii = run.profile->radius, *slopes = run.profile->slope;
  const float largest = run.profile->largest;
  const Rotation turn = run.rotation;
  const float y = run.y;
  float most = 0;
#pragma omp simd reduction(max : most)
  for (int i = 0; i < kRun; ++i) {
    const float x = run.x + static_cast<float>(i) * run.step;
    const float flat = x * x + y * y;
    const float level = x * turn.z.x + y * turn.z.y;
    // From the ball around the fruit inwards to the surface along the line of sight, by the radius at the
    // angle that was found; half steps where the first ones may have gone too far, into a hollow.
    float square = largest * largest - flat, length = 1, u = 0, z = 0, place = 0, radius = 1;
    int at = 0;
    for (int step = 0; step < 6; ++step) {
      z = std::sqrt(square > 0 ? square : 0);
      length = std::sqrt(flat + z * z + 1e-8F);
      u = (level + z * turn.z.z) / length;
      place = (u * 0.5F + 0.5F) * Profile::kSteps;
      at = static_cast<int>(place);
      at = at < 0 ? 0 : at > Profile::kSteps ? Profile::kSteps : at;
      radius = between(radii, place, at);
      const float found = radius * radius - flat;
      square = step < 2 ? found : 0.5F * (square + found);
    }
    // Near the outline the distance to it is about square / (2 radius).
    const float coverage = clamp01(square / (2 * radius) * run.sharpness + 0.5F);
    rays.coverage[i] = coverage;
    most = coverage > most ? coverage : most;
    const float inverse = 1 / length, dx = x * inverse, dy = y * inverse, dz = z * inverse;
    const float tilt = between(slopes, place, at) / radius;
    const float nx = dx - (turn.z.x - dx * u) * tilt, ny = dy - (turn.z.y - dy * u) * tilt,
                nz = dz - (turn.z.z - dz * u) * tilt;
    const float norm = 1 / std::sqrt(nx * nx + ny * ny + nz * nz + 1e-12F);
    rays.normal_x[i] = nx * norm, rays.normal_y[i] = ny * norm, rays.normal_z[i] = nz * norm;
    const CubePlace cube = cube_place(turn.x.x * dx + turn.x.y * dy + turn.x.z * dz,
                                      turn.y.x * dx + turn.y.y * dy + turn.y.z * dz,
                                      turn.z.x * dx + turn.z.y * dy + turn.z.z * dz, run.cube_side);
    rays.texel[i] = cube.texel, rays.x_weight[i] = cube.x_weight, rays.y_weight[i] = cube.y_weight;
  }
  return most > 0;
}

CONTORNO_BODY float ramp(float from, float width, float v) {  // smooth(), by 1 / (to - from)
  const float t = clamp01((v - from) * width);
  return t * t * (3 - 2 * t);
}

/// Two long lamps over the line, seen in the skin: the softer, the less it shines.
CONTORNO_BODY float lamps(float nx, float ny, float nz, float gloss) {
  const float seen_x = 2 * nz * nx, seen_y = 2 * nz * ny, seen_z = 2 * nz * nz - 1;
  const float dull = 1 - gloss, soft = 0.16F + 0.55F * dull * dull, edge = -1 / (1.5F * soft);
  const float far_x = std::abs(seen_x + 0.05F), first_y = std::abs(seen_y + 0.42F),
              second_y = std::abs(seen_y - 0.46F);
  const float inside = ramp(0.55F + soft, edge, far_x);
  const float first = ramp(0.05F + soft, edge, first_y), second = ramp(0.02F + soft, edge, second_y);
  const float shine = gloss * gloss * inside * (first + 0.3F * second) * 0.75F;
  return seen_z > 0 ? shine : 0;
}

CONTORNO_BODY void light_all(const Rays& rays, const Rotation& rotation, Surface& surface) {
  const Rotation turn = rotation;
#pragma omp simd
  for (int i = 0; i < kRun; ++i) {
    const float bx = surface.bump_x[i], by = surface.bump_y[i], bz = surface.bump_z[i];
    float nx = rays.normal_x[i] + turn.x.x * bx + turn.y.x * by + turn.z.x * bz;
    float ny = rays.normal_y[i] + turn.x.y * bx + turn.y.y * by + turn.z.y * bz;
    float nz = rays.normal_z[i] + turn.x.z * bx + turn.y.z * by + turn.z.z * bz;
    const float norm = 1 / std::sqrt(nx * nx + ny * ny + nz * nz + 1e-12F);
    nx *= norm, ny *= norm, nz *= norm;
    nz = nz > 0 ? nz : 0;
    const float key = clamp01((-0.30F * nx - 0.44F * ny + 0.846F * nz + 0.18F) * (1 / 1.18F));
    const float fill = clamp01(0.42F * nx + 0.40F * ny + 0.815F * nz);
    const float light = 0.92F * key * key * (1.4F - 0.4F * key) + 0.22F * fill + 0.06F + 0.16F * nz;
    const float rim = 1 - nz, gloss = surface.gloss[i];
    const float shine = lamps(nx, ny, nz, gloss) + 0.05F * gloss * rim * rim * rim;
    surface.red[i] = surface.red[i] * light + shine;
    surface.green[i] = surface.green[i] * light + shine;
    surface.blue[i] = surface.blue[i] * light + shine;
  }
}

bool cast_portable(const RunOfPixels& run, Rays& rays) {
  return cast_all(run, rays);
}
void light_portable(const Rays& rays, const Rotation& rotation, Surface& surface) {
  light_all(rays, rotation, surface);
}
#if defined(__x86_64__)
__attribute__((target("avx2"))) bool cast_avx2(const RunOfPixels& run, Rays& rays) {
  return cast_all(run, rays);
}
__attribute__((target("avx2"))) void light_avx2(const Rays& rays, const Rotation& rotation,
                                                Surface& surface) {
  light_all(rays, rotation, surface);
}
__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2"))) bool cast_avx512(const RunOfPixels& run,
                                                                                    Rays& rays) {
  return cast_all(run, rays);
}
__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2"))) void light_avx512(const Rays& rays,
                                                                                     const Rotation& rotation,
                                                                                     Surface& surface) {
  light_all(rays, rotation, surface);
}
#endif

}  // namespace

RayKernels ray_kernels(Simd simd) {
  switch (simd) {
#if defined(__x86_64__)
    case Simd::Avx512:
      return {cast_avx512, light_avx512};
    case Simd::Avx2:
      return {cast_avx2, light_avx2};
#else
    case Simd::Avx512:
    case Simd::Avx2:
#endif
    case Simd::Portable:
      break;
  }
  return {cast_portable, light_portable};
}

}  // namespace contorno::synthetic
