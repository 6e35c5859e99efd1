// Steps that work on one contour at a time. Such a step is a function object, a struct that both backends
// copy, with
//
//   Params, kName         its parameters, which it is made from, and its name
//   kGives                which kind of result it has, which also says how it is called; see Gives
//   kAttributes           where it gives attributes: which (Attributes)
//   output(context, format)   where it gives points: the format of its output, with room for as many points
//   kTeams, kRoom         on a device: how many threads work on a contour (ContourTeams); bytes of their fast
//                         memory, if any (BlockTeam::room)
//   arrays(take, format)  its memory within a frame (arrays.h), if it needs any
//   tables(tables, params, format)   what it reads in every frame, if there is anything
//   work                  on a device: how much it may do for a contour, if there is a limit (WorkLimit)
//
// The rest exists once: the stage here, loops over contours in on_host.h and kernels in on_device.cuh. In
// contorno itself a folder has such a step in stage.h and its declaration in cpu.cpp, and steps.cu a line.
#pragma once

#include "geometry/contour_size.h"
#include "geometry/team.h"
#include "stages/contour_prep/shared/arrays.h"
#include "stages/contour_prep/shared/contour_step.h"
#include "stages/contour_prep/shared/outputs.h"

namespace contorno {

/// What a step gives for each contour. It is called by all threads of a team (geometry/team.h); what it
/// returns is that of the first one.
enum class Gives : std::uint8_t {
  Choice,      ///< bool step(team, in, contour): whether the contour stays
  Attributes,  ///< step(team, out, contour) writes kAttributes; the contour has been copied to `out`
  Shape,       ///< step(team, out, contour) moves its points, the repeated last one too; likewise
  Marks,       ///< step(team, own, keep): keep[i] becomes 1 if own point i of the contour stays, else 0
  Points,      ///< step.count(team, in, contour): how many points it gets, with the repeated last one, or 0;
               ///< then step.write(team, in, contour, points, count) writes them
};

/// How much a step does for one contour on a device, where the worst contours cost the square of their points
/// and the CPU, which works on one point after the other, does better. What is beyond the limit is refused
/// instead of being computed until the device is given up (device_timeout). A step with such a limit has one
/// as its member `work`, and throw_too_much_work(points), which throws Error(BadData); its stage fills it in.
struct WorkLimit {
  /// Points that are looked at for one contour. Contours of maps need up to some 50 looks a point; this is
  /// the square of 131,072 points.
  static constexpr std::uint64_t kMostLooks = std::uint64_t{1} << 34;

  std::uint64_t most = kMostLooks;
  /// Page-locked: the points of a contour that needs more, 0 as long as there is none. Null: every contour
  /// that has room is within the limit.
  unsigned* refused = nullptr;

  /// Whether a contour of so many points can be beyond the limit.
  bool can_be_met(std::uint64_t points) const { return points > 0 && points > most / points; }
  CONTORNO_HD bool is_met(std::uint64_t looks) const { return refused != nullptr && looks > most; }
};
/// Calls a step for a contour of a frame by one of the structs below, which have what it reads and writes.
/// Launched by TeamLaunch.
template <class Step, class Call>
struct StepCall {
  static constexpr ContourTeams kTeams = Step::kTeams;
  static constexpr std::size_t kRoom = [] {
    if constexpr (requires { Step::kRoom; })
      return std::size_t{Step::kRoom};
    else
      return std::size_t{0};
  }();
  Step step;
  ContoursView contours;
  Call call;

  CONTORNO_FOR_TEAMS
  template <class Team>
  CONTORNO_HD void operator()(const Team& team, std::uint32_t contour) const {
    call(team, step, contours, contour);
  }
};

/// Before a step that may refuse a contour.
struct ClearRefused {
  unsigned* refused;
  CONTORNO_HD void operator()(unsigned) const { *refused = 0; }
};

struct ChooseCall {
  std::uint8_t* chosen;
  CONTORNO_FOR_TEAMS
  template <class Team, class Step>
  CONTORNO_HD void operator()(const Team& team, const Step& step, const ContoursView& in,
                              std::uint32_t contour) const {
    const bool stays = step(team, in, contour);
    if (team.is_first()) chosen[contour] = stays ? 1 : 0;
  }
};
struct ChangeCall {
  std::uint32_t* sources;  ///< see Stage::selection; null where attributes do not change
  CONTORNO_FOR_TEAMS
  template <class Team, class Step>
  CONTORNO_HD void operator()(const Team& team, const Step& step, const ContoursView& out,
                              std::uint32_t contour) const {
    step(team, out, contour);
    if (sources != nullptr && team.is_first()) sources[contour] = contour;
  }
};
struct MarkCall {
  std::uint8_t* keep;
  CONTORNO_FOR_TEAMS
  template <class Team, class Step>
  CONTORNO_HD void operator()(const Team& team, const Step& step, const ContoursView& in,
                              std::uint32_t contour) const {
    const OwnPoints own(in, contour);
    step(team, own, keep + own.begin);
  }
};
struct CountCall {
  std::uint64_t* counts;
  CONTORNO_FOR_TEAMS
  template <class Team, class Step>
  CONTORNO_HD void operator()(const Team& team, const Step& step, const ContoursView& in,
                              std::uint32_t contour) const {
    const std::uint64_t count = step.count(team, in, contour);
    if (team.is_first()) counts[contour] = count;
  }
};
struct WriteCall {
  ContoursView out;
  CONTORNO_FOR_TEAMS
  template <class Team, class Step>
  CONTORNO_HD void operator()(const Team& team, const Step& step, const ContoursView& in,
                              std::uint32_t contour) const {
    if (!out.fits()) return;
    const std::uint32_t begin = out.offsets[contour];
    step.write(team, in, contour, out.points + begin, out.offsets[contour + 1] - begin);
  }
};

/// The stage of a step, on a backend: OnHost or OnDevice.
template <class Step, class On>
class PerContour final : public Stage {
 public:
  using Params = typename Step::Params;
  explicit PerContour(const Params& params) : params_(params), step_(params) {}

  void plan(PlanContext& context) override {
    ContoursFormat format = std::get<ContoursFormat>(context.input(0));
    tables_ = Tables(On::kMemory);
    if constexpr (requires { step_.tables(tables_, params_, format); })
      step_.tables(tables_, params_, format);
    if constexpr (kHasArrays) arrays_.plan(context, On::kMemory, format, step_);
    if constexpr (kHasLimit) {
      is_limited_ = step_.work.can_be_met(format.point_capacity);
      if (is_limited_) refused_ = context.scratch(sizeof(unsigned), On::kAnswers);
    }
    plan_output(context, format);
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    const auto& in = std::get<ContoursView>(context.inputs[0]);
    const auto& out = std::get<ContoursView>(context.outputs[0]);
    Step step = [&] {
      if constexpr (kHasArrays)
        return arrays_.of(context, step_);
      else
        return step_;
    }();
    if constexpr (kHasLimit)
      if (is_limited_) {
        step.work.refused = context.scratch<unsigned>(refused_);
        On::for_each(context, Step::kName, 1, ClearRefused{step.work.refused});
      }
    if constexpr (Step::kGives == Gives::Choice) {
      auto* const chosen = choice_.chosen(context);
      each(context, in, step, ChooseCall{chosen});
      choice_.write(context);
    } else if constexpr (Step::kGives == Gives::Marks) {
      each(context, in, step, MarkCall{selection_.keep(context)});
      selection_.run(context);
    } else if constexpr (Step::kGives == Gives::Points) {
      places_.clear(context);
      each(context, in, step, CountCall{places_.counts(context)});
      places_.place(context);
      each(context, in, step, WriteCall{out});
    } else {
      On::copy(context, in, out);
      each(context, out, step,
           ChangeCall{kGivesAttributes ? context.scratch<std::uint32_t>(sources_) : nullptr});
    }
  }

  std::uint64_t overflow(const RunContext& context) const override {
    if constexpr (kHasLimit)
      if (const unsigned points = is_limited_ ? *context.scratch<unsigned>(refused_) : 0; points > 0)
        Step::throw_too_much_work(points);
    if constexpr (Step::kGives == Gives::Points)
      return places_.overflow(context);
    else
      return 0;
  }
  std::optional<Scratch> selection() const override {
    if constexpr (Step::kGives == Gives::Choice) return choice_.sources();
    if constexpr (kGivesAttributes) return sources_;
    return std::nullopt;
  }

 private:
  static constexpr bool kGivesAttributes = Step::kGives == Gives::Attributes;
  static constexpr bool kHasArrays = requires(Step step, ArrayTaker& take, const ContoursFormat& format) {
    step.arrays(take, format);
  };
  static constexpr bool kHasLimit = On::kBackend == Backend::Cuda && requires(Step step) { step.work; };

  /// Asks for the memory of what is given; `format` becomes that of the output.
  void plan_output(PlanContext& context, ContoursFormat& format) {
    if constexpr (Step::kGives == Gives::Choice) {
      choice_.plan(context, format);
      plan_calls<ChooseCall>(format);
    } else if constexpr (Step::kGives == Gives::Marks) {
      selection_.plan(context, format);
      plan_calls<MarkCall>(format);
    } else if constexpr (Step::kGives == Gives::Points) {
      const ContoursFormat given = step_.output(context, format);
      places_.plan(context, format, given, Step::kName);
      format = given;
      plan_calls<CountCall>(format), plan_calls<WriteCall>(format);
    } else {
      plan_calls<ChangeCall>(format);
      if constexpr (kGivesAttributes) {
        sources_ = context.temporary(format.contour_capacity * sizeof(std::uint32_t), On::kMemory);
        format.attributes = format.attributes.with(Step::kAttributes);
      }
    }
  }
  template <class Call>
  void plan_calls(const ContoursFormat& format) {
    on_.template plan<StepCall<Step, Call>>(format);
  }
  template <class Call>
  void each(const RunContext& context, const ContoursView& contours, const Step& step,
            const Call& call) const {
    on_.each(context, Step::kName, contours, StepCall<Step, Call>{step, contours, call});
  }

  Params params_;
  Step step_;
  On on_;
  Tables tables_{On::kMemory};
  PlannedArrays arrays_;
  typename On::Choice choice_;
  typename On::Selection selection_;
  typename On::Places places_;
  Scratch sources_;
  bool is_limited_ = false;
  Scratch refused_;
};

template <class Step, class On>
std::unique_ptr<Stage> make_per_contour(const ParamSet& params) {
  static_assert(Step::kTeams.few > 0);  // also said by steps without a device
  using Params = typename Step::Params;
  if constexpr (std::is_same_v<Params, NoParams>)
    return std::make_unique<PerContour<Step, On>>(NoParams{});
  else
    return std::make_unique<PerContour<Step, On>>(params.as<Params>());
}
}  // namespace contorno
