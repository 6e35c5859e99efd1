// Contours of many planes, levels and frames at once, on the CPU: what find_contours_batch computes. Owns its
// results; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/value/contours.h"
#include "stages/contours/find_contours.h"

namespace contorno::python {

struct MapsOptions {
  Connectivity fully_connected = Connectivity::Low;
  Orientation positive_orientation = Orientation::Low;
  ImageView mask;  ///< one channel of U8, the maps' size, 0 = do not use; for all planes
  SampleScale scale;
  std::uint64_t min_points = 0;
  int threads = 1;
};

enum class PointType : std::uint8_t { Float32, Float64 };
inline std::size_t point_bytes(PointType type) {
  return type == PointType::Float32 ? sizeof(Point) : sizeof(PointD);
}

/// Contours of one image. Plane k has contours [class_begin[k], class_begin[k + 1]), contour i has points
/// [offsets[i], offsets[i + 1]). `closed` has one place more than there are contours.
struct FoundInMaps {
  Buffer<std::byte> points;
  Buffer<std::uint32_t> offsets;
  Buffer<std::uint8_t> closed;
  std::vector<std::uint32_t> class_begin;

  std::size_t count() const { return offsets.size() - 1; }
};

/// All planes of one image, a level each. Throws Error(BadData, BadConfig).
FoundInMaps find_in_maps(const ImageView& maps, std::span<const double> levels, PointType type,
                         const MapsOptions& options);

/// Frames of maps, in place. `first` is frame 0; frame f begins f * frame_pitch bytes behind it.
struct MapStack {
  ImageView first;
  int frames = 1;
  std::ptrdiff_t frame_pitch = 0;
};

/// Contours of all frames, planes and levels, in this order of nesting.
struct FlatContours {
  Buffer<std::byte> points;
  Buffer<std::int64_t> offsets;
  Buffer<std::uint8_t> closed;
  Buffer<std::int32_t> class_ids, frame_ids, level_ids;
  /// Contours of frame f, plane k, level l begin at begin[(f * planes + k) * levels + l].
  std::vector<std::int64_t> begin;

  std::size_t count() const { return offsets.size() - 1; }
};

/// `levels` has `levels_per_plane` values for each plane, plane by plane.
FlatContours find_in_stack(const MapStack& stack, std::span<const double> levels, int levels_per_plane,
                           PointType type, const MapsOptions& options);

/// Joins results that follow each other, each of some planes: frames have planes, and planes have levels, in
/// this order of nesting.
FlatContours flatten(std::vector<FoundInMaps> results, int frames, int planes, int levels_per_plane,
                     PointType type, int threads);

}  // namespace contorno::python
