// The functions of ArrayLaunch.
#pragma once

#include <algorithm>

#include "cuda/threads.cuh"
#include "stages/contour_prep/shared/array_launch.h"

namespace contorno {

inline void ArrayLaunch::plan(std::uint64_t items) {
  const std::uint64_t blocks = items / kArrayThreads + (items % kArrayThreads != 0 ? 1 : 0);
  blocks_ = static_cast<unsigned>(std::clamp<std::uint64_t>(blocks, 1, std::uint64_t{4} * multiprocessors()));
}

template <class... Parameters, class... Arguments>
void ArrayLaunch::operator()(const char* name, void (*kernel)(Parameters...), void* stream,
                             const Arguments&... arguments) const {
  with_shared(0, name, kernel, stream, arguments...);
}

template <class... Parameters, class... Arguments>
void ArrayLaunch::with_shared(std::size_t shared, const char* name, void (*kernel)(Parameters...),
                              void* stream, const Arguments&... arguments) const {
  launch(name, kernel, LaunchKind::Plain, LaunchOrder::AfterPrevious, blocks_, kArrayThreads, shared, stream,
         arguments...);
}

}  // namespace contorno
