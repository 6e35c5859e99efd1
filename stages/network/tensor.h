// From an image to the tensor that a network takes, and from the tensor that it gives to class maps. Sides
// that the network needs and the image does not have are made by reflection at the right and at the bottom,
// and are left out of the maps.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pipeline/graph/stage.h"
#include "stages/network/net.h"

namespace contorno {

class TensorPlan {
 public:
  TensorPlan() = default;
  /// Throws Error(BadConfig) for an image or parameters that do not fit the model's input.
  TensorPlan(const NetworkParams& params, const ImageFormat& in, const OnnxValue& input);

  const TensorSides& sides() const { return sides_; }
  int channels() const { return channels_; }

  /// Writes (sample * scale - mean) / std, for every sample of the tensor.
  void fill(const ImageView& image, float* tensor, int threads) const;
  /// The maps of `channels` channels from the network's output, of the tensor's height and width.
  /// `activation` may change `tensor`.
  void take(float* tensor, const ImageView& maps, Activation activation, int threads) const;
  /// Writes what numbers from `next`, 0 to 1, become as samples: an input for tests.
  void fill_with(float* tensor, const std::function<float()>& next) const;
  /// The sum over the channels of the first pixel, of an output with so many channels.
  double sum_at_first_pixel(const float* tensor, int channels) const;
  /// The channels of an output of these sides; throws Error(BadConfig) where its height and width are not
  /// those of the input.
  int channels_of(const TensorSides& out, const std::string& who) const;

 private:
  void choose_sides(const NetworkParams& params, const OnnxValue& input);
  void fill_row(const ImageView& image, float* tensor, int y) const;
  float value(const ImageView& image, int x, int y, int channel) const;
  /// What the network is given for a sample.
  float prepared(float raw, int channel) const {
    const auto c = static_cast<std::size_t>(channel);
    return static_cast<float>((static_cast<double>(raw) * scale_ - mean_[c]) / std_[c]);
  }

  ImageFormat in_;
  TensorLayout layout_ = TensorLayout::Nchw;
  ChannelOrder order_ = ChannelOrder::Rgb;
  TensorSides sides_{};
  int channels_ = 0, width_ = 0, height_ = 0;  // of the tensor
  double scale_ = 1;
  std::vector<double> mean_, std_;
  std::vector<int> column_, row_;  // of the image, for each of the tensor
};

}  // namespace contorno
