// A second, plain implementation of background, frame after frame, and frames to try it on.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "stages/background/stage.h"
#include "tests/stages/harness.h"

namespace contorno::test {

/// Frames of one format, sample after sample.
using PictureSamples = std::vector<std::uint8_t>;

inline constexpr int kSceneWidth = 37, kSceneHeight = 23;

/// A scene with noise, in which a square moves; without a reference it is in the first frame too.
inline PictureSamples scene_frame(int number, int channels, int width = kSceneWidth,
                                  int height = kSceneHeight) {
  PictureSamples samples;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c) {
        const int noise = (x * 31 + y * 17 + c * 7 + number * 13) % 5;
        const bool object = x >= number * 2 && x < number * 2 + 9 && y >= 6 && y < 15;
        samples.push_back(static_cast<std::uint8_t>((object ? 200 - 60 * c : 40 + 3 * x + 20 * c) + noise));
      }
  return samples;
}

/// The scene as numbers with fractions, in levels, and the map of each frame.
class PlainBackground {
 public:
  PlainBackground(const BackgroundParams& params, int channels, std::vector<double> reference = {})
      : params_(params), channels_(channels), given_(!reference.empty()), scene_(std::move(reference)) {}

  std::vector<double> next(const PictureSamples& frame) {
    const int colours = channels_ == 1 ? 1 : 3;
    const std::size_t pixels = frame.size() / static_cast<std::size_t>(channels_);
    const bool begins = scene_.empty();
    if (begins)
      for (std::size_t i = 0; i < pixels; ++i)
        for (int c = 0; c < colours; ++c) scene_.push_back(level(frame, i, c));
    std::vector<double> map;
    // In 256ths of a level, without fractions.
    double step = std::round(params_.rate * 256);
    if (!given_ && step > 0 && frames_ > 0) step = std::max(step, std::floor(32.0 * 256 / frames_));
    for (std::size_t i = 0; i < pixels; ++i) {
      double mean = 0, squares = 0;
      for (int c = 0; c < colours; ++c) mean += away(frame, i, c) / colours;
      for (int c = 0; c < colours; ++c) squares += std::pow(away(frame, i, c) - mean, 2) / colours;
      const double squared = std::pow(params_.lightness * mean, 2) + squares;
      map.push_back(squared / (squared + params_.threshold * params_.threshold));
      if (!begins)
        for (int c = 0; c < colours; ++c) {
          double& scene = scene_[i * static_cast<std::size_t>(colours) + static_cast<std::size_t>(c)];
          scene += std::clamp(level(frame, i, c) - scene, -step / 256, step / 256);
        }
    }
    ++frames_;
    return map;
  }

 private:
  double level(const PictureSamples& frame, std::size_t pixel, int c) const {
    return frame[pixel * static_cast<std::size_t>(channels_) + static_cast<std::size_t>(c)];
  }
  double away(const PictureSamples& frame, std::size_t pixel, int c) const {
    const std::size_t colours = channels_ == 1 ? 1 : 3;
    return (level(frame, pixel, c) - scene_[pixel * colours + static_cast<std::size_t>(c)]) / 255;
  }

  BackgroundParams params_;
  int channels_;
  bool given_;
  std::vector<double> scene_;
  double frames_ = 0;
};

inline TestImage image_of(const PictureSamples& samples, int channels, std::size_t row_extra = 0,
                          int width = kSceneWidth, int height = kSceneHeight) {
  const ImageFormat format{.width = width, .height = height, .channels = channels};
  return filled_image<std::uint8_t>(
      format,
      [&](int x, int y, int c) { return samples[static_cast<std::size_t>((y * width + x) * channels + c)]; },
      row_extra);
}

/// The mask that stands for a picture with these samples, three a pixel.
inline SharedMask picture_of(const PictureSamples& samples, int width = kSceneWidth,
                             int height = kSceneHeight) {
  auto mask = std::make_shared<Mask>(Mask{.width = width, .height = height});
  for (std::size_t i = 0; i + 2 < samples.size(); i += 3)
    mask->values.push_back(std::round(0.299 * samples[i] + 0.587 * samples[i + 1] + 0.114 * samples[i + 2]));
  mask->colours = samples;
  return mask;
}

}  // namespace contorno::test
