// Track: the same object keeps its id from frame to frame.
//
// Input: contours of any stage, in the order of frames.
//
// Output: the same contours, with these attributes more:
//
//   id   of the object that the contour shows, from 1, in the order in which objects appear; over all classes
//   age  how many frames ago it appeared, by the frames' numbers: 0 of a new one
//
// Objects are what lies inside outer contours. A closed contour that runs the other way round than those do
// (positive_orientation) is a hole: it shows no object, and both attributes are NaN.
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
// Memory: about 200 bytes a contour of the planned capacity and 110 an object on the CPU, 40 and 50 on CUDA,
// and the output; as state, for each slot, 128 bytes for each of max_objects and 48 for each class (at least
// 256).
//
// Speed: contours and objects are paired by chains (stages/shared/pair_in_chains.h) with about two searches
// for each. On the CPU a search goes down a tree of boxes (stages/shared/partner_tree.h), so that the time is
// that of a sort. On CUDA an index by rows finds which boxes come near each other's rows, all contours look
// at once, and those whose offers are surpassed look again; where that goes on for many rounds (all contours
// around each other) one block pairs them by chains, and each search looks at all that are left.
#pragma once

#include <cstddef>
#include <memory>

#include "pipeline/graph/stage.h"
#include "pipeline/value/orientation.h"

namespace contorno {

struct TrackParams {
  double min_overlap = 0.3;
  double max_distance = 20;  ///< px
  int max_missed = 5;        ///< frames
  int max_objects = 4096;
  Orientation positive_orientation = Orientation::Low;  ///< as contour_assembly was told
};

/// The attributes that it gives.
inline constexpr Attributes kTrackAttributes{Attribute::Id, Attribute::Age};

/// The CUDA implementation; only in builds that have CUDA.
std::unique_ptr<Stage> make_track_cuda(const ParamSet& params);

const StageType& track_stage();

}  // namespace contorno
