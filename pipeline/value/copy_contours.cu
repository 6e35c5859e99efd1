#include "pipeline/value/copy_contours.cuh"

namespace contorno {

void copy_contours_async(const ContoursView& from, const ContoursView& to, void* stream) {
  // Enough to keep the link to the host busy, and few enough to start in no time.
  constexpr unsigned kBlocks = 64;
  launch("copy_contours_that_exist", copy_contours_that_exist, LaunchKind::Plain, LaunchOrder::AfterPrevious,
         kBlocks, kCopyThreads, 0, stream, from, to);
}

}  // namespace contorno
