#include "stages/mipmap/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/error.h"
#include "stages/shared/sample_value.h"

namespace contorno {
namespace {

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(ExitCode::BadConfig, "mipmap: " + sentence);
}

struct Tap {
  int index;
  std::uint32_t whole;
  double weight;
};

int inside(std::int64_t index, std::int64_t size, MipmapEdge edge) {
  switch (edge) {
    case MipmapEdge::Clamp:
      return static_cast<int>(std::clamp<std::int64_t>(index, 0, size - 1));
    case MipmapEdge::Wrap:
      return static_cast<int>(((index % size) + size) % size);
    case MipmapEdge::Mirror: {
      const std::int64_t turn = ((index % (2 * size)) + 2 * size) % (2 * size);
      return static_cast<int>(turn < size ? turn : 2 * size - 1 - turn);
    }
  }
  throw InternalError("unknown edge");
}

/// In units of 1/out px output `i` covers [i * in, (i + 1) * in); divided by what all weights share.
std::vector<Tap> box_taps(std::int64_t i, std::int64_t in, std::int64_t out) {
  const std::int64_t from = i * in, to = from + in, unit = std::gcd(in, out);
  std::vector<Tap> taps;
  for (std::int64_t j = from / out; j * out < to; ++j) {
    const std::int64_t covered = std::min(to, (j + 1) * out) - std::max(from, j * out);
    taps.push_back({static_cast<int>(j), static_cast<std::uint32_t>(covered / unit),
                    static_cast<double>(covered) / static_cast<double>(in)});
  }
  return taps;
}

double sinc(double t) {
  const double x = std::numbers::pi * t;
  return std::fabs(x) < 1e-9 ? 1 : std::sin(x) / x;
}

double bessel_i0(double x) {
  double sum = 1, term = 1;
  for (int k = 1; k < 40; ++k) {
    term *= x * x / (4.0 * k * k);
    sum += term;
  }
  return sum;
}

double reach_of(MipmapFilter filter) {
  switch (filter) {
    case MipmapFilter::Triangle:
      return 1;
    case MipmapFilter::Mitchell:
      return 2;
    case MipmapFilter::Kaiser:
    case MipmapFilter::Lanczos3:
      return 3;
    case MipmapFilter::Box:
    case MipmapFilter::Clamp:
      break;
  }
  throw InternalError("this filter has no kernel");
}

/// The filter at `t` output px from its centre, |t| below its reach.
double kernel_at(MipmapFilter filter, double t) {
  const double x = std::fabs(t);
  switch (filter) {
    case MipmapFilter::Triangle:
      return 1 - x;
    case MipmapFilter::Mitchell:  // B = C = 1/3
      return x < 1 ? (7 * x * x * x - 12 * x * x + 16.0 / 3) / 6
                   : (-7.0 / 3 * x * x * x + 12 * x * x - 20 * x + 32.0 / 3) / 6;
    case MipmapFilter::Kaiser: {
      constexpr double kAlpha = 4, kWidth = 3;
      return sinc(x) * bessel_i0(kAlpha * std::sqrt(1 - (x / kWidth) * (x / kWidth))) / bessel_i0(kAlpha);
    }
    case MipmapFilter::Lanczos3:
      return sinc(x) * sinc(x / 3);
    case MipmapFilter::Box:
    case MipmapFilter::Clamp:
      break;
  }
  throw InternalError("this filter has no kernel");
}

/// Rounds to multiples of 2^-24; the heaviest tap takes what is missing to 1.
void normalise(std::vector<Tap>& taps) {
  constexpr double kUnits = 1 << 24;
  double sum = 0, rest = 1;
  for (const Tap& tap : taps) sum += tap.weight;
  for (Tap& tap : taps) rest -= tap.weight = std::round(tap.weight / sum * kUnits) / kUnits;
  const auto lighter = [](const Tap& a, const Tap& b) { return a.weight < b.weight; };
  std::max_element(taps.begin(), taps.end(), lighter)->weight += rest;
}

std::vector<Tap> kernel_taps(int i, int in, int out, const MipmapOptions& options) {
  const double step = static_cast<double>(in) / out, centre = (i + 0.5) * step - 0.5;
  const double reach = reach_of(options.filter) * step;
  std::vector<Tap> taps;
  for (auto j = static_cast<int>(std::ceil(centre - reach)); j < centre + reach; ++j)
    if (std::fabs(j - centre) < reach)
      taps.push_back({inside(j, in, options.edge), 0, kernel_at(options.filter, (j - centre) / step)});
  normalise(taps);
  return taps;
}

std::vector<Tap> taps_of(int i, int in, int out, const MipmapOptions& options) {
  if (options.filter == MipmapFilter::Box) return box_taps(i, in, out);
  if (options.filter != MipmapFilter::Clamp) return kernel_taps(i, in, out, options);
  std::vector<Tap> taps;
  for (int j = 0; j < options.width; ++j)
    taps.push_back(
        {inside(static_cast<std::int64_t>(options.width) * i + j, in, options.edge), 1, 1.0 / options.width});
  return taps;
}

bool has_alpha(const ImageFormat& image) {
  return image.layout == Layout::Interleaved && (image.channels == 2 || image.channels == 4);
}

void check(const ImageFormat& image, const MipmapOptions& options) {
  const ElementType type = image.type;
  if (type != ElementType::U8 && type != ElementType::U16 && type != ElementType::F32)
    refuse(fmt::format("the image is {}, allowed uint8, uint16 and float32{}", name_of(type),
                       conversion_hint(type)));
  if (image.width < 1 || image.height < 1 || std::max(image.width, image.height) > kMaxSide)
    refuse(
        fmt::format("the image is {}x{} px, allowed 1 to {} px a side", image.width, image.height, kMaxSide));
  if (image.channels < 1)
    refuse(fmt::format("the image has {} channels, allowed 1 and more", image.channels));
  if (options.premultiplied && !has_alpha(image))
    refuse(
        fmt::format("premultiplied needs an alpha channel, the last of 2 or 4 interleaved ones; the image "
                    "is {}",
                    describe(image)));
  if (options.linear_light && type == ElementType::F32)
    refuse("linear_light needs uint8 or uint16, float32 samples are taken as light already");
  if (options.filter == MipmapFilter::Clamp && (options.width < 2 || options.width > kMostMipmapWidth))
    refuse(fmt::format("width is {}, allowed 2 to {} px", options.width, kMostMipmapWidth));
  if (options.filter != MipmapFilter::Clamp && options.width != 2)
    refuse(fmt::format("width is {}, allowed 2 px (more with filter: clamp)", options.width));
  if (options.stop < 1) refuse(fmt::format("stop is {}, allowed 1 px and more", options.stop));
}

}  // namespace

MipmapAxis make_mipmap_axis(int in, int out, const MipmapOptions& options) {
  MipmapAxis axis{.in = in, .out = out};
  std::vector<std::vector<Tap>> all;
  for (int i = 0; i < out; ++i) {
    all.push_back(taps_of(i, in, out, options));
    axis.stride = std::max(axis.stride, static_cast<int>(all.back().size()));
  }
  const auto stride = static_cast<std::size_t>(axis.stride);
  const std::size_t entries = all.size() * stride;
  axis.index.assign(entries, 0), axis.weights.assign(entries, 0), axis.whole.assign(entries, 0);
  axis.halves = options.filter == MipmapFilter::Box || options.filter == MipmapFilter::Clamp;
  for (std::size_t i = 0; i < all.size(); ++i) {
    axis.count.push_back(static_cast<int>(all[i].size()));
    for (std::size_t j = 0; j < all[i].size(); ++j) {
      const Tap& tap = all[i][j];
      axis.index[i * stride + j] = tap.index;
      axis.weights[i * stride + j] = static_cast<float>(tap.weight);
      axis.whole[i * stride + j] = tap.whole;
      axis.halves =
          axis.halves && all[i].size() == 2 && tap.whole == 1 && tap.index == static_cast<int>(2 * i + j);
    }
  }
  axis.total = 0;
  for (const Tap& tap : all[0]) axis.total += tap.whole;
  return axis;
}

std::unique_ptr<MipmapPlan> make_mipmap_plan(const ImageFormat& image, const MipmapOptions& options) {
  check(image, options);
  auto plan = std::make_unique<MipmapPlan>();
  plan->options = options, plan->image = image;
  plan->sizes = level_sizes(image.width, image.height, options.width, options.sizes, options.stop);
  for (std::size_t level = 1; level < plan->sizes.size(); ++level) {
    const LevelBox &from = plan->sizes[level - 1], &to = plan->sizes[level];
    plan->across.push_back(make_mipmap_axis(from.width, to.width, options));
    plan->down.push_back(make_mipmap_axis(from.height, to.height, options));
  }
  const bool areas = options.filter == MipmapFilter::Box || options.filter == MipmapFilter::Clamp;
  const bool light16 = options.linear_light && image.type == ElementType::U16;
  const bool whole = areas && image.type != ElementType::F32 && !light16 && !options.high_precision;
  plan->sums = whole ? MipmapSums::Whole : MipmapSums::Float;
  plan->keeps = options.high_precision && image.type != ElementType::F32;
  if (options.linear_light) plan->light = &light_tables();
  return plan;
}

}  // namespace contorno
