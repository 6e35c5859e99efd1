#include "cuda/counted_copy.cuh"

namespace contorno {

void copy_counted(const CountedCopy& copy, void* stream) {
  // Enough to keep the link to the host busy, and few enough to start in no time.
  constexpr unsigned kBlocks = 64;
  if (copy.gathered.size > kBlocks * kCountedThreads) throw InternalError("copy_counted: too many words");
  launch("copy_counted_arrays", copy_counted_arrays, LaunchKind::Plain, LaunchOrder::AfterPrevious, kBlocks,
         kCountedThreads, 0, stream, copy);
}

}  // namespace contorno
