// Two records of the same dataset, frame by frame.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/replay/compare_contours.h"
#include "tools/replay/record.h"

namespace contorno {

/// What became of a frame. Within: it differs, but by no more than the tolerance.
enum class FrameVerdict : std::uint8_t { Same, Within, Different };

struct FrameDifference {
  std::uint64_t place = 0;
  FrameVerdict verdict = FrameVerdict::Same;
  std::size_t lost = 0, added = 0, moved = 0;  ///< contours
  double distance = 0;                         ///< the largest one of a pair of contours, px of the map
  std::size_t pictures = 0;                    ///< pictures with other samples
  std::string first;  ///< a sentence about the first difference; empty: there is none
};

/// What became of a class of a value in all frames.
struct ClassDifference {
  std::string value;
  ClassChanges changes;    ///< sums, and the largest distance; what is said of the class where it was first
  std::size_t frames = 0;  ///< frames in which the class differs
};

struct RecordDifference {
  std::vector<FrameDifference> frames;   ///< every frame that one of the records has, in order
  std::vector<ClassDifference> classes;  ///< those that differ, as they were met
  std::vector<std::string> graph;        ///< see differences_from_record

  std::size_t count(FrameVerdict verdict) const;
  /// The frames that are not the same, the worst ones first: different before within, then those with more
  /// contours lost and added, then the larger distance, then the earlier place.
  std::vector<const FrameDifference*> worst() const;
};

/// Compares what `values` name at each of `places`: contours first, those of earlier stages before others, so
/// that what a frame's first difference is named by is the cause and no picture of it. With a tolerance of 0
/// px all must be equal: points, attributes, pictures and reasons of failures. Otherwise contours may have
/// other points that are no farther from the recorded line than the tolerance, and then other attributes,
/// levels and pictures, too. Throws Error(BadData) when a file of a record cannot be read.
RecordDifference compare_records(const std::filesystem::path& before, const std::filesystem::path& after,
                                 const std::vector<std::uint64_t>& places,
                                 const std::vector<RecordedValue>& values, double tolerance);

/// How far the sides of two contours' boxes may differ for the contours to be taken for the same.
double pairing_reach(double tolerance);

/// The contours of one value at one place. Throws Error(BadData, MissingInput).
ContourFrame recorded_contours(const std::filesystem::path& record, std::uint64_t place,
                               const RecordedValue& value);

}  // namespace contorno
