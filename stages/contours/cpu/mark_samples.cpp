#include "stages/contours/cpu/mark_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.h"
#include "pipeline/shared/loops.h"
#include "pipeline/value/sides.h"

namespace contorno {
namespace {

constexpr int kMostRowWords = kMaxSide / 64;

}  // namespace

SampleMarker::SampleMarker(const ImageFormat& format, std::span<const double> levels, SampleScale scale,
                           Simd simd) {
  check_sides(format, "a map");  // arrays below have room for kMaxSide
  if (format.layout == Layout::Planar || format.channels == 1) {
    for (const double level : levels) readers_.emplace_back(format.type, scale, std::span(&level, 1), simd);
    return;
  }
  if (format.channels > kMaxInterleaved)
    throw Error(ExitCode::BadConfig,
                fmt::format("an interleaved map has {} channels, allowed 1 to {}; store it planar",
                            format.channels, kMaxInterleaved));
  readers_.emplace_back(format.type, scale, levels, simd);
  split_.emplace(format.channels, simd);
}

void SampleMarker::mark(const ImageView& map, void* block, int threads) const {
  const ImageFormat& format = map.format;
  for (int k = 0; k < format.channels; ++k) clear_guard_rows(plane_bits(block, format, k));
  if (split_) {
    for_rows(threads, format.height, [&](int row) { mark_interleaved_row(map, block, row); });
    return;
  }
  for_rows(threads, format.height * format.channels, [&](int index) {
    const int channel = index / format.height;
    mark_planar_row(map, plane_bits(block, format, channel), channel, index % format.height);
  });
}

void SampleMarker::mark_planar_row(const ImageView& map, const PlaneBits& plane, int channel, int row) const {
  const bool planar = map.format.layout == Layout::Planar;
  const char* samples = map.row<const char>(row, planar ? channel : 0);
  const BitReader& reader = readers_[static_cast<std::size_t>(channel)];
  const std::size_t size = element_size(map.format.type), width = static_cast<std::size_t>(plane.width);
  std::uint64_t flags[kMostRowWords];
  plane.row_flags[row] = 0;
  if (reader.read(samples, 0, width, plane.high_row(row), flags) == 0) return;
  for (std::size_t word = 0; word * 64 < width; ++word) {
    if (flags[word] == 0) continue;
    const std::uint64_t nans = flags[word] & reader.nan_bits(samples + word * 64 * size,
                                                             std::min<std::size_t>(64, width - 64 * word));
    if (nans != 0) {
      plane.begin_flag(row, kRowHasUnusable);
      plane.usable_row(row)[word] &= ~nans;
    }
    if (nans != flags[word]) {
      plane.begin_flag(row, kRowHasSuspect);
      plane.suspect_row(row)[word] |= flags[word] & ~nans;
    }
  }
}

void SampleMarker::mark_interleaved_row(const ImageView& map, void* block, int row) const {
  const int channels = map.format.channels;
  const auto stride = static_cast<std::size_t>(channels);
  const char* samples = map.row<const char>(row);
  const std::size_t size = element_size(map.format.type), width = static_cast<std::size_t>(map.format.width);
  const PlaneBits first = plane_bits(block, map.format, 0);
  // The classes' planes lie one behind the other at equal distances.
  const std::ptrdiff_t apart =
      channels > 1 ? plane_bits(block, map.format, 1).high - first.high : std::ptrdiff_t{0};
  std::uint64_t flat[kMaxInterleaved], flags[kMaxInterleaved], by_channel[kMaxInterleaved];
  for (int k = 0; k < channels; ++k) plane_bits(block, map.format, k).row_flags[row] = 0;
  for (std::size_t word = 0; word * 64 < width; ++word) {
    const std::size_t count = std::min<std::size_t>(64, width - 64 * word) * stride;
    const char* group = samples + word * 64 * stride * size;
    if (count < 64 * stride) {
      std::memset(flat, 0, stride * sizeof(*flat));
      std::memset(flags, 0, stride * sizeof(*flags));
    }
    const std::uint64_t any = readers_[0].read(group, 0, count, flat, flags);
    split_->split(flat, by_channel);
    std::uint64_t* high = first.high_row(row) + word;
    for (std::size_t k = 0; k < stride; ++k) high[static_cast<std::ptrdiff_t>(k) * apart] = by_channel[k];
    if (any == 0) continue;
    for (std::size_t part = 0; part * 64 < count; ++part) {
      if (flags[part] == 0) continue;
      const std::uint64_t nans =
          readers_[0].nan_bits(group + part * 64 * size, std::min<std::size_t>(64, count - 64 * part));
      for (std::uint64_t rest = flags[part]; rest != 0; rest &= rest - 1) {
        const auto bit = static_cast<std::size_t>(std::countr_zero(rest));
        const std::size_t sample = 64 * part + bit;
        const PlaneBits plane = plane_bits(block, map.format, static_cast<int>(sample % stride));
        const std::uint64_t pixel = std::uint64_t{1} << (sample / stride);
        if ((nans >> bit & 1) != 0) {
          plane.begin_flag(row, kRowHasUnusable);
          plane.usable_row(row)[word] &= ~pixel;
        } else {
          plane.begin_flag(row, kRowHasSuspect);
          plane.suspect_row(row)[word] |= pixel;
        }
      }
    }
  }
}

void apply_mask(const ImageView& mask, const PlaneBits& plane, int threads) {
  for_rows(threads, plane.height, [&](int row) {
    const auto* use = mask.row<const std::uint8_t>(row);
    for (int word = 0; word * 64 < plane.width; ++word) {
      std::uint64_t unusable = 0;
      const int count = std::min(64, plane.width - 64 * word);
      for (int i = 0; i < count; ++i) unusable |= static_cast<std::uint64_t>(use[64 * word + i] == 0) << i;
      if (unusable == 0) continue;
      plane.begin_flag(row, kRowHasUnusable);
      plane.usable_row(row)[word] &= ~unusable;
    }
  });
}

}  // namespace contorno
