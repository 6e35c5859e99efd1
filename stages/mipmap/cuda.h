// Mipmap chains on the device, without a CUDA header. MipmapChainCuda works on images in device memory. Only
// in builds that have CUDA. It owns its tables, and is used by one thread at a time.
#pragma once

#include <memory>
#include <span>

#include "stages/mipmap/chain.h"

namespace contorno {

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
  /// of 64, or `end` is the image's height.
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

}  // namespace contorno
