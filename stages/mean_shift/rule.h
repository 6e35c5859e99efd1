// What a climb of mean shift is told: the kernel and its lengths, in the units of the tree.
#pragma once

#include <cstdint>

namespace contorno {

enum class MeanShiftKernel : std::uint8_t { Gaussian, Flat, Epanechnikov };

/// What a climb needs to know; lengths in the units of the tree.
template <class T>
struct MeanShiftRule {
  T limit = 0;   ///< points with a squared distance below it have a weight
  T scale = 0;   ///< factor of the squared distance, see weight_of
  T stop = 0;    ///< squared length of a step below which a point has arrived
  int most = 1;  ///< steps
  MeanShiftKernel kernel = MeanShiftKernel::Gaussian;
};

}  // namespace contorno
