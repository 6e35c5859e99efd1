#include "pipeline/value/download.cuh"

namespace contorno {

void copy_contours_async(const ContoursView& from, const ContoursView& to, void* stream) {
  // Enough to keep the link to the host busy, and few enough to start in no time.
  constexpr unsigned kBlocks = 64;
  launch("download_contours", download_contours, LaunchKind::Plain, LaunchOrder::AfterPrevious, kBlocks,
         kDownloadThreads, 0, stream, from, to);
}

}  // namespace contorno
