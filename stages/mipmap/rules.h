// From a plan to the rule (pixel.h) of its levels, as a type. For the files that instantiate kernels with
// rules.
#pragma once

#include "cuda/error.h"
#include "stages/mipmap/pixel.h"

namespace contorno {

/// What is read of the level before: the stored samples, or the floats that are kept.
enum class MipmapSource : std::uint8_t { Stored, Kept };

namespace mipmap_detail {

template <int kC, Weighing kWeighing, bool kLight, class F>
void with_floats(const MipmapPlan& plan, const LightTables* light, MipmapSource source, const F& f) {
  const bool kept = source == MipmapSource::Kept;
  if (plan.image.type == ElementType::U8) {
    if (kept) return f(FloatRule<float, std::uint8_t, kC, kWeighing, kLight>{light});
    return f(FloatRule<std::uint8_t, std::uint8_t, kC, kWeighing, kLight>{light});
  }
  if (kept) return f(FloatRule<float, std::uint16_t, kC, kWeighing, kLight>{light});
  return f(FloatRule<std::uint16_t, std::uint16_t, kC, kWeighing, kLight>{light});
}

template <int kC, Weighing kWeighing, class F>
void with_numbers(const MipmapPlan& plan, const LightTables* light, MipmapSource source, const F& f) {
  const ElementType type = plan.image.type;
  if (type == ElementType::F32) return f(FloatRule<float, float, kC, kWeighing, false>{light});
  if (plan.sums == MipmapSums::Whole) {
    if (type == ElementType::U16) return f(WholeRule<std::uint16_t, kC, kWeighing, false>{light});
    if (plan.light) return f(WholeRule<std::uint8_t, kC, kWeighing, true>{light});
    return f(WholeRule<std::uint8_t, kC, kWeighing, false>{light});
  }
  if (plan.light) return with_floats<kC, kWeighing, true>(plan, light, source, f);
  return with_floats<kC, kWeighing, false>(plan, light, source, f);
}

}  // namespace mipmap_detail

/// Calls f(rule) with the plan's rule. `light` is where the backend can read the tables.
template <class F>
void with_mipmap_rule(const MipmapPlan& plan, const LightTables* light, MipmapSource source, const F& f) {
  using mipmap_detail::with_numbers;
  const int channels = plan.apart() ? 1 : plan.step();
  if (plan.options.premultiplied) {
    if (channels == 2) return with_numbers<2, Weighing::ByAlpha>(plan, light, source, f);
    return with_numbers<4, Weighing::ByAlpha>(plan, light, source, f);
  }
  switch (channels) {
    case 1:
      return with_numbers<1, Weighing::Plain>(plan, light, source, f);
    case 2:
      return with_numbers<2, Weighing::Plain>(plan, light, source, f);
    case 3:
      return with_numbers<3, Weighing::Plain>(plan, light, source, f);
    case 4:
      return with_numbers<4, Weighing::Plain>(plan, light, source, f);
    default:
      throw InternalError("mipmap: a pixel of unforeseen channels");
  }
}

}  // namespace contorno
