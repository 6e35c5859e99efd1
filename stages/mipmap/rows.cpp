#include "stages/mipmap/rows.h"

#include <algorithm>

#include "stages/mipmap/rules.h"
#include "stages/shared/simd.h"

namespace contorno {
namespace {

template <class Rule>
CONTORNO_BODY void halve_pixels(const Rule& rule, const void* top, const void* bottom, void* out, int width) {
  using T = typename Rule::Stored;
  constexpr int kC = Rule::kChannels;
  const auto* upper = static_cast<const T*>(top);
  const auto* lower = static_cast<const T*>(bottom);
  auto* to = static_cast<T*>(out);
  for (std::ptrdiff_t x = 0; x < width; ++x)
    rule.halve(upper + 2 * x * kC, upper + (2 * x + 1) * kC, lower + 2 * x * kC, lower + (2 * x + 1) * kC,
               to + x * kC);
}

template <class Rule>
void halve_portable(const LightTables* light, const void* top, const void* bottom, void* out, int width) {
  halve_pixels(Rule{light}, top, bottom, out, width);
}

#if defined(__x86_64__)
template <class Rule>
CONTORNO_AVX2 void halve_avx2(const LightTables* light, const void* top, const void* bottom, void* out,
                              int width) {
  halve_pixels(Rule{light}, top, bottom, out, width);
}
#else
template <class Rule>
constexpr auto halve_avx2 = halve_portable<Rule>;
#endif

/// Columns that stay in the cache while all taps are added to them.
constexpr int kColumnsTogether = 512;

template <class Rule>
CONTORNO_BODY void add_columns(const Rule& rule, const FilterRow& row, int begin, int end,
                               typename Rule::Column* columns) {
  using Column = typename Rule::Column;
  constexpr int kTerms = Rule::kTerms, kC = Rule::kChannels;
  const std::ptrdiff_t step = kC == 1 ? row.step : kC;
  const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(row.y) * row.down.stride;
  for (int j = 0; j < row.down.count[row.y]; ++j) {
    const auto* line = row.in->row<const typename Rule::Sample>(row.down.index[first + j], row.plane);
    const auto weight = Rule::weight(row.down, first + j);
    for (std::ptrdiff_t x = begin; x < end; ++x) {
      Column terms[kTerms];
      rule.load(line + x * step, terms);
      Column* sums = columns + x * kTerms;
      for (int k = 0; k < kTerms; ++k)
        sums[k] = j == 0 ? weight * terms[k] : static_cast<Column>(sums[k] + weight * terms[k]);
    }
  }
}

template <class Rule>
CONTORNO_BODY void filter_pixels(const Rule& rule, const FilterRow& row) {
  using Total = typename Rule::Total;
  constexpr int kTerms = Rule::kTerms, kC = Rule::kChannels;
  auto* columns = static_cast<typename Rule::Column*>(row.columns);
  const int width = row.in->format.width;
  for (int x = 0; x < width; x += kColumnsTogether)
    add_columns(rule, row, x, std::min(width, x + kColumnsTogether), columns);
  auto* out = static_cast<typename Rule::Stored*>(row.out);
  const Total whole = Rule::whole_weight(row.across, row.down);
  const std::ptrdiff_t step = kC == 1 ? row.step : kC;
  for (int x = 0; x < row.width; ++x) {
    const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(x) * row.across.stride;
    Total sums[kTerms] = {};
    for (int i = 0; i < row.across.count[x]; ++i) {
      const auto* column = columns + static_cast<std::ptrdiff_t>(row.across.index[first + i]) * kTerms;
      const auto weight = static_cast<Total>(Rule::weight(row.across, first + i));
      for (int k = 0; k < kTerms; ++k) sums[k] = i == 0 ? weight * column[k] : sums[k] + weight * column[k];
    }
    rule.finish(sums, whole, out + x * step, row.kept == nullptr ? nullptr : row.kept + x * step);
  }
}

template <class Rule>
void filter_portable(const LightTables* light, const FilterRow& row) {
  filter_pixels(Rule{light}, row);
}

#if defined(__x86_64__)
template <class Rule>
CONTORNO_AVX2 void filter_avx2(const LightTables* light, const FilterRow& row) {
  filter_pixels(Rule{light}, row);
}
#else
template <class Rule>
constexpr auto filter_avx2 = filter_portable<Rule>;
#endif

}  // namespace

HalveRow halve_row(const MipmapPlan& plan, Simd simd) {
  if (const HalveRow kernel = halve_row_simd(plan, simd)) return kernel;
  HalveRow kernel = nullptr;
  with_halving_rule(plan, nullptr, [&]<class Rule>(const Rule&) {
    kernel = simd == Simd::Portable ? &halve_portable<Rule> : &halve_avx2<Rule>;
  });
  return kernel;
}

FilterFunction filter_row(const MipmapPlan& plan, MipmapSource source, Simd simd) {
  FilterFunction function = nullptr;
  with_mipmap_rule(plan, nullptr, source, [&]<class Rule>(const Rule&) {
    function = simd == Simd::Portable ? &filter_portable<Rule> : &filter_avx2<Rule>;
  });
  return function;
}

std::size_t filter_row_bytes(const MipmapPlan& plan, int width) {
  std::size_t bytes = 0;
  with_stored_rule(plan, nullptr, [&]<class Rule>(const Rule&) {
    bytes = static_cast<std::size_t>(width) * Rule::kTerms * sizeof(typename Rule::Column);
  });
  return align_up(bytes);
}

}  // namespace contorno
