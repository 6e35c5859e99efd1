// What a mipmap chain knows before the first image: sizes, the taps of both axes for every level, the tables
// of sRGB, and which arithmetic a level takes. Made on the host; both backends use it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "stages/mipmap/chain.h"
#include "stages/mipmap/light.h"

namespace contorno {

/// The taps of one axis; owns nothing. Output i is the sum over j < count[i] of weight[i * stride + j] times
/// input index[i * stride + j]. `whole` are the weights as integers whose sum is `total`.
struct MipmapTaps {
  const int* count = nullptr;
  const int* index = nullptr;
  const float* weights = nullptr;
  const std::uint32_t* whole = nullptr;
  int stride = 0;
  std::uint32_t total = 1;
};

struct MipmapAxis {
  int in = 0, out = 0, stride = 0;
  std::vector<int> count, index;
  std::vector<float> weights;
  std::vector<std::uint32_t> whole;  ///< of box and clamp
  std::uint32_t total = 1;
  bool halves = false;  ///< output i is the mean of inputs 2i and 2i + 1
  MipmapTaps taps() const {
    return {count.data(), index.data(), weights.data(), whole.data(), stride, total};
  }
};

/// Weights are exact ratios for box and clamp. Those of the other filters are rounded to multiples of 2^-24
/// such that they add up to 1 exactly.
MipmapAxis make_mipmap_axis(int in, int out, const MipmapOptions& options);

/// How the samples of a level are summed.
enum class MipmapSums : std::uint8_t {
  Whole,  ///< integers, exactly, with one rounding: halves up
  Float,  ///< float32 down the columns, then along the row
};

/// Of a pixel that is worked on as a whole.
inline constexpr int kMipmapChannels = 4;

struct MipmapPlan {
  MipmapOptions options;
  ImageFormat image;
  std::vector<LevelBox> sizes;
  std::vector<MipmapAxis> across, down;  ///< of level 1, 2, ...
  MipmapSums sums = MipmapSums::Whole;
  bool keeps = false;                  ///< float levels are kept beside the stored ones
  const LightTables* light = nullptr;  ///< null without linear light

  int levels() const { return static_cast<int>(sizes.size()); }
  /// More interleaved channels than a pixel has (class maps): each is treated as a plane of its own, whose
  /// samples are `step()` apart.
  bool apart() const { return image.layout == Layout::Interleaved && image.channels > kMipmapChannels; }
  int planes() const { return apart() ? image.channels : image.planes(); }
  int step() const { return image.layout == Layout::Interleaved ? image.channels : 1; }
  /// A level as its planes.
  ImageView planes_of(ImageView view) const {
    if (!apart()) return view;
    view.format.layout = Layout::Planar;
    view.plane_pitch = static_cast<std::ptrdiff_t>(element_size(view.format.type));
    return view;
  }
  /// Both axes halve, and nothing but a stored level is read and written.
  bool halves(int level) const {
    const auto step = static_cast<std::size_t>(level) - 1;
    return !keeps && !apart() && across[step].halves && down[step].halves;
  }
};

/// Throws Error(BadConfig).
std::unique_ptr<MipmapPlan> make_mipmap_plan(const ImageFormat& image, const MipmapOptions& options);

}  // namespace contorno
