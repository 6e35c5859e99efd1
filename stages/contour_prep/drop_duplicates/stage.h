// Drop duplicates: leaves out points that are near an earlier point of their class, of the same contour or of
// another one.
//
// Input: contours of any stage.
//
// Output: the points that remain, in their order and their contours. By the rule kept_earlier no two points
// of a class are nearer to each other than the distance, and every point that was dropped is near one that
// remains.
//
// Memory: about 45 bytes a point of the planned capacity on the CPU, about 46 a point, 36 more for each of up
// to 32,768 points, and 12 a contour on CUDA, and the output.
//
// Source: L. V. Greco, "Fourier Drawing Machine", section 2.4 (remove_all_duplicate_points), for any_earlier.
#pragma once

#include <memory>

#include "pipeline/graph/stage.h"

namespace contorno {

/// The earlier points by which a point is dropped: those that are kept, or all.
enum class DuplicateRule : std::uint8_t { KeptEarlier, AnyEarlier };

struct DropDuplicatesParams {
  double distance = 1;  ///< px; points nearer than this are duplicates, equal points always
  DuplicateRule rule = DuplicateRule::KeptEarlier;
};

/// The CUDA implementation; only in builds that have CUDA.
std::unique_ptr<Stage> make_drop_duplicates_cuda(const ParamSet& params);

const StageType& drop_duplicates_stage();

}  // namespace contorno
