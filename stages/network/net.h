// A model opened by an engine, for one slot.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "stages/network/model.h"
#include "stages/network/stage.h"

namespace contorno {

using TensorSides = std::array<std::int64_t, 4>;

/// "1x3x96x512", for messages.
std::string describe(const TensorSides& sides);
/// The numbers of a tensor.
std::size_t tensor_count(const TensorSides& sides);

class Net {
 public:
  /// Looks the model through and opens it. Throws Error(BadConfig), Error(OutOfMemory).
  Net(std::shared_ptr<LoadedModel> model, const contorno_engine& engine, int threads);
  ~Net() { engine_.close(net_); }
  Net(const Net&) = delete;
  Net& operator=(const Net&) = delete;

  /// The sides of the output for an input of these. Throws Error(BadConfig).
  TensorSides plan(const TensorSides& in);
  /// Computes an input of the sides that were planned. Throws Error(BadData) where the engine fails, and
  /// Error(Unavailable) where it has failed for kMostFailures frames in a row.
  void run(const float* in, float* out) const;
  /// Computes an input for a test: a failure does not count. Throws Error(BadConfig).
  void try_run(const float* in, float* out) const;

  LoadedModel& model() const { return *model_; }
  const contorno_engine_facts& facts() const { return facts_; }
  /// "network: model 'net.onnx', opencv 4.6.0"
  std::string name() const;

  static constexpr int kMostFailures = 10;

 private:
  [[noreturn]] void refuse(contorno_engine_result result, const char* why, ExitCode code) const;

  std::shared_ptr<LoadedModel> model_;
  const contorno_engine& engine_;
  contorno_engine_facts facts_{};
  void* net_ = nullptr;
};

}  // namespace contorno
