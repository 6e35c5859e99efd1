// What the mipmap stages of both backends share: which levels go where. Internal.
#pragma once

#include <optional>
#include <vector>

#include "stages/mipmap/chain.h"

namespace contorno {

/// The plan of a stage. Levels 1 to `filled()` are made: into the output where it holds them, the others into
/// scratch.
class MipmapTargets {
 public:
  /// Sets output 0 and asks for scratch. Throws Error(BadConfig).
  MipmapTargets(const MipmapParams& params, PlanContext& context, MemoryKind memory);

  const MipmapChain& chain() const { return chain_; }
  bool atlas() const { return level_ < 0; }
  int filled() const { return atlas() ? chain_.levels() - 1 : level_; }
  /// Where the image itself is copied to, if it is part of the output.
  std::optional<ImageView> image_copy(const RunContext& context) const;
  /// What the levels leave free in the output.
  const std::vector<LevelBox>& free() const { return free_; }
  /// Writes filled() views.
  void views(const RunContext& context, ImageView* levels) const;

 private:
  MipmapChain chain_;
  int level_;
  std::vector<LevelBox> boxes_, free_;
  Scratch between_;
};

/// No chain has more levels.
inline constexpr int kMaxLevels = 18;

/// Columns and rows of an atlas as bytes, for copies and fills.
struct ByteBox {
  std::ptrdiff_t offset = 0;
  std::size_t row_bytes = 0;
  int rows = 0;
};
ByteBox bytes_of_box(const ImageView& image, const LevelBox& box);

}  // namespace contorno
