// The kernels of morphology for float32 samples.
#include "stages/morphology/device_samples.cuh"

template struct contorno::morphology_cuda::SampleKernels<float>;
