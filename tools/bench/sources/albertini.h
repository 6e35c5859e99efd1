// A. Albertini's variants of Diamond-Square (chapter 3) and of openings of colour images (chapter 4).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace contorno::sources {

// Diamond-Square on 2^exponent + 1 cells a side, 8 bits each.

/// A random number of the thesis: from -max / 2 to max / 2 - 1, or -1 or 0 where max is 1. A test gives
/// numbers of its own, by cell and level (1 first), and then sums are limited to what 8 bits hold, in place
/// of wrapping round.
using NoiseOf = std::function<int(int row, int col, int level)>;

/// One thread, or `threads` in loops of OpenMP. rand() is that of the thesis's C library, a state a thread.
std::vector<std::uint8_t> heights_on_host(int exponent, int threads, const NoiseOf& noise = {});
#if CONTORNO_HAVE_CUDA
enum class HeightsVersion : std::uint8_t {
  Conditions,    ///< squares ask for each neighbour whether it is there; a generator a step
  Products,      ///< they multiply by what is true (fragment 19); a generator a step
  OneGenerator,  ///< and one generator makes all numbers before the first step
};
/// From and to host memory.
std::vector<std::uint8_t> heights_on_device(int exponent, HeightsVersion version, const NoiseOf& noise = {});
#endif

// Openings of RGBA pixels by a square of `side` px, channel by channel; alpha stays as it is.

struct Pixels {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgba;
};
/// Which parts are sections of OpenMP, and which loops.
enum class OpeningVersion : std::uint8_t { Serial, Sections, SectionsToSplit, SectionsToWork, Loops };

std::vector<std::uint8_t> opening_on_host(const Pixels& image, int side, OpeningVersion version, int threads);
#if CONTORNO_HAVE_CUDA
/// From and to host memory.
std::vector<std::uint8_t> opening_on_device(const Pixels& image, int side);
#endif

// The two halves of the work.
class Records;
struct Options;
void measure_heights(Records& records, const Options& options, bool device);
void measure_openings(Records& records, const Options& options, bool device);

}  // namespace contorno::sources
