// The declaration of contour_prep, and how steps run in turn, on either backend.
#include "stages/contour_prep/stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "cuda/error.h"

namespace contorno {
namespace {

constexpr std::size_t kKinds = 3;         // of memory
constexpr std::size_t kMostScratch = 48;  // blocks of one step

/// Temporary memory of one step: where it begins in the block that all steps share, by kind.
struct Temporary {
  MemoryKind kind = MemoryKind::Host;
  std::size_t offset = 0;
};
/// A block that a step asked for: one of its own, or a part of what is shared.
struct StepScratch {
  bool own = false;
  Scratch block;
  Temporary part;
};

/// A step as it was planned.
struct PlannedStep {
  std::unique_ptr<Stage> stage;
  ContoursFormat output;
  std::vector<StepScratch> scratches;
};

/// What a step sees while it is planned.
class StepContext final : public PlanContext {
 public:
  StepContext(PlanContext& whole, const ContoursFormat& input, PlannedStep& step)
      : whole_(whole), input_(input), step_(step) {}

  const Format& input(std::size_t) const override { return input_; }
  const Format& input_of_maker(std::size_t, std::size_t) const override {
    throw InternalError("a step takes no private value");
  }
  void set_output(std::size_t, const Format& format) override {
    step_.output = std::get<ContoursFormat>(format);
  }
  Scratch scratch(std::size_t bytes, MemoryKind kind) override {
    return add({.own = true, .block = whole_.scratch(bytes, kind), .part = {}});
  }
  Scratch temporary(std::size_t bytes, MemoryKind kind) override {
    std::size_t& used = used_[static_cast<std::size_t>(kind)];
    const StepScratch part{.own = false, .block = {}, .part = {kind, used}};
    used += align_up(bytes);
    return add(part);
  }
  std::span<const ClassSpec> classes() const override { return whole_.classes(); }
  std::uint64_t capacity(std::uint64_t first_guess) const override { return whole_.capacity(first_guess); }
  int threads() const override { return whole_.threads(); }
  const TextRasteriser* text() const override { return whole_.text(); }

  /// Bytes of temporary memory by kind.
  const std::array<std::size_t, kKinds>& used() const { return used_; }

 private:
  Scratch add(const StepScratch& one) {
    if (step_.scratches.size() == kMostScratch) throw InternalError("a step asks for too many blocks");
    step_.scratches.push_back(one);
    return {step_.scratches.size() - 1};
  }

  PlanContext& whole_;
  Format input_;
  PlannedStep& step_;
  std::array<std::size_t, kKinds> used_{};
};

class ContourPrep final : public Stage {
 public:
  ContourPrep(const ContourPrepParams& params, Backend backend)
      : memory_(backend == Backend::Cuda ? MemoryKind::Device : MemoryKind::Host) {
    if (!params.steps) throw Error(ExitCode::BadConfig, "contour_prep: steps is missing");
    for (const StepSpec& spec : *params.steps) {
      const auto& make = backend == Backend::Cuda ? spec.type->make_cuda : spec.type->make_cpu;
      if (!make)
        throw Error(ExitCode::Unavailable, fmt::format("contour_prep: the step '{}' has no {} implementation",
                                                       spec.type->name, name_of(backend)));
      steps_.push_back({.stage = make(spec.params), .output = {}, .scratches = {}});
    }
  }

  void plan(PlanContext& context) override {
    shared_bytes_ = {};
    ContoursFormat format = std::get<ContoursFormat>(context.input(0));
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      plan_step(context, i, format);
      format = steps_[i].output;
    }
    place(context);
  }

  void run(const RunContext& context) const override {
    const auto& out = std::get<ContoursView>(context.outputs[0]);
    auto* const between = context.scratch<std::byte>(between_);
    Value from = context.inputs[0];
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const PlannedStep& step = steps_[i];
      ContoursView view = out;
      if (i + 1 < steps_.size())
        view = packed_view(writes_output(i) ? static_cast<void*>(out.counts) : between, step.output);
      view.format = step.output;
      const Value to = view;
      Addresses addresses;
      step.stage->run(context_of(context, step, from, to, addresses));
      from = to;
    }
  }

  std::uint64_t overflow(const RunContext& context) const override {
    std::uint64_t needed = 0;
    const Value nothing;
    for (const PlannedStep& step : steps_) {
      Addresses addresses;
      needed = std::max(needed, step.stage->overflow(context_of(context, step, nothing, nothing, addresses)));
    }
    return needed;
  }

 private:
  using Addresses = std::array<std::byte*, kMostScratch>;

  void plan_step(PlanContext& context, std::size_t i, const ContoursFormat& input) {
    PlannedStep& step = steps_[i];
    step.scratches.clear();
    StepContext one(context, input, step);
    try {
      step.stage->plan(one);
    } catch (const InternalError&) {
      throw;
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("contour_prep: steps[{}]: {}", i, error.what()));
    }
    for (std::size_t kind = 0; kind < kKinds; ++kind)
      shared_bytes_[kind] = std::max(shared_bytes_[kind], one.used()[kind]);
  }

  /// What a step sees of `whole`; `addresses` must live as long.
  RunContext context_of(const RunContext& whole, const PlannedStep& step, const Value& from, const Value& to,
                        Addresses& addresses) const {
    for (std::size_t k = 0; k < step.scratches.size(); ++k) addresses[k] = address(whole, step.scratches[k]);
    return {.inputs = {&from, 1},
            .outputs = {&to, 1},
            .host_outputs = {&to, 1},
            .uploads = {},
            .scratches = {addresses.data(), step.scratches.size()},
            .stream = whole.stream,
            .threads = whole.threads};
  }

  /// The steps write to the output and to the block between in turn, the last one to the output.
  bool writes_output(std::size_t step) const { return (steps_.size() - 1 - step) % 2 == 0; }

  void place(PlanContext& context) {
    ContoursFormat out = steps_.back().output;
    std::size_t between = 0;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const ContoursFormat& format = steps_[i].output;
      if (!writes_output(i)) {
        between = std::max(between, packed_bytes(format));
        continue;
      }
      // What passes through the output's memory has to fit into it.
      out.point_capacity = std::max(out.point_capacity, format.point_capacity);
      out.contour_capacity = std::max(out.contour_capacity, format.contour_capacity);
    }
    between_ = context.temporary(between, memory_);
    for (std::size_t kind = 0; kind < kKinds; ++kind)
      if (shared_bytes_[kind] > 0)
        shared_[kind] = context.temporary(shared_bytes_[kind], static_cast<MemoryKind>(kind));
    context.set_output(0, out);
  }

  std::byte* address(const RunContext& context, const StepScratch& one) const {
    if (one.own) return context.scratch<std::byte>(one.block);
    return context.scratch<std::byte>(shared_[static_cast<std::size_t>(one.part.kind)]) + one.part.offset;
  }

  MemoryKind memory_;
  std::vector<PlannedStep> steps_;
  std::array<std::size_t, kKinds> shared_bytes_{};
  std::array<Scratch, kKinds> shared_;
  Scratch between_;
};

ParamDeclaration contour_prep_params() {
  ParamList<ContourPrepParams> list;
  list.required_steps("steps", &ContourPrepParams::steps, contour_steps,
                      "What is done with the contours, in this order.");
  return declare<ContourPrepParams>(
      std::move(list), [](const ContourPrepParams& params, const ParamTrial& trial) {
        if (!params.steps) return;  // said elsewhere
        for (const StepSpec& step : *params.steps)
          step.params.try_out(
              {trial.output_root(), [&](std::string_view param, ExitCode code, const std::string& reason) {
                 trial.refuse("steps", code, fmt::format("{}: {}: {}", step.type->name, param, reason));
               }});
      });
}

}  // namespace

const StageType& contour_prep_stage() {
  static const StageType type {
    .name = "contour_prep", .summary = "Runs an ordered list of steps on contours.",
    .inputs = {{.name = "contours", .type = PortType::Contours, .sentence = "Contours of all classes."}},
    .outputs = {{.name = "contours",
                 .type = PortType::Contours,
                 .sentence = "The contours that the last step gives."}},
    .params = contour_prep_params(),
    .example =
        "- type: contour_prep\n"
        "  steps:\n"
        "    - {type: drop_small, min_points: 4}\n"
        "    - {type: largest_first, limit: 20}\n"
        "    - {type: drop_small, min_area: 1.5}\n",
    .make_cpu = [](const ParamSet& params) -> std::unique_ptr<Stage> {
      return std::make_unique<ContourPrep>(params.as<ContourPrepParams>(), Backend::Cpu);
    },
#if CONTORNO_HAVE_CUDA
    .make_cuda = [](const ParamSet& params) -> std::unique_ptr<Stage> {
      return std::make_unique<ContourPrep>(params.as<ContourPrepParams>(), Backend::Cuda);
    },
#endif
  };
  return type;
}

}  // namespace contorno
