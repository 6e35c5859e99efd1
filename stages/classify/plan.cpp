#include "stages/classify/plan.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "stages/shared/sample_value.h"

namespace contorno {
namespace {

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(ExitCode::BadConfig, "classify: " + sentence);
}

ClassifyRange range_of(const HueRange& range) {
  double span = range.hue_to - range.hue_from;
  if (span < 0) span += 360;
  double centre = range.hue_from + span / 2;
  if (centre >= 360) centre -= 360;
  const auto middle = [](double a, double b) { return static_cast<float>((a + b) / 2); };
  const auto half = [](double a, double b) { return static_cast<float>((b - a) / 2); };
  return {.centre = {static_cast<float>(centre / 360), middle(range.saturation_from, range.saturation_to),
                     middle(range.value_from, range.value_to)},
          .half = {static_cast<float>(span / 720), half(range.saturation_from, range.saturation_to),
                   half(range.value_from, range.value_to)}};
}

/// Weights of a binomial row of Pascal's triangle, 2 * radius + 1 of them, exact in float for radius <= 8.
std::vector<float> binomial(int radius) {
  std::vector<double> row{1};
  for (int i = 0; i < 2 * radius; ++i) {
    row.push_back(0);
    for (std::size_t k = row.size() - 1; k > 0; --k) row[k] += row[k - 1];
  }
  const double sum = std::ldexp(1.0, 2 * radius);
  std::vector<float> weights;
  for (const double value : row) weights.push_back(static_cast<float>(value / sum));
  return weights;
}

class Planner {
 public:
  Planner(const ClassifyParams& params, std::span<const ClassSpec> specs) : params_(params), specs_(specs) {}

  ClassifyPlan make() {
    plan_.decode = srgb_decode_table();
    for (std::size_t i = 0; i < plan_.unit.size(); ++i) plan_.unit[i] = static_cast<float>(i) / 255.0F;
    ClassifyPixel& pixel = plan_.pixel;
    pixel = {.decode = plan_.decode.data(), .space = params_.space};
    pixel.lightness = static_cast<float>(params_.lightness);
    pixel.sharpness = static_cast<float>(1 / (params_.softness * params_.softness));
    pixel.rest_weight =
        params_.rest > 0 ? pixel.weight(static_cast<float>(params_.rest * params_.rest)) : 0.0F;
    for (const ClassSpec& spec : specs_) add_class(spec);
    pixel.decode = nullptr;
    if (plan_.references.empty() && plan_.ranges.empty())
      refuse("no class has references or ranges, so no colour can be told from another");
    if (plan_.rest_class >= 0 && params_.rest <= 0)
      refuse(fmt::format("class '{}' has neither references nor ranges and rest is 0, so it would be empty",
                         rest_name()));
    plan_.weights = binomial(params_.smooth);
    return std::move(plan_);
  }

 private:
  const std::string& rest_name() const { return specs_[static_cast<std::size_t>(plan_.rest_class)].name; }

  void add_class(const ClassSpec& spec) {
    if (spec.references.empty() && spec.ranges.empty()) {
      if (plan_.rest_class >= 0)
        refuse(fmt::format("classes '{}' and '{}' have neither references nor ranges, allowed for one class",
                           rest_name(), spec.name));
      plan_.rest_class = static_cast<int>(plan_.classes.size());
    }
    ClassifyClass entry;
    entry.first_reference = static_cast<int>(plan_.references.size());
    for (const Colour& colour : spec.references)
      plan_.references.push_back(plan_.pixel.place(colour.red, colour.green, colour.blue));
    entry.last_reference = static_cast<int>(plan_.references.size());
    entry.first_range = static_cast<int>(plan_.ranges.size());
    for (const HueRange& range : spec.ranges) plan_.ranges.push_back(range_of(range));
    entry.last_range = static_cast<int>(plan_.ranges.size());
    plan_.classes.push_back(entry);
  }

  const ClassifyParams& params_;
  std::span<const ClassSpec> specs_;
  ClassifyPlan plan_;
};

}  // namespace

ClassifyPlan make_classify_plan(const ClassifyParams& params, const PlanContext& context) {
  const ImageFormat& in = context.image(0);
  if (in.type != ElementType::U8 || in.layout != Layout::Interleaved ||
      (in.channels != 1 && in.channels != 3 && in.channels != 4))
    refuse(fmt::format("the input is {}, allowed 1, 3 or 4 interleaved channels of uint8{}", describe(in),
                       conversion_hint_to_uint8(in.type)));
  ClassifyPlan plan = Planner(params, context.classes()).make();
  plan.in = plan.out = in;
  plan.out.channels = static_cast<int>(plan.classes.size());
  plan.out.layout = Layout::Planar;
  plan.out.type = params.output == MapType::Float32 ? ElementType::F32 : ElementType::U8;
  return plan;
}

}  // namespace contorno
