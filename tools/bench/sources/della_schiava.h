// K. Della Schiava's four programs: a box of 2 x 2 with limited coordinates, level after level, of RGBA
// pixels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace contorno::sources {

/// RGBA, 8 bits, row by row. `pixels` belongs to somebody else.
struct Level {
  int width = 0, height = 0;
  std::uint8_t* pixels = nullptr;
  std::size_t bytes() const { return 4 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height); }
};

/// One bar of a timeline.
struct Bar {
  int stream = 0, level = 0;
  std::string what;  ///< HtoD, kernel, DtoH
  double begin_ms = 0, end_ms = 0;
};

// Fill levels[1], levels[2], ... from levels[0].
void mipmaps_serial(const std::vector<Level>& levels);
void mipmaps_openmp(const std::vector<Level>& levels);
#if CONTORNO_HAVE_CUDA
/// Blocking copies, a kernel a level with blocks of 32 x 32 threads (algorithm 2).
void mipmaps_cuda(const std::vector<Level>& levels, std::vector<Bar>* timeline = nullptr);
/// Bands of rows on streams, whose commands OpenMP's threads give (3.3). Levels lie in page-locked memory.
void mipmaps_streams(const std::vector<Level>& levels, std::vector<Bar>* timeline = nullptr);
#endif

}  // namespace contorno::sources
