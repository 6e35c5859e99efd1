#include "stages/network/net.h"

#include <fmt/format.h>

#include "base/error.h"
#include "pipeline/shared/printable.h"

namespace contorno {

std::string describe(const TensorSides& sides) {
  return fmt::format("{}x{}x{}x{}", sides[0], sides[1], sides[2], sides[3]);
}

std::size_t tensor_count(const TensorSides& sides) {
  std::size_t count = 1;
  for (const std::int64_t side : sides) count *= static_cast<std::size_t>(side);
  return count;
}

Net::Net(std::shared_ptr<LoadedModel> model, const contorno_engine& engine, int threads)
    : model_(std::move(model)), engine_(engine) {
  engine_.describe(&facts_);
  check_model(*model_, facts_);
  const contorno_engine_model given{.bytes = model_->bytes.data(),
                                    .size = model_->bytes.size(),
                                    .input = model_->onnx.inputs[0].name.c_str(),
                                    .output = model_->onnx.outputs[0].name.c_str(),
                                    .threads = threads};
  char why[CONTORNO_ENGINE_WHY] = {};
  const contorno_engine_result result = engine_.open(&given, &net_, why);
  if (result != CONTORNO_ENGINE_OK) refuse(result, why, ExitCode::BadConfig);
}

std::string Net::name() const {
  return fmt::format("network: {}, {} {}", model_name(model_->path), printable(facts_.name),
                     printable(facts_.version));
}

void Net::refuse(contorno_engine_result result, const char* why, ExitCode code) const {
  if (result == CONTORNO_ENGINE_NO_MEMORY) throw Error(ExitCode::OutOfMemory, name() + ": out of memory");
  throw Error(code, fmt::format("{}: {}", name(), printable(why, CONTORNO_ENGINE_WHY)));
}

TensorSides Net::plan(const TensorSides& in) {
  TensorSides out{};
  char why[CONTORNO_ENGINE_WHY] = {};
  const contorno_engine_result result = engine_.plan(net_, in.data(), out.data(), why);
  if (result != CONTORNO_ENGINE_OK)
    refuse(result, fmt::format("an input of {} does not go through: {}", describe(in), why).c_str(),
           ExitCode::BadConfig);
  return out;
}

void Net::try_run(const float* in, float* out) const {
  char why[CONTORNO_ENGINE_WHY] = {};
  const contorno_engine_result result = engine_.run(net_, in, out, why);
  if (result != CONTORNO_ENGINE_OK) refuse(result, why, ExitCode::BadConfig);
}

void Net::run(const float* in, float* out) const {
  char why[CONTORNO_ENGINE_WHY] = {};
  const contorno_engine_result result = engine_.run(net_, in, out, why);
  if (result == CONTORNO_ENGINE_OK) {
    model_->failed_in_a_row.store(0, std::memory_order_relaxed);
    return;
  }
  if (model_->failed_in_a_row.fetch_add(1, std::memory_order_relaxed) + 1 >= kMostFailures)
    refuse(result,
           fmt::format("{} frames in a row have failed, the last one: {}", kMostFailures, why).c_str(),
           ExitCode::Unavailable);
  refuse(result, why, ExitCode::BadData);
}

}  // namespace contorno
