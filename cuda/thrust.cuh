// Thrust on a stream that may be captured: it takes planned memory, waits for nothing and, where it fails,
// throws as all of contorno does. Only what gives no number to the host can be captured: not reduce, copy_if,
// unique. Only for files that may include CUDA headers.
#pragma once

#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/system/cuda/execution_policy.h>
#include <thrust/system_error.h>

#include <cstddef>
#include <new>
#include <string>

#include "base/error.h"

namespace contorno {

/// Hands out one block of planned memory, once a call of Thrust, and throws std::bad_alloc where it is too
/// small. Owns nothing.
class PlannedMemory {
 public:
  using value_type = std::byte;

  PlannedMemory(std::byte* memory, std::size_t bytes) : memory_(memory), bytes_(bytes) {}

  std::byte* allocate(std::ptrdiff_t bytes) {
    if (static_cast<std::size_t>(bytes) > bytes_) throw std::bad_alloc();
    bytes_ = 0;
    return memory_;
  }
  void deallocate(std::byte*, std::size_t) {}

 private:
  std::byte* memory_;
  std::size_t bytes_;
};

/// Calls call(policy), which calls an algorithm of Thrust, for a stream (cudaStream_t). `name` is for
/// messages. Throws Error(Internal).
template <class Call>
void with_thrust(const char* name, void* stream, PlannedMemory memory, const Call& call) {
  try {
    call(thrust::cuda::par_nosync(memory).on(static_cast<cudaStream_t>(stream)));
  } catch (const std::exception& failure) {
    throw Error(ExitCode::Internal, std::string(name) + ": " + failure.what());
  }
}

/// How much memory `call` of with_thrust takes. It is called until it asks for memory, so that nothing is
/// enqueued; the arrays that it is given may be null.
template <class Call>
std::size_t thrust_bytes(const char* name, const Call& call) {
  struct Asked {
    std::size_t bytes;
  };
  struct Asking {
    using value_type = std::byte;
    std::byte* allocate(std::ptrdiff_t bytes) { throw Asked{static_cast<std::size_t>(bytes)}; }
    void deallocate(std::byte*, std::size_t) {}
  } asking;
  try {
    call(thrust::cuda::par_nosync(asking));
  } catch (const Asked& asked) {
    return asked.bytes;
  } catch (const std::exception& failure) {
    throw Error(ExitCode::Internal, std::string(name) + ": " + failure.what());
  }
  return 0;
}

/// Enqueues f(i) for 0 <= i < count, in any order and at the same time.
template <class F>
void for_each_number(const char* name, void* stream, std::size_t count, const F& f) {
  with_thrust(name, stream, {nullptr, 0}, [&](const auto& policy) {
    thrust::for_each_n(policy, thrust::counting_iterator<unsigned>(0), count, f);
  });
}

}  // namespace contorno
