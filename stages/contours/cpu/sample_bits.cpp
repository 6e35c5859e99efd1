#include "stages/contours/cpu/sample_bits.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "stages/contours/cpu/sample_bits_kernels.h"
#include "stages/contours/rules/level_test.h"

namespace contorno {
namespace {

template <class T, class Bits>
void fill_float_table(BitTable& table, std::span<const double> levels) {
  double scale = 1;
  for (const double level : levels)
    if (std::isfinite(level)) scale = std::max(scale, std::abs(level));
  const auto safe =
      safe_distances(static_cast<T>(std::min(scale, static_cast<double>(std::numeric_limits<T>::max()))));
  table.low = static_cast<Bits>(2 * std::bit_cast<Bits>(safe.near) + 1);
  table.range = static_cast<Bits>(2 * std::bit_cast<Bits>(safe.far) - table.low);
  table.levels.resize(64 * levels.size() * sizeof(T));
  for (std::size_t i = 0; i < 64 * levels.size(); ++i) {
    const T level = highest_low<T>(levels[i % levels.size()]);
    std::memcpy(table.levels.data() + i * sizeof(T), &level, sizeof(T));
  }
}

/// Integers are compared as v > t - 1; "always" and "never" are the same here, both without a crossing.
/// Stored integers are no farther apart than kFar: only those near the level need a closer look.
template <class T>
void fill_integer_table(BitTable& table, std::span<const double> levels, SampleScale scale) {
  constexpr int kMost = std::numeric_limits<T>::max();
  std::vector<T> limits(levels.size()), nears(levels.size());
  std::vector<bool> possible(levels.size());
  for (std::size_t k = 0; k < levels.size(); ++k) {
    const int low = highest_low(kMost, scale, levels[k]);
    limits[k] = static_cast<T>(low < 0 ? kMost : low);
    for (const int v : {low, low + 1}) {
      if (v < 0 || v > kMost) continue;
      const double distance = std::abs(value_of(static_cast<T>(v), scale) - levels[k]);
      if (distance * scale.divisor <= kNear * std::max(1.0, std::abs(levels[k]))) {
        nears[k] = static_cast<T>(v);
        possible[k] = true;
      }
    }
  }
  table.any_near = std::find(possible.begin(), possible.end(), true) != possible.end();
  table.levels.resize(64 * levels.size() * sizeof(T));
  table.near_values.resize(table.levels.size());
  table.near_possible.resize(levels.size());
  for (std::size_t i = 0; i < 64 * levels.size(); ++i) {
    const std::size_t k = i % levels.size();
    std::memcpy(table.levels.data() + i * sizeof(T), &limits[k], sizeof(T));
    std::memcpy(table.near_values.data() + i * sizeof(T), &nears[k], sizeof(T));
    if (possible[k]) table.near_possible[i / 64] |= std::uint64_t{1} << (i % 64);
  }
}

BitKernel kernel_for(ElementType type, Simd simd) {
  switch (simd) {
    case Simd::Portable:
      return portable_kernel(type);
    case Simd::Avx2:
      return avx2_kernel(type);
    case Simd::Avx512:
      return avx512_kernel(type);
  }
  throw InternalError("unknown instruction set");
}

}  // namespace

BitReader::BitReader(ElementType type, SampleScale scale, std::span<const double> levels, Simd simd)
    : type_(type), channels_(static_cast<int>(levels.size())), kernel_(kernel_for(type, simd)) {
  switch (type) {
    case ElementType::U8:
      fill_integer_table<std::uint8_t>(table_, levels, scale);
      break;
    case ElementType::U16:
      fill_integer_table<std::uint16_t>(table_, levels, scale);
      break;
    case ElementType::F16:
    case ElementType::F32:
      fill_float_table<float, std::uint32_t>(table_, levels);
      break;
    case ElementType::F64:
      fill_float_table<double, std::uint64_t>(table_, levels);
      break;
  }
}

std::uint64_t BitReader::read(const void* samples, std::size_t first_word, std::size_t count,
                              std::uint64_t* high, std::uint64_t* flags) const {
  const std::size_t words = count / 64, rest = count % 64;
  std::uint64_t any = kernel_(samples, table_, first_word, words, high, flags);
  if (rest != 0) {
    // Nothing behind the end may be read: the last samples are taken from a copy.
    alignas(64) std::byte tail[64 * sizeof(double)];
    const std::size_t size = element_size(type_);
    std::memcpy(tail, static_cast<const std::byte*>(samples) + words * 64 * size, rest * size);
    std::memset(tail + rest * size, 0, (64 - rest) * size);
    kernel_(tail, table_, (first_word + words) % static_cast<std::size_t>(channels_), 1, high + words,
            flags + words);
    const std::uint64_t inside = (std::uint64_t{1} << rest) - 1;
    high[words] &= inside;
    flags[words] &= inside;
    any |= flags[words];
  }
  return any;
}

std::uint64_t BitReader::nan_bits(const void* samples, std::size_t count) const {
  return with_sample_type(type_, [&]<class T>(const T*) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double value = value_of(static_cast<const T*>(samples)[i], SampleScale{});
      bits |= static_cast<std::uint64_t>(value != value) << i;
    }
    return bits;
  });
}

Deinterleaver::Deinterleaver(int channels, Simd simd) : channels_(channels), split_(portable_split()) {
  for (int phase = 0; phase < std::min(64, channels); ++phase)
    for (int bit = phase; bit < 64; bit += channels) patterns_[phase] |= std::uint64_t{1} << bit;
  if (simd != Simd::Portable) split_ = bmi2_split();
  if (simd == Simd::Avx512 && channels == 8) split_ = avx512_split_of_8();
}

}  // namespace contorno
