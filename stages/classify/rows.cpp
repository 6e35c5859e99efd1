#include "stages/classify/rows.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "cuda/error.h"

// One body for every instruction set: it is inlined into functions that are compiled for each, and the
// compiler makes vectors of its plain loops.
#define CONTORNO_BODY [[gnu::always_inline]] inline

namespace contorno {
namespace {

constexpr std::size_t kMany = kClassifyLanes;
/// Of a row of a video few colours are unknown: for them a vector or two are enough.
constexpr std::size_t kFew = 16;
/// Pixels that are looked up at a time: enough that those which are not found fill vectors.
constexpr std::size_t kSpan = 1024;
/// A table of this size and what else a thread works on stay in its second-level cache.
constexpr std::size_t kTableBytes = 512 * 1024;
constexpr std::uint32_t kThere = 1U << 24U;  // of an entry

/// Colours as words, red in the lowest byte.
CONTORNO_BODY void read_colours(const std::uint8_t* pixels, int channels, std::size_t count,
                                std::uint32_t* colours) {
  if (channels == 4) {
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(colours + i, pixels + 4 * i, 4);
      colours[i] = (colours[i] & (kThere - 1)) | kThere;
    }
  } else if (channels == 3) {
    for (std::size_t i = 0; i < count; ++i)
      colours[i] = pixels[3 * i] | (std::uint32_t{pixels[3 * i + 1]} << 8U) |
                   (std::uint32_t{pixels[3 * i + 2]} << 16U) | kThere;
  } else {
    for (std::size_t i = 0; i < count; ++i) colours[i] = pixels[i] * 0x010101U | kThere;
  }
}

/// Where colours are in the table: by how much blue and red differ from green, in their lowest bits, and then
/// by green. The colours of a picture lie along the greys, and those that differ in brightness alone, which
/// is most of noise, have places beside each other.
CONTORNO_BODY void find_places(const std::uint32_t* colours, std::size_t count, const ColourTableShape& shape,
                               std::uint32_t* places) {
  const auto words = static_cast<std::uint32_t>(shape.entry_words);
  const int red_bits = (shape.index_bits - 7) / 2, blue_bits = shape.index_bits - 8 - red_bits;
  const std::uint32_t reds = (1U << red_bits) - 1, blues = (1U << blue_bits) - 1;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t red = colours[i], green = colours[i] >> 8U, blue = colours[i] >> 16U;
    places[i] =
        (((blue - green) & blues) << (8 + red_bits) | ((red - green) & reds) << 8 | (green & 255U)) * words;
  }
}

/// Copies what the table has to `out`, notes which pixels of the span have another colour, whose values are
/// then to be replaced, and returns how many. kClasses is their number, or 0 for any.
template <int kClasses>
CONTORNO_BODY std::size_t copy_known(const std::uint32_t* colours, const std::uint32_t* places,
                                     std::size_t count, std::size_t classes, const ClassifyRow& out,
                                     std::uint32_t* unknown) {
  const std::size_t copied = kClasses > 0 ? kClasses : classes;
  std::size_t missing = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t* entry = out.table + places[i];
    // As words, because a processor stores more of them in a cycle than floats.
    for (std::size_t k = 0; k < copied; ++k)
      std::memcpy(out.first + out.step * static_cast<std::ptrdiff_t>(k) + i, entry + 1 + k, sizeof(float));
    unknown[missing] = static_cast<std::uint32_t>(i);
    missing += entry[0] != colours[i] ? 1 : 0;
  }
  return missing;
}

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
  Planes<kLanes> place, hsv;
  alignas(64) float total[kLanes], nearest[kLanes];
  const bool oklab = plan.pixel.space == ColourSpace::Oklab;
  look_up(oklab ? plan.decode : plan.unit, colours, place);
  if (oklab) to_oklab(plan.pixel.lightness, place);
  if (!plan.ranges.empty()) {
    look_up(plan.unit, colours, hsv);
    to_hsv(hsv);
  }
  const std::size_t classes = plan.classes.size();
  std::fill_n(total, kLanes, plan.rest_class >= 0 ? 0.0F : plan.pixel.rest_weight);
  for (std::size_t k = 0; k < classes; ++k) {
    const ClassifyClass entry = plan.classes[k];
    float* weight = out + k * kLanes;
    if (static_cast<int>(k) == plan.rest_class) {
      std::fill_n(weight, kLanes, plan.pixel.rest_weight);
    } else {
      std::fill_n(nearest, kLanes, 1e9F);
      for (int r = entry.first_reference; r < entry.last_reference; ++r)
        lower(place, plan.references[static_cast<std::size_t>(r)], nearest);
      for (int r = entry.first_range; r < entry.last_range; ++r)
        lower(hsv, plan.ranges[static_cast<std::size_t>(r)], nearest);
      for (std::size_t i = 0; i < kLanes; ++i) weight[i] = plan.pixel.weight(nearest[i]);
    }
    for (std::size_t i = 0; i < kLanes; ++i) total[i] = total[i] + weight[i];
  }
  for (std::size_t k = 0; k < classes; ++k) {
    float* weight = out + k * kLanes;
    for (std::size_t i = 0; i < kLanes; ++i) weight[i] = weight[i] / total[i];
  }
}

/// Computes at most kLanes pixels, and puts them into `out` and into the table.
template <std::size_t kLanes>
CONTORNO_BODY void add_batch(const ClassifyPlan& plan, const std::uint32_t* colours,
                             const std::uint32_t* places, const std::uint32_t* unknown, std::size_t count,
                             const ClassifyRow& out) {
  alignas(64) std::uint32_t batch[kLanes] = {};
  for (std::size_t i = 0; i < count; ++i) batch[i] = colours[unknown[i]];
  compute<kLanes>(plan, batch, out.work);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t pixel = unknown[i];
    std::uint32_t* entry = out.table + places[pixel];
    entry[0] = batch[i];
    for (std::size_t k = 0; k < plan.classes.size(); ++k) {
      const float value = out.work[k * kLanes + i];
      std::memcpy(entry + 1 + k, &value, sizeof(value));
      out.first[out.step * static_cast<std::ptrdiff_t>(k) + pixel] = value;
    }
  }
}

/// Computes the unknown pixels of a span, many at a time as long as there are enough of them.
CONTORNO_BODY void add_unknown(const ClassifyPlan& plan, const std::uint32_t* colours,
                               const std::uint32_t* places, const std::uint32_t* unknown, std::size_t missing,
                               const ClassifyRow& out) {
  std::size_t from = 0;
  for (; from + kMany / 2 < missing; from += kMany)
    add_batch<kMany>(plan, colours, places, unknown + from, std::min(kMany, missing - from), out);
  for (; from < missing; from += kFew)
    add_batch<kFew>(plan, colours, places, unknown + from, std::min(kFew, missing - from), out);
}

CONTORNO_BODY std::size_t copy_known(const std::uint32_t* colours, const std::uint32_t* places,
                                     std::size_t count, std::size_t classes, const ClassifyRow& out,
                                     std::uint32_t* unknown) {
  switch (classes) {
    case 1:
      return copy_known<1>(colours, places, count, classes, out, unknown);
    case 2:
      return copy_known<2>(colours, places, count, classes, out, unknown);
    case 3:
      return copy_known<3>(colours, places, count, classes, out, unknown);
    case 4:
      return copy_known<4>(colours, places, count, classes, out, unknown);
    default:
      return copy_known<0>(colours, places, count, classes, out, unknown);
  }
}

CONTORNO_BODY void classify_body(const ClassifyPlan& plan, const ColourTableShape& shape,
                                 const std::uint8_t* pixels, int width, ClassifyRow out) {
  alignas(64) std::uint32_t colours[kSpan], places[kSpan], unknown[kSpan];
  const auto channels = static_cast<std::size_t>(plan.in.channels);
  for (std::size_t x = 0; x < static_cast<std::size_t>(width); x += kSpan) {
    const std::size_t count = std::min(kSpan, static_cast<std::size_t>(width) - x);
    ClassifyRow span = out;
    span.first += x;
    read_colours(pixels + x * channels, plan.in.channels, count, colours);
    find_places(colours, count, shape, places);
    const std::size_t missing = copy_known(colours, places, count, plan.classes.size(), span, unknown);
    add_unknown(plan, colours, places, unknown, missing, span);
  }
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

CONTORNO_BODY void to_bytes_body(const float* probabilities, std::uint8_t* __restrict out, int width) {
  for (std::size_t x = 0; x < static_cast<std::size_t>(width); ++x)
    out[x] = to_probability_byte(probabilities[x]);
}

// TARGET is an attribute, or nothing: it cannot stand in parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define CONTORNO_CLASSIFY_KERNELS(NAME, TARGET)                                                        \
  struct NAME {                                                                                        \
    TARGET static void classify(const ClassifyPlan& plan, const ColourTableShape& shape,               \
                                const std::uint8_t* pixels, int width, ClassifyRow out) {              \
      classify_body(plan, shape, pixels, width, out);                                                  \
    }                                                                                                  \
    template <std::size_t kTaps>                                                                       \
    TARGET static void weigh(const float* const* lines, const float* weights, float* out, int width) { \
      weigh_body<kTaps>(lines, weights, out, width);                                                   \
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
  return {.classify = &Kernels::classify,
          .weigh = radius == 0 ? nullptr : kWeigh[static_cast<std::size_t>(radius - 1)],
          .to_bytes = &Kernels::to_bytes};
}

}  // namespace

ColourTableShape::ColourTableShape(std::size_t classes) : index_bits(16), entry_words(classes + 1) {
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
