// Track: the same object keeps its id from frame to frame.
//
// Input: contours of any stage, in the order of frames.
//
// Output: the same contours, with these attributes more:
//
//   id   of the object that the contour shows, from 1, in the order in which objects appear; over all classes
//   age  how many frames ago it appeared, by the frames' numbers: 0 of a new one
//
// A contour shows an object of its class that was seen before if their boxes overlap by at least min_overlap
// (intersection over union of the box of its points and the one with which the object was seen last), or
// else if their centroids (as of measure) are at most max_distance apart. Of all such pairs the best come
// first: those that overlap, the more the better; then the nearest; of equal ones that with the lower id,
// then the contour that comes first. What a contour or an object is taken by is not taken again. Overlaps
// and squares of distances are compared as float32. A contour that shows no known object is a new one.
//
// State: what was seen last of up to max_objects objects, and the counts of each class. An object is dead
// when it was missed in more than max_missed frames in a row, by their numbers, so that dropped frames count.
// If a frame's number is not greater than the one before, all known objects die; ids go on. If there are more
// than max_objects, objects that are not seen are forgotten first, then those of the last contours, which are
// new ones in the next frame.
//
// Memory: 44 bytes a contour of the planned capacity, 24 an object on the CPU and about 50 on CUDA, and the
// output; as state, for each slot, 128 bytes for each of max_objects and 48 for each class (at least 256).
//
// Speed: an index by rows finds which boxes come near each other's rows, and only these are compared; an
// object that is wanted by several contours takes the best, and the others look again (D. Gale and L. S.
// Shapley, "College admissions and the stability of marriage", 1962), which gives the pairs above.
#pragma once

#include <cstddef>
#include <memory>

#include "pipeline/graph/stage.h"

namespace contorno {

struct TrackParams {
  double min_overlap = 0.3;
  double max_distance = 20;  ///< px
  int max_missed = 5;        ///< frames
  int max_objects = 4096;
};

/// The attributes that it gives.
inline constexpr Attributes kTrackAttributes{Attribute::Id, Attribute::Age};

/// The CUDA implementation; only in builds that have CUDA.
std::unique_ptr<Stage> make_track_cuda(const ParamSet& params);

const StageType& track_stage();

}  // namespace contorno
