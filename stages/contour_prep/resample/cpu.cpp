// The declaration of resample, and its implementation on the CPU.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "stages/contour_prep/resample/rules.h"
#include "stages/contour_prep/shared/attributes.h"
#include "stages/contour_prep/shared/contour_loop.h"
#include "stages/contour_prep/shared/contour_order.h"
#include "stages/contour_prep/shared/contour_step.h"

namespace contorno {
namespace {

class ResampleCpu final : public Stage {
 public:
  explicit ResampleCpu(const ResampleParams& params) : params_(params), steps_(params) {}

  void plan(PlanContext& context) override {
    check_resample(params_);
    const auto& in = std::get<ContoursFormat>(context.input(0));
    lengths_ = context.temporary(in.point_capacity * sizeof(std::uint64_t), MemoryKind::Host);
    stored_ = context.temporary(in.contour_capacity * sizeof(std::uint64_t), MemoryKind::Host);
    needed_ = context.scratch(sizeof(std::uint64_t), MemoryKind::Host);
    format_ = resampled_format(context, params_);
    context.set_output(0, format_);
  }

  void run(const RunContext& context) const override {
    const auto& in = std::get<ContoursView>(context.inputs[0]);
    const auto& out = std::get<ContoursView>(context.outputs[0]);
    auto* const lengths = context.scratch<std::uint64_t>(lengths_);
    auto* const stored = context.scratch<std::uint64_t>(stored_);
    auto& needed = *context.scratch<std::uint64_t>(needed_);
    needed = 0;
    if (!begin_output(in, out)) {  // nor may the output seem to fit
      out.counts->points = std::max(in.counts->points, format_.point_capacity + 1);
      return;
    }
    const auto contours = static_cast<std::uint32_t>(in.counts->contours);
    for_contours(context.threads, contours, [&](std::uint32_t i) {
      stored[i] =
          steps_.stored_points(measure(in, i, lengths), in.offsets[i + 1] - in.offsets[i], in.closed[i] != 0);
    });
    for (std::uint32_t i = 0; i < contours; ++i) needed += stored[i];
    *out.counts = {needed, contours};
    if (!out.fits()) return;
    std::copy_n(in.class_begin, in.format.classes + 1, out.class_begin);
    std::copy_n(in.closed, contours, out.closed);
    for (std::uint32_t i = 0; i < contours; ++i) {
      out.offsets[i + 1] = out.offsets[i] + static_cast<std::uint32_t>(stored[i]);
      copy_attributes(in, i, out, i);
    }
    for_contours(context.threads, contours, [&](std::uint32_t i) { write(in, i, lengths, out); });
  }

  std::uint64_t overflow(const RunContext& context) const override {
    return resample_capacity_needed(*context.scratch<std::uint64_t>(needed_), format_.point_capacity);
  }

 private:
  /// Writes how far each point of a contour is along it; returns how long it is.
  static std::uint64_t measure(const ContoursView& in, std::uint32_t contour, std::uint64_t* lengths) {
    std::uint64_t length = 0;
    for (std::uint32_t i = in.offsets[contour]; i < in.offsets[contour + 1]; ++i) {
      if (i > in.offsets[contour])
        length += static_cast<std::uint64_t>(segment_length(in.points[i - 1], in.points[i]));
      lengths[i] = length;
    }
    return length;
  }

  static void write(const ContoursView& in, std::uint32_t contour, const std::uint64_t* lengths,
                    const ContoursView& out) {
    const std::uint32_t end = in.offsets[contour + 1], first = out.offsets[contour];
    const std::uint32_t points = out.offsets[contour + 1] - first;
    if (points == 0) return;
    const std::uint32_t steps = points - 1;
    std::uint32_t i = in.offsets[contour];
    out.points[first] = in.points[i];
    for (std::uint32_t k = 1; k < steps; ++k) {
      const ContourPlace place = place_of(lengths[end - 1], k, steps);
      while (i + 2 < end && lengths[i + 1] <= place.whole) ++i;
      out.points[first + k] =
          lengths[end - 1] > 0 ? point_on(in.points[i], in.points[i + 1], lengths[i], lengths[i + 1], place)
                               : in.points[in.offsets[contour]];
    }
    out.points[first + steps] = in.points[end - 1];
  }

  ResampleParams params_;
  ResampleSteps steps_;
  ContoursFormat format_;
  Scratch lengths_, stored_, needed_;
};

ParamDeclaration resample_params() {
  ParamList<ResampleParams> list;
  list.number(
      "spacing", &ResampleParams::spacing, 0, 1e9, Unit::Pixels,
      "The distance from point to point along the contour, changed as little as whole steps need. Not "
      "used where `points` is above 0.");
  list.integer("points", &ResampleParams::points, 0, 65536, Unit::None,
               "So many points a contour instead, however long it is; the repeated point of a closed contour "
               "does not count. 0: by the spacing.");
  return declare(list, [](const ResampleParams& params, const ParamTrial& trial) {
    trial.run("spacing", [&] { check_resample(params); });
  });
}

}  // namespace

void check_resample(const ResampleParams& params) {
  if (params.points == 0 && !(params.spacing > 0))
    throw Error(ExitCode::BadConfig,
                "spacing and points are both 0, allowed a spacing above 0 px or a number of points");
}

ContoursFormat resampled_format(const PlanContext& context, const ResampleParams& params) {
  ContoursFormat format = std::get<ContoursFormat>(context.input(0));
  // Contours of maps have about a point a px. More than four times the points of the input is left to frames
  // that need it.
  const double growth = params.points > 0 ? 4 : std::clamp(1.5 / params.spacing, 1.0, 4.0);
  auto guess = static_cast<std::uint64_t>(static_cast<double>(format.point_capacity) * growth);
  if (params.points > 0)
    guess = std::min(guess, format.contour_capacity * (static_cast<std::uint64_t>(params.points) + 1));
  format.point_capacity =
      std::min<std::uint64_t>(context.capacity(guess), std::numeric_limits<std::uint32_t>::max());
  return format;
}

std::uint64_t resample_capacity_needed(std::uint64_t points, std::uint64_t capacity) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (points > kMost)
    throw Error(ExitCode::BadData,
                fmt::format("resample: the contours of the frame would have {} points, allowed up to {}",
                            points, kMost));
  return points > capacity ? points : 0;
}

const StageType& resample_stage() {
  static const StageType type = contour_step({
    .name = "resample", .summary = "Puts points at equal distances along contours.",
    .gives = "The same contours with other points.", .params = resample_params(),
    .example = "- type: resample\n  points: 128\n", .make_cpu = make_step<ResampleCpu, ResampleParams>,
#if CONTORNO_HAVE_CUDA
    .make_cuda = make_resample_cuda,
#endif
  });
  return type;
}

}  // namespace contorno
