#include "pipeline/graph/direct.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "cuda/stream.h"
#include "pipeline/graph/applied.h"
#include "pipeline/shared/threads.h"
#include "pipeline/value/copy_contours.h"
#include "pipeline/value/sides.h"

namespace contorno {

class DirectStage::Context final : public PlanContext {
 public:
  Context(DirectStage& stage, std::span<const Format> inputs) : stage_(stage), inputs_(inputs) {}

  const Format& input(std::size_t port) const override { return inputs_[port]; }
  const Format& input_of_maker(std::size_t, std::size_t) const override {
    throw InternalError("a stage on its own takes no private value");
  }
  void set_output(std::size_t port, const Format& format) override {
    if (const auto* image = std::get_if<ImageFormat>(&format)) check_sides(*image, "what the stage makes");
    stage_.outputs_.at(port) = format;
  }
  Scratch scratch(std::size_t bytes, MemoryKind kind) override {
    stage_.requests_.push_back({bytes, kind});
    return {stage_.requests_.size() - 1};
  }
  State state(std::size_t bytes) override {
    const State asked{stage_.state_bytes_};
    stage_.state_bytes_ += align_up(bytes);
    return asked;
  }
  std::span<const ClassSpec> classes() const override { return stage_.classes_; }
  std::uint64_t capacity(std::uint64_t first_guess) const override {
    return std::max(first_guess, stage_.capacity_);
  }
  int threads() const override { return stage_.threads_; }
  const TextRasteriser* text() const override { return nullptr; }

 private:
  DirectStage& stage_;
  std::span<const Format> inputs_;
};

DirectStage::DirectStage(const StageType& type, const ParamSet& params, Backend backend, int threads,
                         std::vector<ClassSpec> classes)
    : type_(type), backend_(backend), threads_(decided_threads(threads)), classes_(std::move(classes)) {
  check_applicable(type);
  const auto& make = backend == Backend::Cuda ? type.make_cuda : type.make_cpu;
  if (!make)
    throw Error(ExitCode::Unavailable,
                fmt::format("the stage '{}' has no {} implementation", type.name, name_of(backend)));
  stage_ = make(params);
}

DirectStage::~DirectStage() = default;

void DirectStage::plan(std::span<const Format> inputs, void* stream) {
  check_input_count(type_, inputs.size());
  const bool same = std::equal(inputs.begin(), inputs.end(), inputs_.begin(), inputs_.end());
  if (ready_ && same) return;
  ready_ = false;
  for (const Format& input : inputs)
    if (const auto* image = std::get_if<ImageFormat>(&input)) check_sides(*image, "an input");
  if (!same) capacity_ = 0;
  inputs_.assign(inputs.begin(), inputs.end());
  requests_.clear(), blocks_.clear(), scratches_.clear(), state_bytes_ = 0;
  outputs_.assign(type_.outputs.size(), Format{});
  Context context(*this, inputs);
  stage_->plan(context);
  for (const Request& request : requests_) {
    const Block& block =
        blocks_.emplace_back(align_up(std::max<std::size_t>(request.bytes, 1)), request.kind);
    scratches_.push_back(block.data());
    // As in a graph, whose stages begin with zeros.
    if (request.kind == MemoryKind::Device) fill_async(block.data(), 0, block.size(), stream);
  }
  states_.plan(state_bytes_, backend_);
  plan_counts();
  ready_ = true;
}

/// Memory for how many contours there are; on the CPU the outputs themselves say it.
void DirectStage::plan_counts() {
  count_blocks_.clear();
  host_outputs_.assign(outputs_.size(), Value{});
  if (backend_ != Backend::Cuda) return;
  for (std::size_t port = 0; port < outputs_.size(); ++port)
    if (const auto* contours = std::get_if<ContoursFormat>(&outputs_[port])) {
      const Block& block = count_blocks_.emplace_back(packed_counts_bytes(*contours), MemoryKind::Pinned);
      host_outputs_[port] = packed_counts(block.data(), *contours);
    }
}

RunContext DirectStage::context(void* stream) const {
  RunContext context{.inputs = from_,
                     .outputs = to_,
                     .host_outputs = host_outputs_,
                     .scratches = scratches_,
                     .stream = stream,
                     .threads = threads_};
  states_.give_to(context);
  return context;
}

void DirectStage::enqueue(std::span<const Value> inputs, std::span<const Value> outputs, void* stream) {
  from_.assign(inputs.begin(), inputs.end());
  to_.assign(outputs.begin(), outputs.end());
  for (std::size_t port = 0; port < to_.size(); ++port)
    if (backend_ != Backend::Cuda || !std::holds_alternative<ContoursView>(to_[port]))
      host_outputs_[port] = to_[port];
  states_.bring(frame_, stream);
  stage_->run(context(stream));
  if (backend_ != Backend::Cuda) return;
  for (std::size_t port = 0; port < to_.size(); ++port)
    if (const auto* contours = std::get_if<ContoursView>(&to_[port]))
      copy_contours_async(*contours, std::get<ContoursView>(host_outputs_[port]), stream);
}

bool DirectStage::overflowed() {
  const std::uint64_t needed = stage_->overflow(context(nullptr));
  if (needed == 0) {
    states_.settle();
    return false;
  }
  capacity_ = capacity_to_plan(needed);
  ready_ = false;
  return true;
}

const std::uint32_t* DirectStage::selection() const {
  const std::optional<Scratch> found = stage_->selection();
  return found ? reinterpret_cast<const std::uint32_t*>(scratches_[found->index]) : nullptr;
}

}  // namespace contorno
