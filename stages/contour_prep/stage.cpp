// The declaration of contour_prep, and how steps run in turn, on either backend.
#include "stages/contour_prep/stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/error.h"
#include "stages/contour_prep/shared/contour_step.h"

namespace contorno {
namespace {

constexpr std::size_t kKinds = 3;         // of memory
constexpr std::size_t kMostScratch = 48;  // blocks of one step

/// A block that a step asked for: one of its own, or a part of the temporary memory that all steps share.
struct StepScratch {
  bool is_own = false;
  Scratch own;
  MemoryKind kind = MemoryKind::Host;  ///< of the shared memory
  std::size_t offset = 0;              ///< in the shared memory of that kind
};

/// Where a step writes to: the stage's output, or one of two blocks between steps.
enum class Target : std::uint8_t { Output, Between, OtherBetween };

/// A step as it was planned.
struct PlannedStep {
  std::unique_ptr<Stage> stage;
  ContoursFormat output;
  Target target = Target::Output;
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
    return add({.is_own = true, .own = whole_.scratch(bytes, kind)});
  }
  Scratch temporary(std::size_t bytes, MemoryKind kind) override {
    std::size_t& used = used_[static_cast<std::size_t>(kind)];
    const std::size_t offset = used;
    used += align_up(bytes);
    return add({.kind = kind, .offset = offset});
  }
  State state(std::size_t bytes) override { return whole_.state(bytes); }
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
      steps_.push_back({.stage = make(spec.params), .output = {}, .target = {}, .scratches = {}});
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
    Value from = context.inputs[0];
    for (const PlannedStep& step : steps_) {
      // The last step has the output's own format; others use its memory for theirs.
      const Value to =
          &step == &steps_.back() ? out : packed_view(block_of(context, step.target), step.output);
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

  /// Those of the last step that follows objects.
  std::span<const TrackCounts> track_counts(const RunContext& context) const override {
    std::span<const TrackCounts> counts;
    const Value nothing;
    for (const PlannedStep& step : steps_) {
      Addresses addresses;
      const auto of_step = step.stage->track_counts(context_of(context, step, nothing, nothing, addresses));
      if (!of_step.empty()) counts = of_step;
    }
    return counts;
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
            .threads = whole.threads,
            .states_before = whole.states_before,
            .states_after = whole.states_after,
            .frame_number = whole.frame_number};
  }

  /// No step writes to where it reads from. The last one writes to the output; from there back, a step writes
  /// to the output's memory wherever that is free and large enough.
  void choose_targets() {
    const std::size_t room = packed_bytes(steps_.back().output);
    Target next = Target::Output;
    steps_.back().target = next;
    for (std::size_t i = steps_.size() - 1; i-- > 0;) {
      const bool fits = next != Target::Output && packed_bytes(steps_[i].output) <= room;
      next = fits ? Target::Output : next == Target::Between ? Target::OtherBetween : Target::Between;
      steps_[i].target = next;
    }
  }

  void place(PlanContext& context) {
    choose_targets();
    for (const Target target : {Target::Between, Target::OtherBetween}) {
      std::size_t bytes = 0;
      for (const PlannedStep& step : steps_)
        if (step.target == target) bytes = std::max(bytes, packed_bytes(step.output));
      if (bytes > 0)
        (target == Target::Between ? between_ : other_between_) = context.temporary(bytes, memory_);
    }
    for (std::size_t kind = 0; kind < kKinds; ++kind)
      if (shared_bytes_[kind] > 0)
        shared_[kind] = context.temporary(shared_bytes_[kind], static_cast<MemoryKind>(kind));
    context.set_output(0, steps_.back().output);
  }

  void* block_of(const RunContext& context, Target target) const {
    if (target == Target::Output) return std::get<ContoursView>(context.outputs[0]).counts;
    return context.scratch<std::byte>(target == Target::Between ? between_ : other_between_);
  }

  std::byte* address(const RunContext& context, const StepScratch& one) const {
    if (one.is_own) return context.scratch<std::byte>(one.own);
    return context.scratch<std::byte>(shared_[static_cast<std::size_t>(one.kind)]) + one.offset;
  }

  MemoryKind memory_;
  std::vector<PlannedStep> steps_;
  std::array<std::size_t, kKinds> shared_bytes_{};
  std::array<Scratch, kKinds> shared_;
  Scratch between_, other_between_;
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
  static const StageType type = contour_step({
    .name = "contour_prep", .summary = "Runs an ordered list of steps on contours.",
    .gives = "The contours that the last step gives.", .params = contour_prep_params(),
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
  });
  return type;
}

}  // namespace contorno
