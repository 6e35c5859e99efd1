// The functions of ArrayLaunch.
#pragma once

#include "stages/contour_prep/shared/array_launch.h"
#include "stages/contour_prep/shared/threads.cuh"

namespace contorno {

inline void ArrayLaunch::plan() {
  blocks_ = 4 * multiprocessors();
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
