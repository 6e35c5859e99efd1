// Contours of many levels of a map on the CPU. The map is read once (level_words.h). Then levels are worked
// on in groups, as many at a time as there is room for: their words are marked, and the assembler links and
// emits them as it does classes. The contours of each level are those of a search for it alone, bit for bit.
// Made once per format; all functions are const, use only the caller's memory and allocate nothing.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "stages/contours/cpu/assemble.h"
#include "stages/contours/cpu/level_words.h"
#include "stages/contours/cpu/sample_bits.h"
#include "stages/contours/level_table.h"

namespace contorno {

class LevelSearch {
 public:
  /// Throws Error(BadConfig) for more than kMostRanks levels of one channel.
  /// `group_planes`, for tests: planes of a group; 0 = chosen by their size.
  LevelSearch(const ImageFormat& map, std::vector<LevelPlane> planes, const AssemblyOptions& options,
              Simd simd = best_simd(), int group_planes = 0);

  /// The planes in their order; group g has [first_plane(g), first_plane(g + 1)).
  int planes() const { return static_cast<int>(planes_.size()); }
  int groups() const { return (planes() + slots_ - 1) / slots_; }
  int first_plane(int group) const { return std::min(group * slots_, planes()); }
  int group_planes(int group) const { return first_plane(group + 1) - first_plane(group); }

  /// Bytes of `memory` below, and of `scratch` for so many contours and points of one group.
  std::size_t memory_bytes() const { return memory_bytes_; }
  std::size_t scratch_bytes(std::uint64_t contours, std::uint64_t points) const {
    return assembler_->scratch_bytes(contours, points);
  }
  /// Reads the map; `mask` as in ContourSearchOptions.
  void read(const ImageView& map, const ImageView& mask, std::byte* memory) const;
  /// After read(): marks the levels of a group in `memory`, in place of those of another group.
  void mark(int group, const ImageView& map, std::byte* memory) const;
  /// After mark(): as those of the Assembler. `plane_begin` has room for the group's planes and one more.
  AssemblyCounts link(int group, std::byte* memory, std::byte* scratch, std::uint64_t contours,
                      std::uint64_t points) const;
  void emit(int group, std::byte* memory, std::byte* scratch, std::uint64_t contours, std::uint64_t points,
            const AssemblyCounts& before, const EmitTarget& target, std::uint32_t* plane_begin) const;

 private:
  ChannelWords channel_of(std::byte* memory, int channel) const;
  PlaneBits bits_of(std::byte* memory, int plane) const;
  std::span<LinkedPlane> linked(std::byte* memory, int group) const;
  void mark_rows(const ImageView& map, std::byte* memory, int plane, int first_row, int end_row) const;

  ImageFormat format_;
  std::vector<LevelPlane> planes_;
  AssemblyOptions options_;
  std::vector<ChannelLevels> levels_;  ///< of each channel
  std::vector<std::uint32_t> ranks_;   ///< rank of each plane's level among those of its channel
  int slots_ = 1;                      ///< planes of a group
  std::size_t channel_bytes_ = 0, slot_bytes_ = 0, memory_bytes_ = 0;
  std::unique_ptr<const Assembler> assembler_;
};

}  // namespace contorno
