#include "stages/contours/cpu/level_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/memory.h"
#include "pipeline/shared/loops.h"
#include "pipeline/value/sides.h"

namespace contorno {
namespace {

// Planes of one group are marked, linked and emitted before the next group, in the same memory: more of them
// keep threads busy, and fewer stay in the caches and need fewer pages that are new and must be cleared.
constexpr std::size_t kMostGroupBytes = std::size_t{32} << 20;
// Rows that are marked for one plane after the other, so that what is known of them stays in the cache.
constexpr int kStripRows = 64;

/// What a plane of a group has for itself.
struct SlotLayout {
  std::size_t high, suspect, row_flags, bytes;
};
SlotLayout slot_layout(const ImageFormat& map) {
  const auto rows = static_cast<std::size_t>(map.height);
  const std::size_t row_bytes = static_cast<std::size_t>((map.width + 63) / 64) * sizeof(std::uint64_t);
  SlotLayout layout{};
  layout.high = align_up(row_bytes);  // behind a row of zeros
  layout.suspect = layout.high + align_up((rows + 1) * row_bytes + sizeof(std::uint64_t));
  layout.row_flags = layout.suspect + align_up(rows * row_bytes);
  layout.bytes = layout.row_flags + align_up(rows);
  return layout;
}

}  // namespace

LevelSearch::LevelSearch(const ImageFormat& map, std::vector<LevelPlane> planes,
                         const AssemblyOptions& options, Simd simd, int group_planes)
    : format_(map), planes_(std::move(planes)), options_(options) {
  check_sides(map, "a map");  // arrays of level_words.h have room for kMaxSide
  levels_.resize(static_cast<std::size_t>(map.channels));
  for (const LevelPlane& plane : planes_) {
    if (!std::isnan(plane.level))
      levels_[static_cast<std::size_t>(plane.channel)].values.push_back(plane.level);
  }
  for (ChannelLevels& levels : levels_) {
    std::sort(levels.values.begin(), levels.values.end());
    if (levels.values.size() > kMostRanks)
      throw Error(ExitCode::BadConfig,
                  fmt::format("a map has {} levels, allowed 1 to {}", levels.values.size(), kMostRanks));
    for (const double level : levels.values)
      levels.readers.emplace_back(map.type, options.scale, std::span(&level, 1), simd);
  }
  for (const LevelPlane& plane : planes_) {
    const std::vector<double>& levels = levels_[static_cast<std::size_t>(plane.channel)].values;
    const auto rank = std::lower_bound(levels.begin(), levels.end(), plane.level) - levels.begin();
    ranks_.push_back(std::isnan(plane.level) ? RankSpan::kNone : static_cast<std::uint32_t>(rank));
  }
  channel_bytes_ = channel_words_bytes(map);
  slot_bytes_ = slot_layout(map).bytes;
  // Linking takes about twice as much again.
  const std::size_t fitting = group_planes > 0
                                  ? static_cast<std::size_t>(group_planes)
                                  : std::max(kMostGroupBytes / (3 * slot_bytes_), std::size_t{1});
  slots_ = static_cast<int>(std::clamp(fitting, std::size_t{1}, std::max(planes_.size(), std::size_t{1})));
  memory_bytes_ = channel_bytes_ * static_cast<std::size_t>(map.channels) +
                  slot_bytes_ * static_cast<std::size_t>(slots_) +
                  align_up(sizeof(LinkedPlane) * static_cast<std::size_t>(slots_));
  assembler_ = std::make_unique<Assembler>(map, slots_, options);
}

ChannelWords LevelSearch::channel_of(std::byte* memory, int channel) const {
  return channel_words(memory + channel_bytes_ * static_cast<std::size_t>(channel), format_);
}

PlaneBits LevelSearch::bits_of(std::byte* memory, int plane) const {
  const LevelPlane& of = planes_[static_cast<std::size_t>(plane)];
  const SlotLayout layout = slot_layout(format_);
  std::byte* const slot = memory + channel_bytes_ * static_cast<std::size_t>(format_.channels) +
                          slot_bytes_ * static_cast<std::size_t>(plane % slots_);
  PlaneBits bits = channel_of(memory, of.channel).usable;
  bits.high = reinterpret_cast<std::uint64_t*>(slot + layout.high);
  bits.suspect = reinterpret_cast<std::uint64_t*>(slot + layout.suspect);
  bits.row_flags = reinterpret_cast<std::uint8_t*>(slot + layout.row_flags);
  bits.partial = true;
  return bits;
}

void LevelSearch::read(const ImageView& map, const ImageView& mask, std::byte* memory) const {
  if (format_.width < 2 || format_.height < 2) return;  // no cells
  for (int channel = 0; channel < format_.channels; ++channel)
    read_channel(plane_of(map, channel, options_.scale), mask, levels_[static_cast<std::size_t>(channel)],
                 channel_of(memory, channel), options_.threads);
}

void LevelSearch::mark(int group, const ImageView& map, std::byte* memory) const {
  if (format_.width < 2 || format_.height < 2) return;
  const int first = first_plane(group), count = group_planes(group);
  for_tasks(options_.threads, (format_.height + kStripRows - 1) / kStripRows, [&](int strip) {
    const int from = strip * kStripRows, end = std::min(from + kStripRows, format_.height);
    for (int plane = first; plane < first + count; ++plane) mark_rows(map, memory, plane, from, end);
  });
  for (int plane = first; plane < first + count; ++plane) {
    const auto at = static_cast<std::size_t>(plane);
    clear_guard_rows(bits_of(memory, plane));
    new (linked(memory, group).data() + (plane - first))
        LinkedPlane{.cells = {bits_of(memory, plane), plane_of(map, planes_[at].channel, options_.scale),
                              planes_[at].level, options_.fully_connected},
                    .words = {channel_of(memory, planes_[at].channel).cells, ranks_[at]}};
  }
}

std::span<LinkedPlane> LevelSearch::linked(std::byte* memory, int group) const {
  std::byte* const at = memory + channel_bytes_ * static_cast<std::size_t>(format_.channels) +
                        slot_bytes_ * static_cast<std::size_t>(slots_);
  return {reinterpret_cast<LinkedPlane*>(at), static_cast<std::size_t>(group_planes(group))};
}

/// Fills in the words that the plane's level may cross: with the bits that were kept, or from the samples.
void LevelSearch::mark_rows(const ImageView& map, std::byte* memory, int plane, int first_row,
                            int end_row) const {
  const LevelPlane& of = planes_[static_cast<std::size_t>(plane)];
  const std::uint32_t rank = ranks_[static_cast<std::size_t>(plane)];
  const ChannelWords channel = channel_of(memory, of.channel);
  const PlaneBits bits = bits_of(memory, plane);
  const Plane samples = plane_of(map, of.channel, options_.scale);
  std::copy(channel.usable.row_flags + first_row, channel.usable.row_flags + end_row,
            bits.row_flags + first_row);
  channel.samples.for_words(rank, first_row, end_row, [&](std::int64_t row, std::int64_t word) {
    if (const std::uint64_t* const kept = channel.kept_bits(row, word, rank)) {
      bits.high_row(row)[word] = *kept;
      return;
    }
    const BitReader& reader = levels_[static_cast<std::size_t>(of.channel)].readers[rank];
    const WordSamples from(samples, row, word);
    std::uint64_t suspects = 0;
    if (reader.read(from.at, 0, from.count, bits.high_row(row) + word, &suspects) == 0) return;
    if ((bits.row_flags[row] & kRowHasUnusable) != 0) suspects &= bits.usable_row(row)[word];
    if (suspects == 0) return;
    bits.begin_flag(static_cast<int>(row), kRowHasSuspect);
    bits.suspect_row(row)[word] |= suspects;
  });
}

AssemblyCounts LevelSearch::link(int group, std::byte* memory, std::byte* scratch, std::uint64_t contours,
                                 std::uint64_t points) const {
  return assembler_->link(linked(memory, group), scratch, contours, points);
}

void LevelSearch::emit(int group, std::byte* memory, std::byte* scratch, std::uint64_t contours,
                       std::uint64_t points, const AssemblyCounts& before, const EmitTarget& target,
                       std::uint32_t* plane_begin) const {
  assembler_->emit(linked(memory, group), scratch, contours, points, before, target, plane_begin);
}

}  // namespace contorno
