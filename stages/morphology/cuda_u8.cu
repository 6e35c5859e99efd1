// The kernels of morphology for uint8 samples.
#include "stages/morphology/device_samples.cuh"

template struct contorno::morphology_cuda::SampleKernels<std::uint8_t>;
