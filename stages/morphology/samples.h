// The arithmetic of a sample in a morphological operation, for both backends: in which type minima and maxima
// are taken, which value lies outside of the image, and what is stored. Internal.
#pragma once

#include <type_traits>

#include "stages/morphology/plan.h"

namespace contorno {

/// S is the type of samples in images, W the type in which extremes are taken. With heights (kRaised) W is
/// signed and has room for any height on both sides, so that nothing() stays beyond every sample with its
/// height.
template <class S, bool kRaised>
struct MorphologySample {
  using Stored = S;
  static constexpr bool kFloat = std::is_same_v<S, float>;
  using W = std::conditional_t<
      kFloat, std::int32_t,
      std::conditional_t<kRaised, std::conditional_t<sizeof(S) == 1, std::int16_t, std::int32_t>, S>>;
  static constexpr bool kHeights = kRaised;

  /// The value that never wins the extreme: it stands for what takes no part.
  CONTORNO_HD static constexpr W nothing(Extreme extreme) {
    const bool minimum = extreme == Extreme::Minimum;
    if constexpr (kFloat)
      return minimum ? OrderedFloat::kNothing : OrderedFloat::kMinusInfinity;
    else if constexpr (kRaised)
      return static_cast<W>(sizeof(S) == 1 ? (minimum ? 0x4000 : -0x4000)
                                           : (minimum ? 0x40000000 : -0x40000000));
    else
      return minimum ? std::numeric_limits<W>::max() : std::numeric_limits<W>::min();
  }
  CONTORNO_HD static W load(S sample) {
    if constexpr (kFloat)
      return OrderedFloat::from(sample);
    else
      return static_cast<W>(sample);
  }
  /// Limited to the range of samples; nothing() becomes the largest or smallest sample.
  CONTORNO_HD static W settled(W value) {
    if constexpr (kFloat) {
      return value == OrderedFloat::kNothing ? OrderedFloat::kInfinity : value;
    } else if constexpr (kRaised) {
      constexpr W kMost = std::numeric_limits<S>::max();
      return value < 0 ? W{0} : value > kMost ? kMost : value;
    } else {
      return value;
    }
  }
  CONTORNO_HD static S store(W value) {
    if constexpr (kFloat)
      return OrderedFloat::to(settled(value));
    else
      return static_cast<S>(settled(value));
  }
  /// a - b, 0 where that is negative; a NaN stays NaN.
  CONTORNO_HD static S difference(S a, S b) {
    if constexpr (kFloat) {
      const float d = a - b;
      return d > 0.0F ? d : (d == d ? 0.0F : std::bit_cast<float>(0x7fc00000U));
    } else {
      return static_cast<S>(a > b ? a - b : 0);
    }
  }
  CONTORNO_HD static S complement(S sample) {
    if constexpr (kFloat)
      return OrderedFloat::to(OrderedFloat::from(1.0F - sample));
    else
      return static_cast<S>(std::numeric_limits<S>::max() - sample);
  }
  CONTORNO_HD static S smaller(S a, S b) {
    if constexpr (kFloat)
      return OrderedFloat::from(a) < OrderedFloat::from(b) ? a : b;
    else
      return a < b ? a : b;
  }
  /// The sample to be stored for `value`, see PassResult. `source` is the input image's sample, `before` what
  /// an earlier pass stored.
  CONTORNO_HD static S result(PassResult result, W value, S source, S before) {
    const S v = store(value);
    switch (result) {
      case PassResult::Store:
        return v;
      case PassResult::SourceMinus:
        return difference(source, v);
      case PassResult::MinusSource:
        return difference(v, source);
      case PassResult::MinusOutput:
        return difference(v, before);
      case PassResult::OutputAndComplement:
        return smaller(before, complement(v));
    }
    return v;
  }
};

/// Calls f.template operator()<MorphologySample<...>>() for samples of `type`.
template <class F>
void with_morphology_sample(ElementType type, bool raised, const F& f) {
  const auto of = [&]<class S>() {
    if (raised)
      f.template operator()<MorphologySample<S, true>>();
    else
      f.template operator()<MorphologySample<S, false>>();
  };
  if (type == ElementType::U8) return of.template operator()<std::uint8_t>();
  if (type == ElementType::U16) return of.template operator()<std::uint16_t>();
  return of.template operator()<float>();
}

/// Calls f.template operator()<kResult>() with `result` as a constant.
template <class F>
void with_pass_result(PassResult result, const F& f) {
  switch (result) {
    case PassResult::Store:
      return f.template operator()<PassResult::Store>();
    case PassResult::SourceMinus:
      return f.template operator()<PassResult::SourceMinus>();
    case PassResult::MinusSource:
      return f.template operator()<PassResult::MinusSource>();
    case PassResult::MinusOutput:
      return f.template operator()<PassResult::MinusOutput>();
    case PassResult::OutputAndComplement:
      return f.template operator()<PassResult::OutputAndComplement>();
  }
}

}  // namespace contorno
