// Diamond-Square on the device. Levels of few cells are made by tiles, up to six levels a launch; levels of a
// million cells or more by strips, one level a launch. An object is made for one format and owns its grids in
// device memory (up to a third as many cells as the image has). generate only enqueues; it may be used on one
// stream at a time.
#pragma once

#include <memory>

#include "stages/diamond_square/field.h"

namespace contorno {

class DiamondSquareOnDevice {
 public:
  /// Throws what plan_diamond_square throws, Error(OutOfMemory), Error(Unavailable).
  DiamondSquareOnDevice(const DiamondSquareParams& params, const ImageFormat& format);
  ~DiamondSquareOnDevice();
  DiamondSquareOnDevice(const DiamondSquareOnDevice&) = delete;
  DiamondSquareOnDevice& operator=(const DiamondSquareOnDevice&) = delete;

  /// Enqueues the filling of `out`, an image of the planned format in device memory, on a cudaStream_t. The
  /// same bits as DiamondSquare::generate.
  void generate(std::uint64_t seed, const ImageView& out, void* stream) const;

 private:
  struct Passes;
  DiamondSquarePlan plan_;
  std::unique_ptr<Passes> passes_;
};

}  // namespace contorno
