#include "pipeline/graph/direct.h"

#include <fmt/format.h>

#include <algorithm>

#include "cuda/error.h"
#include "cuda/stream.h"
#include "pipeline/graph/applied.h"
#include "pipeline/shared/threads.h"

namespace contorno {

class DirectStage::Context final : public PlanContext {
 public:
  Context(DirectStage& stage, std::span<const ImageFormat> inputs) : stage_(stage) {
    inputs_.assign(inputs.begin(), inputs.end());
    outputs.resize(stage.type_.outputs.size());
  }

  const Format& input(std::size_t port) const override { return inputs_.at(port); }
  const Format& input_of_maker(std::size_t, std::size_t) const override {
    throw InternalError("a stage that is applied to images takes no private value");
  }
  void set_output(std::size_t port, const Format& format) override { outputs.at(port) = format; }
  Scratch scratch(std::size_t bytes, MemoryKind kind) override {
    stage_.requests_.push_back({bytes, kind});
    return {stage_.requests_.size() - 1};
  }
  std::span<const ClassSpec> classes() const override { return stage_.classes_; }
  std::uint64_t capacity(std::uint64_t first_guess) const override { return first_guess; }
  int threads() const override { return stage_.threads_; }
  const TextRasteriser* text() const override { return nullptr; }

  std::vector<Format> outputs;

 private:
  DirectStage& stage_;
  std::vector<Format> inputs_;
};

DirectStage::DirectStage(const StageType& type, const ParamSet& params, Backend backend, int threads,
                         std::vector<ClassSpec> classes)
    : type_(type), backend_(backend), threads_(decided_threads(threads)), classes_(std::move(classes)) {
  check_takes_images(type);
  const auto& make = backend == Backend::Cuda ? type.make_cuda : type.make_cpu;
  if (!make)
    throw Error(ExitCode::Unavailable,
                fmt::format("the stage '{}' has no {} implementation", type.name, name_of(backend)));
  stage_ = make(params);
}

DirectStage::~DirectStage() = default;

void DirectStage::plan(std::span<const ImageFormat> inputs, void* stream) {
  check_input_count(type_, inputs.size());
  if (ready_ && std::equal(inputs.begin(), inputs.end(), inputs_.begin(), inputs_.end())) return;
  ready_ = false;
  requests_.clear(), blocks_.clear(), scratches_.clear(), outputs_.clear();
  Context context(*this, inputs);
  stage_->plan(context);
  for (const Format& format : context.outputs) {
    const auto* image = std::get_if<ImageFormat>(&format);
    if (image == nullptr)
      throw Error(ExitCode::BadOption, fmt::format("the stage '{}' makes {}, not an image; use it in a graph",
                                                   type_.name, name_of(port_type(format))));
    outputs_.push_back(*image);
  }
  for (const Request& request : requests_) {
    const Block& block =
        blocks_.emplace_back(align_up(std::max<std::size_t>(request.bytes, 1)), request.kind);
    scratches_.push_back(block.data());
    // As in a graph, whose stages begin with zeros.
    if (request.kind == MemoryKind::Device) fill_async(block.data(), 0, block.size(), stream);
  }
  inputs_.assign(inputs.begin(), inputs.end());
  ready_ = true;
}

void DirectStage::enqueue(std::span<const ImageView> inputs, std::span<const ImageView> outputs,
                          void* stream) {
  from_.assign(inputs.begin(), inputs.end());
  to_.assign(outputs.begin(), outputs.end());
  stage_->run({.inputs = from_,
               .outputs = to_,
               .host_outputs = to_,
               .scratches = scratches_,
               .stream = stream,
               .threads = threads_});
}

}  // namespace contorno
