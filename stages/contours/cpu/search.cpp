#include "stages/contours/cpu/search.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "base/error.h"
#include "stages/contours/cpu/mark_samples.h"

namespace contorno {
namespace {

// Enough for images of some 300 x 300 samples; beyond, allocating costs little of the time.
constexpr std::size_t kMostKept = 1 << 20;

thread_local Block kept;

std::uint64_t samples_of(const ImageFormat& format) {
  return static_cast<std::uint64_t>(format.width) * static_cast<std::uint64_t>(format.height) *
         static_cast<std::uint64_t>(format.channels);
}

}  // namespace

KeptBlock::KeptBlock(std::size_t bytes) : block_(std::exchange(kept, {})) {
  if (block_.size() < bytes) block_ = Block(bytes, MemoryKind::Host);
}

KeptBlock::~KeptBlock() {
  if (block_.size() <= kMostKept && block_.size() > kept.size()) kept = std::move(block_);
}

// The first guess is memory that is only touched where it is used; the worst case is some contour at every
// fourth sample and a point at every half.
ContourSearch::ContourSearch(const ImageView& map, const std::vector<double>& levels,
                             const ContourSearchOptions& options)
    : map_(map),
      assembler_(map.format, levels, options.assembly),
      most_contours_(samples_of(map.format) / 8),
      most_points_(samples_of(map.format) * 2),
      memory_(align_up(crossings_bytes(map.format)) + assembler_.scratch_bytes(most_contours_, most_points_)),
      scratch_(memory_.data() + align_up(crossings_bytes(map.format))) {
  const int threads = options.assembly.threads;
  std::byte* const crossings = memory_.data();
  SampleMarker(map.format, levels, options.assembly.scale, options.simd).mark(map, crossings, threads);
  if (options.mask.data != nullptr)
    for (int channel = 0; channel < map.format.channels; ++channel)
      apply_mask(options.mask, plane_bits(crossings, map.format, channel), threads);
  counts_ = assembler_.link(map, crossings, scratch_, most_contours_, most_points_);
  while (counts_.lost) {
    most_contours_ *= 2;
    most_points_ *= 2;
    larger_ = Block(assembler_.scratch_bytes(most_contours_, most_points_), MemoryKind::Host);
    scratch_ = larger_.data();
    counts_ = assembler_.link(map, crossings, scratch_, most_contours_, most_points_);
  }
  if (counts_.points > std::numeric_limits<std::uint32_t>::max())
    throw Error(ExitCode::BadData, fmt::format("the contours have {} points, allowed {}", counts_.points,
                                               std::numeric_limits<std::uint32_t>::max()));
}

void ContourSearch::emit(const EmitTarget& target, std::uint32_t* class_begin) const {
  assembler_.emit(map_, memory_.data(), scratch_, most_contours_, most_points_, target, class_begin);
}

}  // namespace contorno
