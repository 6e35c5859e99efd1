// The kernel of background: a thread a pixel, which finds how far it is from the scene and moves the scene.
#pragma once

#include "cuda/launch.cuh"
#include "stages/background/stage.h"

namespace contorno::background_cuda {

inline constexpr unsigned kThreads = 256;

struct Job {
  ScenePixel pixel;
  ScenePaint paint;
  bool paints = false;
  int least_step = 0;
  std::uint64_t shape = 0;  ///< shape of the frames, as in SceneHeader
  int width = 0, channels = 0, tiles_x = 0;
  const std::uint8_t* in = nullptr;
  unsigned char* out = nullptr;
  std::ptrdiff_t in_pitch = 0, out_pitch = 0;
  const SceneColour* reference = nullptr;  ///< null: none
  const SceneHeader* before = nullptr;     ///< null: the scene is the reference for ever
  SceneHeader* after = nullptr;
};

/// One block for each kThreads pixels of a row.
__global__ void __launch_bounds__(kThreads) background_pixels(const Job job) {
  const auto tiles = static_cast<unsigned>(job.tiles_x);
  const int x = static_cast<int>(blockIdx.x % tiles * kThreads + threadIdx.x);
  const int y = static_cast<int>(blockIdx.x / tiles);
  const unsigned long long frames = job.before != nullptr ? job.before->frames_of(job.shape) : 0;
  if (job.after != nullptr && blockIdx.x == 0 && threadIdx.x == 0)
    *job.after = {.frames = frames + 1, .shape = job.shape};
  if (x >= job.width) return;
  const int colours = job.pixel.colours;
  const auto at =
      (static_cast<std::size_t>(y) * static_cast<std::size_t>(job.width) + static_cast<std::size_t>(x)) *
      static_cast<std::size_t>(colours);
  const std::uint8_t* pixel = job.in + y * job.in_pitch + x * job.channels;
  SceneColour* after = job.after != nullptr ? reinterpret_cast<SceneColour*>(job.after + 1) + at : nullptr;
  const SceneColour* scene = frames > 0 ? reinterpret_cast<const SceneColour*>(job.before + 1) + at
                             : job.reference != nullptr ? job.reference + at
                                                        : nullptr;
  const bool begins = scene == nullptr;
  SceneColour own[3] = {};
  for (int c = 0; c < colours; ++c)
    own[c] = begins ? static_cast<SceneColour>(pixel[c] * kSceneUnit) : scene[c];
  const float probability = job.pixel(pixel, own);
  unsigned char* row = job.out + y * job.out_pitch;
  if (job.paints)
    job.paint(probability, pixel, job.channels, row + x * job.channels);
  else
    reinterpret_cast<float*>(row)[x] = probability;
  if (after == nullptr) return;
  const int step =
      begins || job.least_step == 0 ? 0 : scene_step(frames, job.least_step, job.reference != nullptr);
  for (int c = 0; c < colours; ++c) after[c] = ScenePixel::moved(pixel[c], own[c], step);
}

}  // namespace contorno::background_cuda
