// The kernel of mean shift of points and its lengths, as the inner loops of both backends take them.
#pragma once

#include <cstdint>

namespace contorno {

enum class MeanShiftKernel : std::uint8_t { Gaussian, Flat, Epanechnikov };

/// The rule of a step and of the end of a climb; lengths are in the units of the tree (frame.h).
template <class T>
struct MeanShiftRule {
  T limit = 0;   ///< points with a squared distance below it have a weight
  T scale = 0;   ///< factor of the squared distance, see weight_of
  T stop = 0;    ///< squared length of a step below which a point has arrived
  int most = 1;  ///< steps after which a climb ends
  MeanShiftKernel kernel = MeanShiftKernel::Gaussian;
};

}  // namespace contorno
