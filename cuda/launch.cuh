// How kernels are launched, and the device functions that all kernel files share. Kernels use the names below
// only; `tests/gpu/emulator.h` provides them on the host as well, so that the tests run kernels where no
// device is. Only for files that may include CUDA headers.
#pragma once

#if defined(CONTORNO_EMULATE)
#include CONTORNO_EMULATE
#else
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "cuda/check.h"

namespace contorno {

/// The block's dynamic shared memory as a T.
template <class T>
__device__ __forceinline__ T& block_shared() {
  extern __shared__ __align__(16) unsigned char contorno_shared_bytes[];
  return *reinterpret_cast<T*>(contorno_shared_bytes);
}

/// Reads with acquire order of what other multiprocessors write during this kernel; they go past the
/// first-level cache.
__device__ __forceinline__ unsigned load_acquire(const unsigned* address) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}
__device__ __forceinline__ unsigned long long load_acquire(const unsigned long long* address) {
  unsigned long long value;
  asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  return value;
}

/// Reads and writes of what other multiprocessors share, without any order with respect to other memory.
__device__ __forceinline__ unsigned load_relaxed(const unsigned* address) {
  unsigned value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}
__device__ __forceinline__ void store_relaxed(unsigned* address, unsigned value) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}
__device__ __forceinline__ unsigned long long load_relaxed(const unsigned long long* address) {
  unsigned long long value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  return value;
}
__device__ __forceinline__ void store_relaxed(unsigned long long* address, unsigned long long value) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
}

/// Reads and writes of 16 bytes at once: other blocks see all or nothing of a write.
__device__ __forceinline__ uint4 load_whole(const uint4* address) {
  uint4 v;
#if CUDART_VERSION >= 12040
  asm volatile(
      "{ .reg .b128 whole; .reg .b64 low, high; ld.relaxed.gpu.global.b128 whole, [%4];"
      " mov.b128 {low, high}, whole; mov.b64 {%0, %1}, low; mov.b64 {%2, %3}, high; }"
      : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
      : "l"(address)
      : "memory");
#else  // PTX before 8.3 cannot say it, but a vector is loaded at once
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(address)
               : "memory");
#endif
  return v;
}
__device__ __forceinline__ void store_whole(uint4* address, const uint4& v) {
#if CUDART_VERSION >= 12040
  asm volatile(
      "{ .reg .b128 whole; .reg .b64 low, high; mov.b64 low, {%1, %2}; mov.b64 high, {%3, %4};"
      " mov.b128 whole, {low, high}; st.relaxed.gpu.global.b128 [%0], whole; }" ::"l"(address),
      "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
      : "memory");
#else
  asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(v.x), "r"(v.y),
               "r"(v.z), "r"(v.w)
               : "memory");
#endif
}

/// Starts an asynchronous copy of 4 or 16 bytes, which are not read again, from global to shared memory,
/// without a register in between. This thread may use them after wait_for_copies(), others after a barrier
/// that follows. The second-level cache evicts them first, as after __ldcs.
template <class T>
__device__ __forceinline__ void copy_once(T* to, const T* from) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 16);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(to));
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  if constexpr (sizeof(T) == 16)
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(at), "l"(from),
                 "l"(policy)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], 4, %2;" ::"r"(at), "l"(from),
                 "l"(policy)
                 : "memory");
#else
  *to = __ldcs(from);
#endif
}
__device__ __forceinline__ void wait_for_copies() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/// The greater of two numbers; NaN if one is NaN.
__device__ __forceinline__ float greater_or_nan(float a, float b) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  float greater;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(greater) : "f"(a), "f"(b));
  return greater;
#else
  return a != a || a > b ? a : b;
#endif
}
__device__ __forceinline__ double greater_or_nan(double a, double b) {
  return a != a || a > b ? a : b;
}

// Warps --------------------------------------------------------------------------------------------------
/// The lanes with the same value as this one, as bits. Called by whole warps.
__device__ __forceinline__ unsigned peers_with(unsigned value) {
  return __match_any_sync(~0U, value);
}
/// The least and the greatest value of the lanes `peers`, to which this lane belongs. Called by all of them.
__device__ __forceinline__ unsigned lowest_among(unsigned peers, unsigned value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  return __reduce_min_sync(peers, value);
#else
  unsigned all = value;
  for (unsigned rest = peers; rest != 0; rest &= rest - 1)
    all = min(all, __shfl_sync(peers, value, __ffs(static_cast<int>(rest)) - 1));
  return all;
#endif
}
__device__ __forceinline__ unsigned highest_among(unsigned peers, unsigned value) {
  return ~lowest_among(peers, ~value);
}
/// The greatest value of a warp. Called by whole warps.
__device__ __forceinline__ unsigned highest_of_warp(unsigned value) {
  return ~lowest_among(~0U, ~value);
}

/// The bits that any lane has set. Called by whole warps.
__device__ __forceinline__ unsigned bits_of_warp(unsigned bits) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  return __reduce_or_sync(~0U, bits);
#else
  for (int mask = 16; mask > 0; mask /= 2) bits |= __shfl_xor_sync(~0U, bits, mask);
  return bits;
#endif
}

/// Adds `count` to a counter and returns its value before, to allocate `count` elements of an array. With
/// atomicAdd the compiler would combine the lanes of a warp and wait for the result at once.
__device__ __forceinline__ unsigned fetch_add(unsigned* counter, unsigned count) {
  unsigned before;
  asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(counter), "r"(count)
               : "memory");
  return before;
}
/// fetch_add in the threads with `adds`; gives 0 in the others. A thread waits for the result only where it
/// uses it; after a branch it would wait where the branches join.
#define CONTORNO_FETCH_ADD_IF(Number, kSuffix, kRegister)                                    \
  __device__ __forceinline__ Number fetch_add_if(bool adds, Number* counter, Number count) { \
    Number before = 0;                                                                       \
    asm volatile(                                                                            \
        "{ .reg .pred adds; setp.ne.u32 adds, %3, 0;"                                        \
        " @adds atom.relaxed.gpu.global.add." kSuffix " %0, [%1], %2; }"                     \
        : "+" kRegister(before)                                                              \
        : "l"(counter), kRegister(count), "r"(adds ? 1U : 0U)                                \
        : "memory");                                                                         \
    return before;                                                                           \
  }
CONTORNO_FETCH_ADD_IF(unsigned, "u32", "r")
CONTORNO_FETCH_ADD_IF(unsigned long long, "u64", "l")
#undef CONTORNO_FETCH_ADD_IF

__device__ __forceinline__ void spin_pause() {
  __nanosleep(20);
}

// Programmatic dependent launch: after `let_next_begin` (cudaTriggerProgrammaticLaunchCompletion) blocks of
// the next kernel may start while this kernel still runs, but must not use its results before
// `wait_for_previous` (cudaGridDependencySynchronize). Every kernel of such a sequence calls both, so that
// the end of one kernel implies the end of all before it.
__device__ __forceinline__ void wait_for_previous() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ __forceinline__ void let_next_begin() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

enum class LaunchKind { Plain, Cooperative };
enum class LaunchOrder { AfterPrevious, OverlapPrevious };

/// Enqueues `kernel` on `stream` (cudaStream_t), with `shared` bytes of dynamic shared memory. Cooperative:
/// all blocks run at the same time, so they may wait for each other.
/// OverlapPrevious: as a programmatic dependent launch, see let_next_begin. `name` is for messages.
template <class... Parameters, class... Arguments>
void launch(const char* name, void (*kernel)(Parameters...), LaunchKind kind, LaunchOrder order,
            unsigned blocks, unsigned threads, std::size_t shared, void* stream,
            const Arguments&... arguments) {
  cudaLaunchAttribute attributes[2] = {};
  unsigned count = 0;
  if (kind == LaunchKind::Cooperative) {
    attributes[count].id = cudaLaunchAttributeCooperative;
    attributes[count++].val.cooperative = 1;
  }
  if (order == LaunchOrder::OverlapPrevious) {
    attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[count++].val.programmaticStreamSerializationAllowed = 1;
  }
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared;
  config.stream = static_cast<cudaStream_t>(stream);
  config.attrs = attributes;
  config.numAttrs = count;
  throw_on_error(cudaLaunchKernelEx(&config, kernel, arguments...), name);
  check_launch(name);
}

/// An attribute of the current device.
inline int device_attribute(cudaDeviceAttr attribute) {
  int device = 0;
  int value = 0;
  CONTORNO_CUDA_CHECK(cudaGetDevice(&device));
  CONTORNO_CUDA_CHECK(cudaDeviceGetAttribute(&value, attribute, device));
  return value;
}
inline unsigned multiprocessors() {
  return static_cast<unsigned>(device_attribute(cudaDevAttrMultiProcessorCount));
}
/// The most bytes of shared memory that a block can be allowed.
inline std::size_t most_shared() {
  return static_cast<std::size_t>(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
}

/// Lets `kernel` have more than 48 KiB of dynamic shared memory. Called once, when the work is planned; from
/// then on the kernel may have all that a block can have, because the limit belongs to the kernel, and other
/// plans may need more. Throws Error(Unavailable) where the device has less than `bytes`. The kernel has no
/// static shared memory.
template <class Kernel>
void allow_shared(const char* name, Kernel* kernel, std::size_t bytes) {
  const std::size_t most = most_shared();
  if (bytes > most)
    throw Error(ExitCode::Unavailable, std::string(name) + " needs " + std::to_string((bytes + 1023) >> 10) +
                                           " KiB of shared memory a block, this device has " +
                                           std::to_string(most >> 10) + " KiB; use the CPU backend");
  throw_on_error(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                      cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(most)),
                 name);
}

/// Whether the current device has programmatic dependent launches.
inline bool has_dependent_launch() {
  return device_attribute(cudaDevAttrComputeCapabilityMajor) >= 9;
}

}  // namespace contorno
#endif
