// The device's half of morphology for one type of samples, without a CUDA header. The kernels of each type
// are compiled in a file of their own (cuda_u8.cu, cuda_u16.cu, cuda_f32.cu), at the same time. Internal.
#pragma once

#include "stages/morphology/device_plan.h"

namespace contorno::morphology_cuda {

/// The images and device memory of one run of a plan: copies of its lists, and scratch_bytes().
struct PlanRun {
  const ImageView &in, &out;
  const TileRuns* runs = nullptr;
  const DeviceTerm* terms = nullptr;
  std::byte* scratch = nullptr;
};

/// The images of a reconstruction: of `marker`, which may be `out`, under `mask`. All have one format and lie
/// on the device.
struct ReconstructionRun {
  ReconstructionMethod method = ReconstructionMethod::Dilation;
  const ImageView &marker, &mask, &out;
  const MorphologyOptions& options;
  std::byte* state = nullptr;  ///< reconstruction_state_bytes(), all zero
  unsigned blocks = 1;         ///< that can run at the same time
};

/// Pixels a side of the tiles of a reconstruction, and the words of its state before the tiles' flags:
/// arrivals at the barrier, wakings of three rounds.
inline constexpr int kTileSide = 32, kReconstructState = 4;

inline std::size_t reconstruction_state_bytes(const ImageFormat& format) {
  const auto side = [](int pixels) { return static_cast<std::size_t>((pixels + kTileSide - 1) / kTileSide); };
  return kReconstructState * sizeof(unsigned) +
         2 * side(format.width) * side(format.height) * static_cast<std::size_t>(format.channels);
}

/// S is std::uint8_t, std::uint16_t or float.
template <class S>
struct SampleKernels {
  /// The most bytes of shared memory that a block can have on this device.
  static std::size_t most_shared();
  /// Lets every kernel of the plan have the shared memory that it will ask for.
  static void allow(const DevicePlan& plan);
  /// Enqueues the passes of a plan on `stream`.
  static void run(const DevicePlan& plan, const PlanRun& memory, void* stream);
  /// How many blocks of a reconstruction run at the same time.
  static unsigned reconstruction_blocks();
  static void reconstruct(const ReconstructionRun& images, void* stream);
};

/// Calls f.template operator()<S>() for samples of `type`.
template <class F>
auto with_sample_type(ElementType type, const F& f) {
  if (type == ElementType::U8) return f.template operator()<std::uint8_t>();
  if (type == ElementType::U16) return f.template operator()<std::uint16_t>();
  return f.template operator()<float>();
}

}  // namespace contorno::morphology_cuda
