#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "stages/diamond_square/cuda.h"
#include "stages/diamond_square/params.h"

namespace contorno {
namespace {

std::int64_t whole(double v, const char* what) {
  if (v != std::floor(v))
    throw Error(ExitCode::BadConfig,
                fmt::format("diamond_square: {} has the number {}, allowed are whole ones", what, v));
  return static_cast<std::int64_t>(v);
}

class DiamondSquareCpu final : public Stage {
 public:
  explicit DiamondSquareCpu(const ParamSet& params) : options_(params.as<FieldOptions>()) {}

  void plan(PlanContext& context) override {
    const ImageFormat format = field_format(options_);
    field_ = std::make_unique<DiamondSquare>(field_params(options_), format, context.threads());
    context.set_output(0, format);
  }
  void run(const RunContext& context) const override {
    field_->generate(static_cast<std::uint64_t>(options_.seed), context.image_out(0));
  }

 private:
  FieldOptions options_;
  std::unique_ptr<DiamondSquare> field_;
};

#if CONTORNO_HAVE_CUDA
class DiamondSquareCuda final : public Stage {
 public:
  explicit DiamondSquareCuda(const ParamSet& params) : options_(params.as<FieldOptions>()) {}

  void plan(PlanContext& context) override {
    const ImageFormat format = field_format(options_);
    field_ = std::make_unique<DiamondSquareOnDevice>(field_params(options_), format);
    context.set_output(0, format);
  }
  void run(const RunContext& context) const override {
    field_->generate(static_cast<std::uint64_t>(options_.seed), context.image_out(0), context.stream);
  }

 private:
  FieldOptions options_;
  std::unique_ptr<DiamondSquareOnDevice> field_;
};
#endif

ParamDeclaration stage_params() {
  ParamList<FieldOptions> list;
  list_field(list);
  return declare(std::move(list));
}

}  // namespace

ImageFormat field_format(const FieldOptions& options) {
  return {.width = static_cast<int>(whole(options.size[0], "size")),
          .height = static_cast<int>(whole(options.size[1], "size")),
          .channels = options.fields,
          .type = options.type,
          .layout =
              options.fields == 1 || options.type == ElementType::U8 ? Layout::Interleaved : Layout::Planar};
}

DiamondSquareParams field_params(const FieldOptions& options) {
  return {.seed = static_cast<std::uint64_t>(options.seed),
          .exponent = options.exponent,
          .domain = options.domain,
          .range = options.range,
          .roughness = options.roughness,
          .amplitude = options.amplitude,
          .corners = options.corners,
          .row = whole(options.origin[1], "origin"),
          .col = whole(options.origin[0], "origin")};
}

const StageType& diamond_square_stage() {
  static const StageType type {
    .name = "diamond_square", .summary = "Makes a random field of heights by the Diamond-Square algorithm.",
    .inputs = {}, .outputs = {{.name = "image", .type = PortType::Image, .sentence = "The heights."}},
    .params = stage_params(), .example = "- type: diamond_square\n  size: [257, 129]\n  seed: 5\n",
    .make_cpu = [](const ParamSet& params) { return std::make_unique<DiamondSquareCpu>(params); },
#if CONTORNO_HAVE_CUDA
    .make_cuda = [](const ParamSet& params) { return std::make_unique<DiamondSquareCuda>(params); },
#endif
  };
  return type;
}

}  // namespace contorno
