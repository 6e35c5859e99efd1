// From a plan to the rule (pixel.h) of its levels, as a type. For the files that instantiate kernels with
// rules: each function calls its argument only with rules that a plan can have there, because every rule is
// a kernel that has to be compiled.
#pragma once

#include "base/error.h"
#include "stages/mipmap/pixel.h"

namespace contorno {

/// What is read of the level before: the stored samples, or the floats that are kept.
enum class MipmapSource : std::uint8_t { Stored, Kept };

namespace mipmap_detail {

/// Calls f.operator()<channels, weighing>() for the plan's pixels.
template <class F>
void with_pixel(const MipmapPlan& plan, const F& f) {
  const int channels = plan.apart() ? 1 : plan.step();
  if (plan.options.premultiplied) {
    if (channels == 2) return f.template operator()<2, Weighing::ByAlpha>();
    return f.template operator()<4, Weighing::ByAlpha>();
  }
  switch (channels) {
    case 1:
      return f.template operator()<1, Weighing::Plain>();
    case 2:
      return f.template operator()<2, Weighing::Plain>();
    case 3:
      return f.template operator()<3, Weighing::Plain>();
    case 4:
      return f.template operator()<4, Weighing::Plain>();
    default:
      throw InternalError("mipmap: a pixel of unforeseen channels");
  }
}

template <int kC, Weighing kWeighing, class F>
void with_whole(const MipmapPlan& plan, const LightTables* light, const F& f) {
  if (plan.image.type == ElementType::U16) return f(WholeRule<std::uint16_t, kC, kWeighing, false>{light});
  if (plan.light) return f(WholeRule<std::uint8_t, kC, kWeighing, true>{light});
  return f(WholeRule<std::uint8_t, kC, kWeighing, false>{light});
}

/// The rules that read samples of type S, or with float what is kept of samples of type T.
template <class S, class T, int kC, Weighing kWeighing, class F>
void with_floats(const MipmapPlan& plan, const LightTables* light, const F& f) {
  if (plan.light) return f(FloatRule<S, T, kC, kWeighing, true>{light});
  return f(FloatRule<S, T, kC, kWeighing, false>{light});
}

}  // namespace mipmap_detail

/// Calls f(rule) with the plan's rule for levels that are made from stored samples. `light` is where the
/// backend can read the tables.
template <class F>
void with_stored_rule(const MipmapPlan& plan, const LightTables* light, const F& f) {
  using namespace mipmap_detail;
  with_pixel(plan, [&]<int kC, Weighing kWeighing>() {
    const ElementType type = plan.image.type;
    if (type == ElementType::F32) return f(FloatRule<float, float, kC, kWeighing, false>{light});
    if (plan.sums == MipmapSums::Whole) return with_whole<kC, kWeighing>(plan, light, f);
    if (type == ElementType::U8)
      return with_floats<std::uint8_t, std::uint8_t, kC, kWeighing>(plan, light, f);
    return with_floats<std::uint16_t, std::uint16_t, kC, kWeighing>(plan, light, f);
  });
}

/// Calls f(rule) with the plan's rule for levels that are made from `source`, which is Stored where the plan
/// keeps no floats.
template <class F>
void with_mipmap_rule(const MipmapPlan& plan, const LightTables* light, MipmapSource source, const F& f) {
  using namespace mipmap_detail;
  if (source == MipmapSource::Stored) return with_stored_rule(plan, light, f);
  with_pixel(plan, [&]<int kC, Weighing kWeighing>() {
    if (plan.image.type == ElementType::U8)
      return with_floats<float, std::uint8_t, kC, kWeighing>(plan, light, f);
    return with_floats<float, std::uint16_t, kC, kWeighing>(plan, light, f);
  });
}

/// Calls f(rule) with the plan's rule for levels that are exactly half of the one before
/// (MipmapPlan::halves). These are made with box or clamp, whose sums are whole but for float32 and for
/// uint16 in linear light (with high_precision no level is made so, since floats are kept). Does not call `f`
/// for plans that have no such level.
template <class F>
void with_halving_rule(const MipmapPlan& plan, const LightTables* light, const F& f) {
  using namespace mipmap_detail;
  with_pixel(plan, [&]<int kC, Weighing kWeighing>() {
    const ElementType type = plan.image.type;
    if (type == ElementType::F32) return f(FloatRule<float, float, kC, kWeighing, false>{light});
    if (plan.sums == MipmapSums::Whole) return with_whole<kC, kWeighing>(plan, light, f);
    if (type == ElementType::U16 && plan.light)
      return f(FloatRule<std::uint16_t, std::uint16_t, kC, kWeighing, true>{light});
  });
}

}  // namespace contorno
