// Writes contour points to their final places: walks along runs and pieces once more, this time interpolating
// on the samples in float64. Points are float64 or, for the stream, rounded to float32. Tasks write disjoint
// places.
#pragma once

#include <cstdint>

#include "pipeline/value/contours.h"
#include "stages/contours/cpu/chains.h"

namespace contorno {

/// One class to emit from.
struct EmitSource {
  const CellBits* cells = nullptr;
  const WalkTable* table = nullptr;
  bool any_suspect = false;
};

/// Where the results go. One of the point arrays is set.
struct EmitTarget {
  Point* points = nullptr;
  PointD* exact_points = nullptr;
  std::uint32_t* offsets = nullptr;
  std::uint8_t* closed = nullptr;
  Orientation orientation = Orientation::Low;
};

/// Parts that a chunk is split into, for balance.
inline constexpr std::uint32_t kPartsPerChunk = 4;

/// Tells the owners among a chunk's details where their contours begin. Comes before any emission.
void place_details(const ChunkPool& pool, Chunk& chunk);

/// Emits one part of a chunk of runs or pieces.
void emit_part(const ChunkPool& pool, Chunk& chunk, std::uint32_t part, const EmitSource& source,
               const EmitTarget& target);

}  // namespace contorno
