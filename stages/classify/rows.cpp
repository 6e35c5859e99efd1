#include "stages/classify/rows.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "stages/classify/lookup.h"

// One body for every instruction set: it is inlined into functions that are compiled for each, and the
// compiler makes vectors of its plain loops.

namespace contorno {
namespace {

using namespace classify_lookup;

constexpr std::size_t kMany = kClassifyLanes;
/// Few colours of a block of a video are unknown: for them a vector or two are enough.
constexpr std::size_t kFew = 16;
/// A table of this size and what else a thread works on stay in its second-level cache.
constexpr std::size_t kTableBytes = 512 * 1024;

/// kLanes values of three kinds.
template <std::size_t kLanes>
struct Planes {
  // Plain: checked access would keep them out of vectors.
  alignas(64) float x[kLanes], y[kLanes], z[kLanes];
};

template <std::size_t kLanes>
CONTORNO_BODY void look_up(const std::array<float, 256>& table, const std::uint32_t* colours,
                           Planes<kLanes>& out) {
  const auto copy = [&](std::uint32_t byte, float* to) {
    std::memcpy(to, &table[byte & 255U], sizeof(float));
  };
  for (std::size_t i = 0; i < kLanes; ++i)
    copy(colours[i], &out.x[i]), copy(colours[i] >> 8U, &out.y[i]), copy(colours[i] >> 16U, &out.z[i]);
}

template <std::size_t kLanes>
CONTORNO_BODY void to_oklab(float lightness, Planes<kLanes>& planes) {
  for (std::size_t i = 0; i < kLanes; ++i) {
    const Triple lab = oklab_of(planes.x[i], planes.y[i], planes.z[i]);
    planes.x[i] = lab.x * lightness, planes.y[i] = lab.y, planes.z[i] = lab.z;
  }
}

template <std::size_t kLanes>
CONTORNO_BODY void to_hsv(Planes<kLanes>& planes) {
  for (std::size_t i = 0; i < kLanes; ++i) {
    const Triple hsv = hsv_of(planes.x[i], planes.y[i], planes.z[i]);
    planes.x[i] = hsv.x, planes.y[i] = hsv.y, planes.z[i] = hsv.z;
  }
}

/// Lowers `nearest` to the squared distance from `places` to a reference or range.
template <std::size_t kLanes, class Given>
CONTORNO_BODY void lower(const Planes<kLanes>& places, const Given& given, float* nearest) {
  for (std::size_t i = 0; i < kLanes; ++i) {
    const float d = ClassifyPixel::squared_distance({places.x[i], places.y[i], places.z[i]}, given);
    nearest[i] = d < nearest[i] ? d : nearest[i];
  }
}

/// Probabilities of kLanes colours, class after class.
template <std::size_t kLanes>
CONTORNO_BODY void compute(const ClassifyPlan& plan, const std::uint32_t* colours, float* out) {
  const ClassifyPixel pixel = plan.pixel;  // a copy that nothing written to `out` can change
  Planes<kLanes> place, hsv;
  alignas(64) float total[kLanes], nearest[kLanes];
  const bool oklab = pixel.space == ColourSpace::Oklab;
  look_up(oklab ? plan.decode : plan.unit, colours, place);
  if (oklab) to_oklab(pixel.lightness, place);
  if (!plan.ranges.empty()) {
    look_up(plan.unit, colours, hsv);
    to_hsv(hsv);
  }
  const std::size_t classes = plan.classes.size();
  std::fill_n(total, kLanes, plan.rest_class >= 0 ? 0.0F : pixel.rest_weight);
  for (std::size_t k = 0; k < classes; ++k) {
    const ClassifyClass entry = plan.classes[k];
    float* weight = out + k * kLanes;
    if (static_cast<int>(k) == plan.rest_class) {
      std::fill_n(weight, kLanes, pixel.rest_weight);
    } else {
      std::fill_n(nearest, kLanes, 1e9F);
      for (int r = entry.first_reference; r < entry.last_reference; ++r)
        lower(place, plan.references[static_cast<std::size_t>(r)], nearest);
      for (int r = entry.first_range; r < entry.last_range; ++r)
        lower(hsv, plan.ranges[static_cast<std::size_t>(r)], nearest);
      for (std::size_t i = 0; i < kLanes; ++i) weight[i] = pixel.weight(nearest[i]);
    }
    for (std::size_t i = 0; i < kLanes; ++i) total[i] = total[i] + weight[i];
  }
  for (std::size_t k = 0; k < classes; ++k) {
    float* weight = out + k * kLanes;
    for (std::size_t i = 0; i < kLanes; ++i) weight[i] = weight[i] / total[i];
  }
}

/// Computes the last of the unknown pixels, kLanes at most, and puts them into the block and into the table.
template <std::size_t kLanes>
CONTORNO_BODY void add_last(const ClassifyPlan& plan, Unknown& unknown, const ClassifyBlock& out) {
  const std::size_t count = std::min(kLanes, unknown.count), first = unknown.count - count;
  alignas(64) std::uint32_t colours[kLanes] = {};
  std::copy_n(unknown.colours + first, count, colours);
  compute<kLanes>(plan, colours, out.work);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t* entry = out.table + unknown.places[first + i];
    float* to = out.first + unknown.at[first + i];
    entry[0] = colours[i];
    for (std::size_t k = 0; k < plan.classes.size(); ++k) {
      const float value = out.work[k * kLanes + i];
      std::memcpy(entry + 1 + k, &value, sizeof(value));
      to[out.step * k] = value;
    }
  }
  unknown.count = first;
}

CONTORNO_BODY void classify_body(const ClassifyPlan& plan, const ColourTableShape& shape,
                                 const ClassifyPixels& in, const ClassifyBlock& out) {
  alignas(64) std::uint32_t colours[kSpan], places[kSpan];
  Unknown unknown;
  const auto channels = static_cast<std::size_t>(plan.in.channels);
  for (int row = 0; row < in.rows; ++row) {
    const std::uint8_t* pixels = in.first + row * in.pitch;
    for (std::size_t x = 0; x < in.width; x += kSpan) {
      const std::size_t count = std::min(kSpan, in.width - x);
      read_colours(pixels + x * channels, plan.in.channels, count, colours);
      find_places(colours, count, shape, places);
      copy_known(colours, places, count, plan.classes.size(), out,
                 out.row_step * static_cast<std::size_t>(row) + x, unknown);
      while (unknown.count >= kMany) add_last<kMany>(plan, unknown, out);
    }
  }
  if (unknown.count > kMany / 2) add_last<kMany>(plan, unknown, out);
  while (unknown.count > 0) add_last<kFew>(plan, unknown, out);
}

template <std::size_t kTaps>
CONTORNO_BODY void weigh_body(const float* const* given, const float* factors, float* __restrict out,
                              int width) {
  std::array<const float*, kTaps> lines;
  std::array<float, kTaps> weights;
  std::copy_n(given, kTaps, lines.data());
  std::copy_n(factors, kTaps, weights.data());
  for (std::size_t x = 0; x < static_cast<std::size_t>(width); ++x) {
    float sum = weights[0] * lines[0][x];
    for (std::size_t j = 1; j < kTaps; ++j) sum = sum + weights[j] * lines[j][x];
    out[x] = sum;
  }
}

/// `weigh` along a line and down the lines before it, of which `given` has 2 * radius.
template <std::size_t kTaps>
CONTORNO_BODY void smooth_body(const float* samples, const float* const* given, const float* factors,
                               float* __restrict along, float* __restrict out, int width) {
  std::array<const float*, kTaps - 1> lines;
  std::array<float, kTaps> weights;
  std::copy_n(given, kTaps - 1, lines.data());
  std::copy_n(factors, kTaps, weights.data());
  for (std::size_t x = 0; x < static_cast<std::size_t>(width); ++x) {
    float sum = weights[0] * samples[x];
    for (std::size_t j = 1; j < kTaps; ++j) sum = sum + weights[j] * samples[x + j];
    along[x] = sum;
    float down = weights[0] * lines[0][x];
    for (std::size_t j = 1; j + 1 < kTaps; ++j) down = down + weights[j] * lines[j][x];
    out[x] = down + weights[kTaps - 1] * sum;
  }
}

CONTORNO_BODY void to_bytes_body(const float* probabilities, std::uint8_t* __restrict out, int width) {
  for (std::size_t x = 0; x < static_cast<std::size_t>(width); ++x)
    out[x] = to_probability_byte(probabilities[x]);
}

// TARGET is an attribute, or nothing: it cannot stand in parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define CONTORNO_CLASSIFY_KERNELS(NAME, TARGET)                                                        \
  struct NAME {                                                                                        \
    TARGET static void classify(const ClassifyPlan& plan, const ColourTableShape& shape,               \
                                const ClassifyPixels& in, const ClassifyBlock& out) {                  \
      classify_body(plan, shape, in, out);                                                             \
    }                                                                                                  \
    template <std::size_t kTaps>                                                                       \
    TARGET static void weigh(const float* const* lines, const float* weights, float* out, int width) { \
      weigh_body<kTaps>(lines, weights, out, width);                                                   \
    }                                                                                                  \
    template <std::size_t kTaps>                                                                       \
    TARGET static void smooth(const float* samples, const float* const* lines, const float* weights,   \
                              float* along, float* out, int width) {                                   \
      smooth_body<kTaps>(samples, lines, weights, along, out, width);                                  \
    }                                                                                                  \
    TARGET static void to_bytes(const float* probabilities, std::uint8_t* out, int width) {            \
      to_bytes_body(probabilities, out, width);                                                        \
    }                                                                                                  \
  };
// NOLINTEND(bugprone-macro-parentheses)

CONTORNO_CLASSIFY_KERNELS(PortableKernels, )
#if defined(__x86_64__)
CONTORNO_CLASSIFY_KERNELS(Avx2Kernels, CONTORNO_AVX2)
CONTORNO_CLASSIFY_KERNELS(Avx512Kernels, CONTORNO_AVX512)
#else
using Avx2Kernels = PortableKernels;
using Avx512Kernels = PortableKernels;
#endif

template <class Kernels>
ClassifyRows rows_of(int radius) {
  constexpr auto kWeigh = []<std::size_t... kRadius>(std::index_sequence<kRadius...>) {
    return std::array{&Kernels::template weigh<2 * kRadius + 3>...};
  }
  (std::make_index_sequence<kMaxSmooth>());
  constexpr auto kSmooth = []<std::size_t... kRadius>(std::index_sequence<kRadius...>) {
    return std::array{&Kernels::template smooth<2 * kRadius + 3>...};
  }
  (std::make_index_sequence<kMaxSmooth>());
  return {.classify = &Kernels::classify,
          .weigh = radius == 0 ? nullptr : kWeigh[static_cast<std::size_t>(radius - 1)],
          .smooth = radius == 0 ? nullptr : kSmooth[static_cast<std::size_t>(radius - 1)],
          .to_bytes = &Kernels::to_bytes};
}

}  // namespace

ColourTableShape::ColourTableShape(std::size_t classes)
    : index_bits(kMostIndexBits), entry_words((classes + kWords) / kWords * kWords) {
  while (index_bits > 8 && words() * sizeof(std::uint32_t) > kTableBytes) --index_bits;
}

ClassifyRows classify_rows(int radius, Simd simd) {
  switch (simd) {
    case Simd::Portable:
      return rows_of<PortableKernels>(radius);
    case Simd::Avx2:
      return rows_of<Avx2Kernels>(radius);
    case Simd::Avx512:
      return rows_of<Avx512Kernels>(radius);
  }
  throw InternalError("unknown instruction set");
}

}  // namespace contorno
