// Looking the colours of pixels up in the table of those that were met lately, eight at a time. One body for
// every instruction set: it is inlined into functions that are compiled for each. For rows.cpp alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "stages/classify/rows.h"
#include "stages/shared/simd.h"

namespace contorno::classify_lookup {

/// Pixels that are looked up together, and words of an entry that are read together.
inline constexpr std::size_t kPixels = 8, kWords = 4;
/// Pixels whose colours and places are found before they are looked up: these stay in the first-level cache.
inline constexpr std::size_t kSpan = 256;

/// A bit of the first word of an entry (ColourTableShape), and of every colour that is looked for: an entry
/// without a colour, 0, is not that of black.
inline constexpr std::uint32_t kThere = 1U << 24U;

using HalfGroup [[gnu::vector_size(16)]] = std::uint32_t;
using Group [[gnu::vector_size(32)]] = std::uint32_t;

/// Pixels whose colours were not found. Values of other colours stand in their places until they are
/// computed.
struct Unknown {
  // There are less than kClassifyLanes when a span begins, which adds kSpan at most; `add` writes one behind.
  static constexpr std::size_t kMost = kClassifyLanes + kSpan + 1;
  std::size_t count = 0;
  // Plain: checked access would cost time for each pixel.
  std::uint32_t colours[kMost];
  std::uint32_t places[kMost];  ///< where the colour's entry is in the table, in words
  std::uint32_t at[kMost];  ///< where the value of the first class goes, in floats from ClassifyBlock::first

  /// Adds those of the pixels whose colours are not in the table. Not inlined: what it needs would be kept at
  /// hand for every pixel.
  [[gnu::noinline]] void add(const std::uint32_t* table, const std::uint32_t* wanted,
                             const std::uint32_t* wanted_at, std::size_t pixels, std::size_t where) {
    for (std::size_t i = 0; i < pixels; ++i) {
      colours[count] = wanted[i], places[count] = wanted_at[i],
      at[count] = static_cast<std::uint32_t>(where + i);
      count += table[wanted_at[i]] != wanted[i] ? 1 : 0;
    }
  }
};

/// Colours as words, red in the lowest byte.
CONTORNO_BODY void read_colours(const std::uint8_t* pixels, int channels, std::size_t count,
                                std::uint32_t* colours) {
  if (channels == 4) {
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(colours + i, pixels + 4 * i, 4);
      colours[i] = (colours[i] & (kThere - 1)) | kThere;
    }
  } else if (channels == 3) {
    for (std::size_t i = 0; i < count; ++i)
      colours[i] = pixels[3 * i] | (std::uint32_t{pixels[3 * i + 1]} << 8U) |
                   (std::uint32_t{pixels[3 * i + 2]} << 16U) | kThere;
  } else {
    for (std::size_t i = 0; i < count; ++i) colours[i] = pixels[i] * 0x010101U | kThere;
  }
}

/// Where colours are in the table: the colour as a number, times a factor, of which the bits from kShift on
/// count. By this factor one step of all three channels leads to the next place, so that colours which differ
/// in brightness alone, as by most of noise, are beside each other. Steps of one channel lead far apart.
CONTORNO_BODY void find_places(const std::uint32_t* colours, std::size_t count, const ColourTableShape& shape,
                               std::uint32_t* places) {
  constexpr std::uint32_t kFactor = 0x9eff61a1;
  const auto words = static_cast<std::uint32_t>(shape.entry_words);
  constexpr int kShift = 32 - ColourTableShape::kMostIndexBits;
  const std::uint32_t last = (1U << shape.index_bits) - 1;
  for (std::size_t i = 0; i < count; ++i) places[i] = ((colours[i] * kFactor) >> kShift & last) * words;
}

/// Four words at `part` of the entries of eight pixels: group w gets word w of each.
CONTORNO_BODY void load_words(const std::uint32_t* part, const std::uint32_t* places,
                              Group (&words)[kWords]) {
  // Written to a group, not returned: how a function returns one depends on the instruction set.
  const auto load = [&](std::size_t pixel, Group& entries) {
    HalfGroup low, high;
    std::memcpy(&low, __builtin_assume_aligned(part + places[pixel], sizeof(low)), sizeof(low));
    std::memcpy(&high, __builtin_assume_aligned(part + places[pixel + 4], sizeof(high)), sizeof(high));
    entries = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
  };
  Group a, b, c, d;
  load(0, a), load(1, b), load(2, c), load(3, d);
  // Two transpositions of four by four beside each other.
  const Group ab = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);
  const Group cd = __builtin_shufflevector(c, d, 0, 8, 1, 9, 4, 12, 5, 13);
  const Group ab_behind = __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
  const Group cd_behind = __builtin_shufflevector(c, d, 2, 10, 3, 11, 6, 14, 7, 15);
  words[0] = __builtin_shufflevector(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13);
  words[1] = __builtin_shufflevector(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15);
  words[2] = __builtin_shufflevector(ab_behind, cd_behind, 0, 1, 8, 9, 4, 5, 12, 13);
  words[3] = __builtin_shufflevector(ab_behind, cd_behind, 2, 3, 10, 11, 6, 7, 14, 15);
}

/// Whether a word of the group is not 0.
CONTORNO_BODY bool any(const Group& group) {
  using Pair [[gnu::vector_size(16)]] = std::uint64_t;
  Pair halves[2];
  std::memcpy(halves, &group, sizeof(group));
  const Pair both = halves[0] | halves[1];
  return (both[0] | both[1]) != 0;
}

/// Copies what the table has of a span into the block, class after class `out.step` floats apart, and notes
/// the pixels whose colours it does not have. `where` is the first pixel's place, in floats from `out.first`.
/// kClasses is the number of classes, or 0 for any.
template <std::size_t kClasses>
CONTORNO_BODY void copy_known(const std::uint32_t* colours, const std::uint32_t* places, std::size_t count,
                              std::size_t classes, const ClassifyBlock& out, std::size_t where,
                              Unknown& unknown) {
  const std::size_t copied = kClasses > 0 ? kClasses : classes, step = out.step;
  const std::uint32_t* table = out.table;
  float* first = out.first + where;
  std::size_t i = 0;
  for (; i + kPixels <= count; i += kPixels) {
    Group wanted, differs{};
    std::memcpy(&wanted, colours + i, sizeof(wanted));
    for (std::size_t word = 0; word <= copied; word += kWords) {
      Group words[kWords];
      load_words(table + word, places + i, words);
      if (word == 0) differs = words[0] ^ wanted;
      for (std::size_t w = word == 0 ? 1 : 0; w < kWords && word + w <= copied; ++w)
        std::memcpy(first + step * (word + w - 1) + i, &words[w], sizeof(words[w]));
    }
    if (any(differs)) unknown.add(table, colours + i, places + i, kPixels, where + i);
  }
  for (std::size_t pixel = i; pixel < count; ++pixel)
    for (std::size_t k = 0; k < copied; ++k)
      std::memcpy(first + step * k + pixel, table + places[pixel] + 1 + k, sizeof(float));
  unknown.add(table, colours + i, places + i, count - i, where + i);
}

/// With the number of classes known, where the first words of an entry have all: a fifth less time.
CONTORNO_BODY void copy_known(const std::uint32_t* colours, const std::uint32_t* places, std::size_t count,
                              std::size_t classes, const ClassifyBlock& out, std::size_t where,
                              Unknown& unknown) {
  switch (classes) {
    case 1:
      return copy_known<1>(colours, places, count, classes, out, where, unknown);
    case 2:
      return copy_known<2>(colours, places, count, classes, out, where, unknown);
    case 3:
      return copy_known<3>(colours, places, count, classes, out, where, unknown);
    default:
      return copy_known<0>(colours, places, count, classes, out, where, unknown);
  }
}

}  // namespace contorno::classify_lookup
