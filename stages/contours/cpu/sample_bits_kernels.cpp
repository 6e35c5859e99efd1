#include "stages/contours/cpu/sample_bits_kernels.h"

#include <bit>
#include <cstring>
#include <type_traits>

namespace contorno {
namespace {

/// A sample at a time; the compiler makes vectors of it where it can.
template <class T>
class FloatLanes {
 public:
  using Level = std::conditional_t<std::is_same_v<T, double>, double, float>;
  using Bits = std::conditional_t<std::is_same_v<T, double>, std::uint64_t, std::uint32_t>;
  static constexpr std::size_t kCount = 1;

  FloatLanes(std::uint64_t low, std::uint64_t range)
      : low_(static_cast<Bits>(low)), range_(static_cast<Bits>(range)) {}
  static float load(const Half* v) { return half_to_float(*v); }
  static Level load(const Level* v) { return *v; }
  bool above(Level value, Level level) const { return value > level; }
  bool outside(Level value, Level level) const {
    const auto distance = static_cast<Bits>(2 * std::bit_cast<Bits>(value - level));
    return static_cast<Bits>(distance - low_) > range_;
  }

 private:
  Bits low_, range_;
};

template <class T>
struct IntegerLanes {
  static constexpr std::size_t kCount = 1;
  static bool above(const T* v, const T* level) { return *v > *level; }
  static bool same(const T* v, const T* near) { return *v == *near; }
};

#include "stages/contours/cpu/sample_bits_words.inc"

void split(const Deinterleaver& rule, const std::uint64_t* flat, std::uint64_t* by_channel) {
  const int channels = rule.channels();
  std::memset(by_channel, 0, static_cast<std::size_t>(channels) * sizeof(std::uint64_t));
  for (int word = 0; word < channels; ++word) {
    for (std::uint64_t bits = flat[word]; bits != 0; bits &= bits - 1) {
      const int sample = 64 * word + std::countr_zero(bits);
      by_channel[sample % channels] |= std::uint64_t{1} << (sample / channels);
    }
  }
}

}  // namespace

BitKernel portable_kernel(ElementType type) {
  return BitKernels{.u8 = integer_words<std::uint8_t>,
                    .u16 = integer_words<std::uint16_t>,
                    .f16 = float_words<Half>,
                    .f32 = float_words<float>,
                    .f64 = float_words<double>}
      .of(type);
}

SplitFunction portable_split() {
  return split;
}

#if !defined(__x86_64__)

BitKernel avx2_kernel(ElementType type) {
  return portable_kernel(type);
}
BitKernel avx512_kernel(ElementType type) {
  return portable_kernel(type);
}
SplitFunction bmi2_split() {
  return split;
}
SplitFunction avx512_split_of_8() {
  return split;
}

#endif

}  // namespace contorno
