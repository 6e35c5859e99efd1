// What a mipmap chain computes before the first image: the sizes of levels, the taps of both axes for every
// level, the tables of sRGB, and the arithmetic. Made on the host; both backends use it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "stages/mipmap/chain.h"
#include "stages/mipmap/light.h"

namespace contorno {

/// The taps of one axis; owns nothing. Output i is the sum over j < count[i] of weights[i * stride + j] times
/// input index[i * stride + j]. `whole` has the same weights as integers, whose sum for each output is
/// `total`.
struct MipmapTaps {
  const int* count = nullptr;
  const int* index = nullptr;
  const float* weights = nullptr;
  const std::uint32_t* whole = nullptr;
  int stride = 0;
  std::uint32_t total = 1;
};

/// One axis from level to level, with the memory of its taps.
struct MipmapAxis {
  int in = 0, out = 0, stride = 0;
  std::vector<int> count, index;
  std::vector<float> weights;
  std::vector<std::uint32_t> whole;  ///< weights as integers, for box and clamp
  std::uint32_t total = 1;
  bool halves = false;  ///< output i is the mean of inputs 2i and 2i + 1
  MipmapTaps taps() const {
    return {count.data(), index.data(), weights.data(), whole.data(), stride, total};
  }
};

/// The axis from a side of `in` px to one of `out` px. Weights of box and clamp are exact ratios. Those of
/// the other filters are rounded to multiples of 2^-24 so that they add up to exactly 1.
MipmapAxis make_mipmap_axis(int in, int out, const MipmapOptions& options);

/// How the samples of a level are summed.
enum class MipmapSums : std::uint8_t {
  Whole,  ///< integers, exactly, with one rounding: halves up
  Float,  ///< float32 down the columns, then along the row
};

/// The most channels of a pixel that are worked on together.
inline constexpr int kMipmapChannels = 4;

struct MipmapPlan {
  MipmapOptions options;
  ImageFormat image;
  std::vector<LevelBox> sizes;
  std::vector<MipmapAxis> across, down;  ///< entry k - 1 makes level k
  MipmapSums sums = MipmapSums::Whole;
  bool keeps = false;                  ///< each level is also kept as floats, from which the next is made
  const LightTables* light = nullptr;  ///< null without linear light

  int levels() const { return static_cast<int>(sizes.size()); }
  /// Whether each of the interleaved channels is treated as a plane of its own, because they are more than
  /// kMipmapChannels (class maps); its samples are then `step()` apart.
  bool apart() const { return image.layout == Layout::Interleaved && image.channels > kMipmapChannels; }
  int planes() const { return apart() ? image.channels : image.planes(); }
  int step() const { return image.layout == Layout::Interleaved ? image.channels : 1; }
  /// `view`, with interleaved channels as planes where apart() holds.
  ImageView planes_of(ImageView view) const {
    if (!apart()) return view;
    view.format.layout = Layout::Planar;
    view.plane_pitch = static_cast<std::ptrdiff_t>(element_size(view.format.type));
    return view;
  }
  /// Whether the level is exactly half of the one before on both axes, and is made from stored samples.
  bool halves(int level) const {
    const auto step = static_cast<std::size_t>(level) - 1;
    return !keeps && !apart() && across[step].halves && down[step].halves;
  }
};

/// The plan for images of one format. Throws Error(BadConfig) for formats and options that do not fit.
std::unique_ptr<MipmapPlan> make_mipmap_plan(const ImageFormat& image, const MipmapOptions& options);

}  // namespace contorno
