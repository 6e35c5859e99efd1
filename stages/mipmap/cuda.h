// Mipmap chains on the device, without a CUDA header. MipmapChainCuda works on device memory; MipmapUpload
// takes an image from host memory and gives all its levels back there, in horizontal bands, so that transfers
// in both directions and kernels overlap. Only in builds that have CUDA. Objects own their tables, memory and
// streams; one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "cuda/memory.h"
#include "cuda/stream.h"
#include "pipeline/graph/banded_upload.h"
#include "stages/mipmap/chain.h"

namespace contorno {

class MipmapChainCuda {
 public:
  /// Uploads the chain's tables. `chain` must outlive this.
  explicit MipmapChainCuda(const MipmapChain& chain);
  ~MipmapChainCuda();
  MipmapChainCuda(MipmapChainCuda&&) noexcept;
  MipmapChainCuda& operator=(MipmapChainCuda&&) noexcept;

  /// Of device memory that build writes to.
  std::size_t scratch_bytes() const;
  /// Enqueues levels 1, 2, ... of `image`, as many as are given, all in device memory with any pitches. Gives
  /// the bits of MipmapChain::build.
  void build(const ImageView& image, std::span<const ImageView> levels, void* scratch, void* stream) const;

  /// How many levels one pass makes from level 0: those that halve, at most 6.
  int levels_in_one_pass() const;
  /// Enqueues these levels for rows `begin` to `end` of the image; both multiples of 64, or the last row.
  void build_band(const ImageView& image, std::span<const ImageView> levels, int begin, int end,
                  void* stream) const;
  /// Enqueues levels `from` and up when those before are there.
  void build_rest(const ImageView& image, std::span<const ImageView> levels, int from, void* scratch,
                  void* stream) const;

 private:
  struct Tables;
  const MipmapChain* chain_;
  std::unique_ptr<const Tables> tables_;
};

class MipmapUpload {
 public:
  /// `bands` 0 takes bands of some 4 MiB. Images whose levels do not halve are one band.
  MipmapUpload(const MipmapChain& chain, int bands);
  ~MipmapUpload();

  /// Uploads `image`, makes all levels and brings them to `block` (chain.bytes() as MipmapChain::level_in
  /// lays them out). Both in pinned memory, else copies do not overlap. Returns when all is there.
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
