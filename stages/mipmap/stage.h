// What the mipmap stages of both backends share: where each level is written. Internal.
#pragma once

#include <optional>
#include <vector>

#include "stages/mipmap/chain.h"

namespace contorno {

/// Where the levels of a stage go. Levels 1 to `filled()` are made; those that are part of the output are
/// written to it, the others to scratch.
class MipmapTargets {
 public:
  /// Sets the format of output 0 and asks for scratch of kind `memory`. Throws Error(BadConfig).
  MipmapTargets(const MipmapParams& params, PlanContext& context, MemoryKind memory);

  const MipmapChain& chain() const { return chain_; }
  /// Whether the output is the whole chain as an atlas, rather than one level.
  bool atlas() const { return level_ < 0; }
  int filled() const { return atlas() ? chain_.levels() - 1 : level_; }
  /// Where the image itself is copied to, if it is part of the output.
  std::optional<ImageView> image_copy(const RunContext& context) const;
  /// Where each level of an atlas is, the image itself among them.
  const std::vector<LevelBox>& boxes() const { return boxes_; }
  /// The parts of the output that no level covers.
  const std::vector<LevelBox>& free() const { return free_; }
  /// Writes the views of levels 1 to filled() to `levels`, for one run.
  void views(const RunContext& context, ImageView* levels) const;

 private:
  MipmapChain chain_;
  int level_;
  std::vector<LevelBox> boxes_, free_;
  Scratch between_;
};

/// No chain has more levels.
inline constexpr int kMaxLevels = 18;
static_assert(kMaxSide <= 1 << (kMaxLevels - 2), "a side that halves is 1 px before the levels are used up");

/// A box of an atlas in bytes, for copies and fills: `rows` rows of `row_bytes`, beginning `offset` bytes
/// after the atlas.
struct ByteBox {
  std::ptrdiff_t offset = 0;
  std::size_t row_bytes = 0;
  int rows = 0;
};
ByteBox bytes_of_box(const ImageView& image, const LevelBox& box);

}  // namespace contorno
