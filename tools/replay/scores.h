// How well the contours of a record go around what is true: intersection over union, and how far the edges of
// the two regions are apart, class by class.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/replay/record.h"
#include "tools/replay/truth.h"

namespace contorno {

/// The score of a class in a frame, or summed up over frames.
struct ClassScore {
  std::uint64_t intersection = 0, joined = 0;      ///< pixels in both regions, in either
  std::uint64_t found = 0, missed = 0, extra = 0;  ///< frames that have the class in both, in truth alone, in
                                                   ///< the result alone
  std::uint64_t edge_pixels = 0;                   ///< of both regions, where the frame has both
  double distances = 0;                            ///< the sum over these pixels, in px of the truth
  double farthest = 0;                             ///< the largest of them, in px of the truth

  /// Intersection over union; nothing where both regions are empty.
  std::optional<double> iou() const;
  /// The mean over the edge pixels of both regions of the distance to the nearest edge pixel of the other, in
  /// px of the truth; nothing where no frame has both.
  std::optional<double> mean_distance() const;
  /// The largest such distance (the Hausdorff distance of the edges).
  std::optional<double> hausdorff() const;
  void add(const ClassScore& other);
};

/// Compares two regions of the same size but for the pixels that are not judged, which belong to neither.
ClassScore score_of(PixelRegion result, PixelRegion truth, const PixelRegion& unjudged);

struct FrameScore {
  std::uint64_t place = 0;
  std::vector<ClassScore> classes;
  std::string fault;  ///< why it could not be scored; empty: it was

  /// The mean over the classes that the frame has in either region; nothing where it has none.
  std::optional<double> mean_iou() const;
};

/// The scores of one value that was recorded.
struct ValueScores {
  std::string value;
  std::vector<std::string> classes;
  std::vector<FrameScore> frames;  ///< those that have truth, in their order

  std::vector<ClassScore> totals() const;
  std::size_t count_faults() const;
  /// The frames that were scored, those with the smallest mean IoU first.
  std::vector<const FrameScore*> worst() const;
};

/// Scores all contours that a record has at `places`, which ascend, as far as `truth` knows them: one
/// ValueScores for each value of contours, in the order of `values`. A frame that cannot be scored has a
/// fault; single frames throw nothing.
std::vector<ValueScores> score_record(const std::filesystem::path& record,
                                      const std::vector<std::uint64_t>& places,
                                      const std::vector<RecordedValue>& values, const GraphSpec& graph,
                                      const Truth& truth);

}  // namespace contorno
