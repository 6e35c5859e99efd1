// Network: gives a frame to a network in ONNX's format and makes class maps of what it answers.
// docs/reference/network.md has the parameters, the engines and what is refused.
//
// Input: an image, uint8 or float32, of 1, 3 or 4 channels (grey, RGB, RGBA).
//
// Output: class maps, planar float32, one channel a class, placed where the image is.
//
// Memory: the network's input and output as float32, and what the engine takes for itself. Unlike other
// stages it may allocate while it runs, where the engine does.
//
// Runs on the host, on both backends: the maps of a frame are the same bits whichever backend works on them.
// Preparation and activation are contorno's own arithmetic; an engine's may differ from machine to machine.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/graph/stage.h"
#include "stages/network/activation.h"
#include "stages/network/engine.h"
#include "stages/network/model.h"

namespace contorno {

enum class NetworkEngine : std::uint8_t { Auto, Opencv, Onnxruntime, Plugin };
enum class ChannelOrder : std::uint8_t { Rgb, Bgr, Gray };
enum class TensorLayout : std::uint8_t { Nchw, Nhwc };
enum class NetworkOutput : std::uint8_t { Probabilities, Logits };

struct NetworkParams {
  std::string model;
  NetworkEngine engine = NetworkEngine::Auto;
  ChannelOrder order = ChannelOrder::Rgb;
  double scale = 0;
  std::vector<double> mean;
  std::vector<double> std;
  std::vector<double> size;
  int multiple = 1;
  TensorLayout layout = TensorLayout::Nchw;
  NetworkOutput output = NetworkOutput::Probabilities;
  Activation activation = Activation::None;
  int threads = 0;
};

/// What a program brings that a stage does not know of.
struct NetworkParts {
  /// Both throw Error(Unavailable) where the engine is not installed.
  std::function<const contorno_engine&()> opencv{}, onnxruntime{};
  const contorno_engine* plugin = nullptr;  ///< engine of a plugin file that was loaded; null: none
  ReadNetworkCheck read_check{};            ///< empty: files of checks are not looked for
};

/// The engine that `wanted` means. Throws Error(Unavailable) where it is not there.
const contorno_engine& engine_of(NetworkEngine wanted, const NetworkParts& parts);

/// The declaration of the stage with these parts, which its copies share.
StageType network_with(const NetworkParts& parts);

}  // namespace contorno
