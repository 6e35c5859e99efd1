// Mipmap chains on the device, without a CUDA header. MipmapChainCuda works on images in device memory.
// MipmapUpload takes an image in host memory and returns all its levels there, in horizontal bands, so that
// transfers in both directions overlap with kernels. Only in builds that have CUDA. Objects own their tables,
// memory and streams, and are used by one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "base/memory.h"
#include "cuda/stream.h"
#include "pipeline/graph/banded_upload.h"
#include "stages/mipmap/chain.h"

namespace contorno {

/// Bands begin at multiples of so many rows of the image, those of one px of the deepest level of a pass.
inline constexpr int kMipmapBandRows = 64;

class MipmapChainCuda {
 public:
  /// Uploads the chain's tables. `chain` must outlive this.
  explicit MipmapChainCuda(const MipmapChain& chain);
  ~MipmapChainCuda();
  MipmapChainCuda(MipmapChainCuda&&) noexcept;
  MipmapChainCuda& operator=(MipmapChainCuda&&) noexcept;

  /// Bytes of device memory for the `scratch` of build and build_rest.
  std::size_t scratch_bytes() const;
  /// Enqueues the making of levels 1, 2, ... of `image` in levels[0], levels[1], ..., as many as are given;
  /// all lie in device memory, with any pitches. The bits are those of MipmapChain::build.
  void build(const ImageView& image, std::span<const ImageView> levels, void* scratch, void* stream) const;

  /// How many levels one pass makes from level 0: those that halve, at most 6.
  int levels_in_one_pass() const;
  /// Enqueues the making of these levels for rows [begin, end) of the image; `begin` and `end` are multiples
  /// of kMipmapBandRows, or `end` is the image's height.
  void build_band(const ImageView& image, std::span<const ImageView> levels, int begin, int end,
                  void* stream) const;
  /// Enqueues the making of level `from` and all later ones, once the levels before are complete.
  void build_rest(const ImageView& image, std::span<const ImageView> levels, int from, void* scratch,
                  void* stream) const;

 private:
  struct Tables;
  const MipmapChain* chain_;
  std::unique_ptr<const Tables> tables_;
};

class MipmapUpload {
 public:
  /// `bands`: into how many bands images are cut; 0 takes bands of about 4 MiB. Images whose levels are not
  /// exact halves are one band. `chain` must outlive this.
  MipmapUpload(const MipmapChain& chain, int bands);
  ~MipmapUpload();

  /// Uploads `image`, makes all levels and copies them to `block`, which has chain.bytes() and is laid out as
  /// MipmapChain::level_in says. Both should lie in pinned memory; otherwise copies do not overlap. Returns
  /// when everything has arrived. Throws Error(Internal) when the device failed.
  void build(const ImageView& image, void* block);
  int bands() const { return static_cast<int>(upload_->bands().size()); }

 private:
  void build_in_bands(const ImageView& device, std::byte* block);

  const MipmapChain& chain_;
  MipmapChainCuda cuda_;
  std::optional<BandedUpload> upload_;
  Block image_, levels_, scratch_;
  std::vector<ImageView> views_;
  Stream work_, down_;
  std::vector<Event> made_;
};

}  // namespace contorno
