// Th. Spyrou's variants of mean shift: all N x N pairs, the Gaussian cut at sigma^2, all points together
// until the norm of their steps is below eps.
#pragma once

#include <vector>

namespace contorno::sources {

struct SpyrouInput {
  std::vector<float> points;  ///< count x dims
  int count = 0, dims = 0;
  float sigma = 1, eps = 1e-4F;
  int block = 20;  ///< a block of a device has so many threads a side
  int most_iterations = 1000;
};

struct SpyrouResult {
  std::vector<float> points;
  int iterations = 0;
  double seconds = 0;  ///< of the iterations, without transfers
};

SpyrouResult spyrou_serial_o0(const SpyrouInput& input);
SpyrouResult spyrou_serial_o3(const SpyrouInput& input);
#if CONTORNO_HAVE_CUDA
SpyrouResult spyrou_cuda(const SpyrouInput& input, bool shared);
#endif

}  // namespace contorno::sources
