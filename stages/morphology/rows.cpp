#include "stages/morphology/rows.h"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "stages/morphology/stage.h"
#include "stages/shared/simd.h"

// One body for every instruction set: it is inlined into functions that are compiled for each, and the
// compiler makes vectors of its plain loops.
namespace contorno {
namespace {

constexpr int kRowsAtOnce = 8;

template <Extreme kExtreme, class W>
CONTORNO_BODY W extreme(W a, W b) {
  if constexpr (kExtreme == Extreme::Minimum)
    return a < b ? a : b;
  else
    return a < b ? b : a;
}

template <class W>
CONTORNO_BODY std::size_t whole_blocks(std::size_t samples) {
  constexpr std::size_t kSamples = kRowBlock / sizeof(W);
  return (samples + kSamples - 1) / kSamples * kSamples;
}

/// Rows that overlap `out` lie behind it, so that reading ahead of writing is what a plain loop does.
template <Extreme kExtreme, class W, std::size_t... kRest>
CONTORNO_BODY void combine_some(W* out, const W* first, const W* const* rows, std::size_t samples,
                                std::index_sequence<kRest...>) {
  const std::array<const W*, sizeof...(kRest)> rest{rows[kRest]...};
  const std::size_t end = whole_blocks<W>(samples);
#pragma GCC ivdep
  for (std::size_t i = 0; i < end; ++i) {
    W value = first[i];
    ((value = extreme<kExtreme>(value, rest[kRest][i])), ...);
    out[i] = value;
  }
}

template <Extreme kExtreme, class W>
CONTORNO_BODY void combine_more(W* out, const W* first, const W* const* rows, int count,
                                std::size_t samples) {
  switch (count) {
    case 0:
      if (out != first) std::copy_n(first, whole_blocks<W>(samples), out);
      return;
    case 1:
      return combine_some<kExtreme>(out, first, rows, samples, std::make_index_sequence<1>());
    case 2:
      return combine_some<kExtreme>(out, first, rows, samples, std::make_index_sequence<2>());
    case 3:
      return combine_some<kExtreme>(out, first, rows, samples, std::make_index_sequence<3>());
    case 4:
      return combine_some<kExtreme>(out, first, rows, samples, std::make_index_sequence<4>());
    case 5:
      return combine_some<kExtreme>(out, first, rows, samples, std::make_index_sequence<5>());
    case 6:
      return combine_some<kExtreme>(out, first, rows, samples, std::make_index_sequence<6>());
    case 7:
      return combine_some<kExtreme>(out, first, rows, samples, std::make_index_sequence<7>());
    default:
      return combine_some<kExtreme>(out, first, rows, samples, std::make_index_sequence<kRowsAtOnce>());
  }
}

template <Extreme kExtreme, class W>
CONTORNO_BODY void combine_body(W* out, const W* const* rows, int count, std::size_t samples) {
  const int some = std::min(count - 1, kRowsAtOnce);
  combine_more<kExtreme>(out, rows[0], rows + 1, some, samples);
  for (int k = 1 + some; k < count; k += kRowsAtOnce)
    combine_more<kExtreme>(out, const_cast<const W*>(out), rows + k, std::min(count - k, kRowsAtOnce),
                           samples);
}

template <Extreme kExtreme, class W>
CONTORNO_BODY void accumulate_body(W* total, const W* next, const W* other, W* out, std::size_t samples) {
  const std::size_t end = whole_blocks<W>(samples);
#pragma GCC ivdep
  for (std::size_t i = 0; i < end; ++i) {
    const W value = extreme<kExtreme>(total[i], next[i]);
    total[i] = value;
    out[i] = extreme<kExtreme>(value, other[i]);
  }
}

/// Four rows at a time; what is missing of the last four is the last row again.
template <class W, class H, class Raise, class Best>
CONTORNO_BODY void raised_body(W* out, const W* const* rows, const H* add, int count, std::size_t samples,
                               const Raise& raise, const Best& best) {
  const std::size_t end = whole_blocks<W>(samples);
  for (int k = 0; k < count; k += 4) {
    const int last = count - 1;
    const int k1 = std::min(k + 1, last), k2 = std::min(k + 2, last), k3 = std::min(k + 3, last);
    const W *r0 = rows[k], *r1 = rows[k1], *r2 = rows[k2], *r3 = rows[k3];
    const H a0 = add[k], a1 = add[k1], a2 = add[k2], a3 = add[k3];
    const W* before = k == 0 ? r0 : nullptr;
    if (before != nullptr) {
#pragma GCC ivdep
      for (std::size_t i = 0; i < end; ++i)
        out[i] = best(best(raise(r0[i], a0), raise(r1[i], a1)), best(raise(r2[i], a2), raise(r3[i], a3)));
    } else {
#pragma GCC ivdep
      for (std::size_t i = 0; i < end; ++i)
        out[i] = best(
            out[i], best(best(raise(r0[i], a0), raise(r1[i], a1)), best(raise(r2[i], a2), raise(r3[i], a3))));
    }
  }
}

template <Extreme kExtreme, class W>
CONTORNO_BODY void combine_raised_body(W* out, const W* const* rows, const W* add, int count,
                                       std::size_t samples) {
  // Without a sign, since what lies behind a row's samples is added to as well, and may be anything.
  using U = std::make_unsigned_t<W>;
  raised_body(
      out, rows, add, count, samples,
      [](W value, W height) { return static_cast<W>(static_cast<U>(value) + static_cast<U>(height)); },
      [](W a, W b) { return extreme<kExtreme>(a, b); });
}

template <Extreme kExtreme>
CONTORNO_BODY void raised_float_body(std::int32_t* out, const std::int32_t* const* rows, const float* add,
                                     int count, std::size_t samples) {
  raised_body(
      out, rows, add, count, samples,
      [](std::int32_t key, float height) {
        const std::int32_t raised = OrderedFloat::from(OrderedFloat::to(key) + height);
        return key == OrderedFloat::kNothing ? key : raised;
      },
      [](std::int32_t a, std::int32_t b) { return extreme<kExtreme>(a, b); });
}

// TARGET is an attribute, or nothing: it cannot stand in parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define CONTORNO_ROW_KERNELS(NAME, TARGET)                                                                \
  struct NAME {                                                                                           \
    template <Extreme kExtreme, class W>                                                                  \
    TARGET static void combine(W* out, const W* const* rows, int count, std::size_t samples) {            \
      combine_body<kExtreme>(out, rows, count, samples);                                                  \
    }                                                                                                     \
    template <Extreme kExtreme, class W>                                                                  \
    TARGET static void accumulate(W* total, const W* next, const W* other, W* out, std::size_t samples) { \
      accumulate_body<kExtreme>(total, next, other, out, samples);                                        \
    }                                                                                                     \
    template <Extreme kExtreme, class W>                                                                  \
    TARGET static void combine_raised(W* out, const W* const* rows, const W* add, int count,              \
                                      std::size_t samples) {                                              \
      combine_raised_body<kExtreme>(out, rows, add, count, samples);                                      \
    }                                                                                                     \
    template <Extreme kExtreme>                                                                           \
    TARGET static void raised_float(std::int32_t* out, const std::int32_t* const* rows, const float* add, \
                                    int count, std::size_t samples) {                                     \
      raised_float_body<kExtreme>(out, rows, add, count, samples);                                        \
    }                                                                                                     \
  };
// NOLINTEND(bugprone-macro-parentheses)

CONTORNO_ROW_KERNELS(PortableRows, )
#if defined(__x86_64__)
CONTORNO_ROW_KERNELS(Avx2Rows, CONTORNO_AVX2)
CONTORNO_ROW_KERNELS(Avx512Rows, CONTORNO_AVX512)
#else
using Avx2Rows = PortableRows;
using Avx512Rows = PortableRows;
#endif

template <class Rows, class W>
RowKernels<W> kernels_of(Extreme extreme) {
  const auto make = [&]<Extreme kExtreme>() {
    RowKernels<W> kernels;
    kernels.combine = Rows::template combine<kExtreme, W>;
    kernels.accumulate = Rows::template accumulate<kExtreme, W>;
    if constexpr (std::is_signed_v<W>) kernels.combine_raised = Rows::template combine_raised<kExtreme, W>;
    return kernels;
  };
  return extreme == Extreme::Minimum ? make.template operator()<Extreme::Minimum>()
                                     : make.template operator()<Extreme::Maximum>();
}

template <class Rows>
RaisedFloatKernel raised_float_of(Extreme extreme) {
  if (extreme == Extreme::Minimum) return Rows::template raised_float<Extreme::Minimum>;
  return Rows::template raised_float<Extreme::Maximum>;
}

}  // namespace

template <class W>
RowKernels<W> row_kernels(Extreme extreme, Simd simd) {
  switch (simd) {
    case Simd::Portable:
      return kernels_of<PortableRows, W>(extreme);
    case Simd::Avx2:
      return kernels_of<Avx2Rows, W>(extreme);
    case Simd::Avx512:
      return kernels_of<Avx512Rows, W>(extreme);
  }
  throw InternalError("unknown instruction set");
}

template RowKernels<std::uint8_t> row_kernels<std::uint8_t>(Extreme, Simd);
template RowKernels<std::uint16_t> row_kernels<std::uint16_t>(Extreme, Simd);
template RowKernels<std::int16_t> row_kernels<std::int16_t>(Extreme, Simd);
template RowKernels<std::int32_t> row_kernels<std::int32_t>(Extreme, Simd);

RaisedFloatKernel raised_float_kernel(Extreme extreme, Simd simd) {
  switch (simd) {
    case Simd::Portable:
      return raised_float_of<PortableRows>(extreme);
    case Simd::Avx2:
      return raised_float_of<Avx2Rows>(extreme);
    case Simd::Avx512:
      return raised_float_of<Avx512Rows>(extreme);
  }
  throw InternalError("unknown instruction set");
}

}  // namespace contorno
