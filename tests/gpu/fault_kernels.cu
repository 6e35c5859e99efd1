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

/// One block, on a stream that is a cudaStream_t.
template <class... Arguments>
void start(void (*kernel)(Arguments...), unsigned threads, void* stream, Arguments... arguments) {
  kernel<<<1, threads, 0, static_cast<cudaStream_t>(stream)>>>(arguments...);
  check_launch("planted fault");
}

}  // namespace

void copy_or_write_far(const unsigned* in, unsigned* out, void* stream) {
  start(far_write_kernel, 1, stream, in, out);
}
void copy_or_hang(const unsigned* in, unsigned* out, void* stream) {
  start(hang_kernel, 1, stream, in, out);
}
void race(unsigned* out, void* stream) {
  start(race_kernel, 64, stream, out);
}
void read_uninitialised(const unsigned* in, unsigned* out, void* stream) {
  start(uninitialised_kernel, 64, stream, in, out);
}
void divergent_barrier(unsigned* out, void* stream) {
  start(barrier_kernel, 64, stream, out);
}

}  // namespace contorno::fault
