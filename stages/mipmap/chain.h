// Mipmap: an image and ever smaller copies of it, each filtered from the one before. As a stage it gives one
// level, or the whole chain side by side in one image (pipeline/value/levels.h); as a class it fills levels
// that lie anywhere.
//
// Input: an image of uint8, uint16 or float32, interleaved or planar; the last of 2 or 4 interleaved channels
// may be alpha.
//
// Output: level `level`, placed on the frame: contours found on it are drawn where they belong; or the atlas.
//
// Memory: a row of sums a thread; two float images with high_precision.
//
// Both backends give the same bits, because integers are summed exactly (box, clamp) and floats in one order,
// down the columns first.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "pipeline/graph/stage.h"
#include "pipeline/value/levels.h"
#include "stages/shared/simd.h"

namespace contorno {

/// Box weighs by exact areas; Clamp is the mean of width x width pixels with coordinates limited to the image
/// (K. Della Schiava, algorithm 1). The others are separable and reach further: triangle 1 output px to each
/// side, Mitchell 2, Lanczos-3 and Kaiser (alpha 4) 3.
enum class MipmapFilter : std::uint8_t { Box, Clamp, Triangle, Kaiser, Lanczos3, Mitchell };

/// What lies outside of the image: its edge, the image again (for textures that tile), or its mirror image.
enum class MipmapEdge : std::uint8_t { Clamp, Wrap, Mirror };

inline constexpr int kMostMipmapWidth = 16;

struct MipmapOptions {
  MipmapFilter filter = MipmapFilter::Box;
  int width = 2;  ///< side of Clamp's squares, px, up to kMostMipmapWidth; a level is so many times smaller
  LevelSizes sizes = LevelSizes::Floor;
  int stop = 32;
  MipmapEdge edge = MipmapEdge::Clamp;
  bool linear_light = false, premultiplied = false, high_precision = false;
};

struct MipmapParams : MipmapOptions {
  int level = -1;
};

struct MipmapPlan;

/// A chain for images of one format; may be used by many threads at the same time, each with its own scratch.
class MipmapChain {
 public:
  /// Throws Error(BadConfig) for formats and options that do not fit.
  MipmapChain(const ImageFormat& image, const MipmapOptions& options);
  ~MipmapChain();
  MipmapChain(MipmapChain&&) noexcept;
  MipmapChain& operator=(MipmapChain&&) noexcept;

  /// With the image itself, which is level 0.
  int levels() const { return static_cast<int>(formats_.size()); }
  const ImageFormat& format(int level) const { return formats_[static_cast<std::size_t>(level)]; }

  /// All levels but the image in one block of `bytes()`, level after level as packed_view lays them out.
  std::size_t bytes() const { return bytes_; }
  std::size_t offset(int level) const { return offsets_[static_cast<std::size_t>(level)]; }
  ImageView level_in(void* block, int level) const;

  std::size_t scratch_bytes(int threads) const;
  /// Fills levels[0], levels[1], ...: levels 1, 2, ... of `image`, as many as are given. Any pitches; nothing
  /// may overlap. `scratch` has scratch_bytes(threads), aligned to kAlignment.
  void build(const ImageView& image, std::span<const ImageView> levels, void* scratch, int threads,
             Simd simd) const;

  const MipmapPlan& plan() const { return *plan_; }

 private:
  std::unique_ptr<const MipmapPlan> plan_;
  std::vector<ImageFormat> formats_;
  std::vector<std::size_t> offsets_;
  std::size_t bytes_ = 0;
};

/// Levels with their memory; levels[0] is the caller's image.
struct Mipmaps {
  Block memory;
  std::vector<ImageView> levels;
};
/// For everybody: one image, memory allocated anew.
Mipmaps mipmaps(const ImageView& image, const MipmapOptions& options, int threads);

/// The CUDA implementation; only in builds that have CUDA.
std::unique_ptr<Stage> make_mipmap_cuda(const ParamSet& params);

const StageType& mipmap_stage();

}  // namespace contorno
