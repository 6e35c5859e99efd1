// Writes contour points to their final places: walks along runs and sections a second time and interpolates
// between the samples in float64. Points are float64 or, for the stream, rounded to float32. Tasks write
// disjoint places.
#pragma once

#include <cstdint>

#include "pipeline/value/contours.h"
#include "stages/contours/cpu/chains.h"

namespace contorno {

/// What is read of one class. `any_suspect`: some sample of the class is suspect, so points may fall on
/// samples.
struct EmitSource {
  const CellBits* cells = nullptr;
  const WalkTable* table = nullptr;
  bool any_suspect = false;
};

/// The caller's arrays. One of the two point arrays is set; `offsets` has one entry more than there are
/// contours.
struct EmitTarget {
  Point* points = nullptr;
  PointD* exact_points = nullptr;
  std::uint32_t* offsets = nullptr;
  std::uint8_t* closed = nullptr;
  Orientation orientation = Orientation::Low;
};

/// Each chunk is emitted in this many parts, so that tasks take about the same time.
inline constexpr std::uint32_t kPartsPerChunk = 4;

/// Sets `offset` of the details that own contours whose runs lie in the chunk. Called for all chunks before
/// any is emitted.
void place_details(const ChunkPool& pool, Chunk& chunk);

/// Emits one part of a chunk of runs or sections.
void emit_part(const ChunkPool& pool, Chunk& chunk, std::uint32_t part, const EmitSource& source,
               const EmitTarget& target);

}  // namespace contorno
