#include "tests/gpu/fault_kernels.h"

#include "cuda/check.h"

namespace contorno::fault {
namespace {

__global__ void far_write_kernel(const unsigned* in, unsigned* out) {
  // Far outside of every allocation; a null pointer would be undefined behaviour that the compiler may
  // optimise away.
  const unsigned long long offset = in[0] == 5 ? 1ULL << 44 : 0;
  out[offset] = in[0];
}

/// Ends after half a minute all the same, for who runs this by hand.
__global__ void hang_kernel(const unsigned* in, unsigned* out) {
  const auto now = [] {
    unsigned long long nanoseconds;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(nanoseconds));
    return nanoseconds;
  };
  const unsigned long long start = now();
  while (in[0] == 5 && now() - start < 30'000'000'000ULL) {
  }
  out[0] = in[0];
}

__global__ void race_kernel(unsigned* out) {
  __shared__ unsigned shared[64];
  shared[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = shared[63 - threadIdx.x];  // written by the other warp, perhaps later
}

__global__ void uninitialised_kernel(const unsigned* in, unsigned* out) {
  out[threadIdx.x] = in[threadIdx.x] + 1;
}

__global__ void barrier_kernel(unsigned* out) {
  if (threadIdx.x < 20) __syncthreads();  // the rest of the warp passes by
  out[threadIdx.x] = threadIdx.x;
}

cudaStream_t queue(void* stream) {
  return static_cast<cudaStream_t>(stream);
}

}  // namespace

void copy_or_write_far(const unsigned* in, unsigned* out, void* stream) {
  far_write_kernel<<<1, 1, 0, queue(stream)>>>(in, out);
  check_launch("planted kernel");
}
void copy_or_hang(const unsigned* in, unsigned* out, void* stream) {
  hang_kernel<<<1, 1, 0, queue(stream)>>>(in, out);
  check_launch("planted kernel");
}

void race(unsigned* out, void* stream) {
  race_kernel<<<1, 64, 0, queue(stream)>>>(out);
  check_launch("planted fault");
}
void read_uninitialised(const unsigned* in, unsigned* out, void* stream) {
  uninitialised_kernel<<<1, 64, 0, queue(stream)>>>(in, out);
  check_launch("planted fault");
}
void divergent_barrier(unsigned* out, void* stream) {
  barrier_kernel<<<1, 64, 0, queue(stream)>>>(out);
  check_launch("planted fault");
}

}  // namespace contorno::fault
