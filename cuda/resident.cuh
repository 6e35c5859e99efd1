// How many blocks a multiprocessor of the architecture that is compiled for runs at the same time, for launch
// bounds: ptxas refuses more.
#pragma once

namespace contorno {

/// Threads that a multiprocessor runs at the same time: 1024 for 7.5, 1536 or more since (CUDA C++
/// Programming Guide, technical specifications of compute capabilities).
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr unsigned kResidentThreads = 1024;
#else
inline constexpr unsigned kResidentThreads = 1536;
#endif

/// For launch bounds: `wanted` blocks on a multiprocessor, or as many as fit.
constexpr unsigned blocks_sharing(unsigned threads, unsigned wanted) {
  return wanted * threads <= kResidentThreads ? wanted : kResidentThreads / threads;
}

}  // namespace contorno
