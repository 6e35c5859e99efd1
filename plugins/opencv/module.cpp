#include <fmt/format.h>

#include <opencv2/imgproc.hpp>

#include "base/error.h"
#include "pipeline/shared/module.h"
#include "plugins/opencv/edges.h"

namespace contorno {
namespace {

/// Shares the samples.
cv::Mat mat_of(const ImageView& image) {
  return {image.format.height, image.format.width, CV_8UC1, image.data,
          static_cast<std::size_t>(image.row_pitch)};
}

void find_edges_by_opencv(const ImageView& grey, const CannyParams& params, const ImageView& edges) try {
  cv::setNumThreads(1);  // a picture takes milliseconds; threads could be refused
  cv::Mat smooth = mat_of(grey), found = mat_of(edges);
  if (params.sigma > 0) {
    smooth = cv::Mat();  // not in the caller's samples
    cv::GaussianBlur(mat_of(grey), smooth, cv::Size(), params.sigma);
  }
  constexpr int kSobelSize = 3;
  constexpr bool kEuclidean = true;
  cv::Canny(smooth, found, params.low, params.high, kSobelSize, kEuclidean);
} catch (const cv::Exception& error) {
  const bool memory = error.code == cv::Error::StsNoMem;
  throw Error(memory ? ExitCode::OutOfMemory : ExitCode::Internal, fmt::format("OpenCV: {}", error.err));
}

constexpr OpencvModule kTable{.find_edges = find_edges_by_opencv};

}  // namespace
}  // namespace contorno

CONTORNO_MODULE(contorno::kTable);
