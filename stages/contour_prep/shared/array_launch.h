// How kernels are launched whose threads go over an array in strides of the grid (threads.cuh). How long the
// array is only the device knows, so that the grid depends on the device alone. The functions are in
// array_launch.cuh, for files that may include CUDA headers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace contorno {

class ArrayLaunch {
 public:
  /// Asks the device how large it is, as part of a stage's plan. A grid has no more threads than `items`, of
  /// which there may be fewer: blocks without work take time to start.
  void plan(std::uint64_t items = ~0ULL);
  /// Enqueues `kernel` on `stream` (cudaStream_t), with blocks of kArrayThreads. `name` is for messages.
  template <class... Parameters, class... Arguments>
  void operator()(const char* name, void (*kernel)(Parameters...), void* stream,
                  const Arguments&... arguments) const;
  /// Enqueues `kernel` with `shared` bytes of dynamic shared memory a block.
  template <class... Parameters, class... Arguments>
  void with_shared(std::size_t shared, const char* name, void (*kernel)(Parameters...), void* stream,
                   const Arguments&... arguments) const;

 private:
  unsigned blocks_ = 1;
};

}  // namespace contorno
