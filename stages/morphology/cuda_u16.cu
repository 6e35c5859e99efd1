// The kernels of morphology for uint16 samples.
#include "stages/morphology/device_samples.cuh"

template struct contorno::morphology_cuda::SampleKernels<std::uint16_t>;
