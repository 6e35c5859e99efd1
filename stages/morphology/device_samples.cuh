// The device's half of morphology for one type of samples (sample_kernels.h), for the files that instantiate
// it. Internal.
#pragma once

#include "stages/morphology/device.cuh"

namespace contorno::morphology_cuda {

/// Enqueues kernels on a stream, or lets them have the shared memory that they will ask for.
class DeviceLauncher {
 public:
  enum class Purpose : std::uint8_t { Enqueue, AllowShared };
  explicit DeviceLauncher(Purpose purpose, void* stream = nullptr) : purpose_(purpose), stream_(stream) {}

  template <class Job>
  void operator()(const char* name, void (*kernel)(Job), unsigned blocks, unsigned threads,
                  std::size_t shared, const Job& job) const {
    if (purpose_ == Purpose::Enqueue)
      launch(name, kernel, LaunchKind::Plain, LaunchOrder::AfterPrevious, blocks, threads, shared, stream_,
             job);
    else if (shared > 48 << 10)
      allow_shared(name, kernel, shared);
  }
  /// All blocks run at the same time.
  template <class Job>
  void together(const char* name, void (*kernel)(Job), unsigned blocks, unsigned threads,
                const Job& job) const {
    launch(name, kernel, LaunchKind::Cooperative, LaunchOrder::AfterPrevious, blocks, threads, 0, stream_,
           job);
  }

 private:
  Purpose purpose_;
  void* stream_;
};

template <class S>
std::size_t SampleKernels<S>::most_shared() {
  return contorno::most_shared();
}

template <class S>
void SampleKernels<S>::allow(const DevicePlan& plan) {
  const ImageView nowhere = packed_view(nullptr, plan.plan().format);
  run_passes<S>(plan, {.in = nowhere, .out = nowhere}, DeviceLauncher(DeviceLauncher::Purpose::AllowShared));
}

template <class S>
void SampleKernels<S>::run(const DevicePlan& plan, const PlanRun& memory, void* stream) {
  run_passes<S>(plan, memory, DeviceLauncher(DeviceLauncher::Purpose::Enqueue, stream));
}

template <class S>
unsigned SampleKernels<S>::reconstruction_blocks() {
  int blocks = 0;
  CONTORNO_CUDA_CHECK(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reconstruct_tiles<S>, kReconstructThreads, 0));
  return multiprocessors() * static_cast<unsigned>(std::max(1, blocks));
}

template <class S>
void SampleKernels<S>::reconstruct(const ReconstructionRun& images, void* stream) {
  run_reconstruction<S>(images, DeviceLauncher(DeviceLauncher::Purpose::Enqueue, stream));
}

}  // namespace contorno::morphology_cuda
