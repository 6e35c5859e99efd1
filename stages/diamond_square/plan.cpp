#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/error.h"
#include "stages/diamond_square/rules.h"

namespace contorno {
namespace {

/// 2^-h for 0 <= h < 4, from square roots alone: the same on every machine.
double halved(double h) {
  double result = std::ldexp(1.0, -static_cast<int>(h)), root = 0.5;
  double rest = h - std::floor(h);
  for (int bit = 0; bit < 40; ++bit) {
    root = std::sqrt(root);
    rest *= 2;
    if (rest >= 1) result *= root, rest -= 1;
  }
  return result;
}

HeightRule make_rule(const DiamondSquareParams& params, ElementType type, int level, double scale) {
  HeightRule rule{.level = static_cast<std::uint32_t>(level),
                  .half = std::int64_t{1} << (params.exponent - level)};
  const double spread = params.amplitude * scale / 2;
  rule.float_low = static_cast<float>(-spread);
  rule.float_span = static_cast<float>(2 * spread);
  const auto most = static_cast<std::int32_t>(spread * (type == ElementType::U8 ? 256 : 65536));
  const bool unbiased = params.range == DiamondSquareRange::Unbiased;
  if (unbiased) rule.round4 = 2, rule.round3 = 1;
  if (params.amplitude == 0) return rule;
  rule.low = -std::max(most, 1);
  rule.span = static_cast<std::uint32_t>(-2 * rule.low + (unbiased ? 1 : 0));
  return rule;
}

std::uint32_t corner_bits(double height, ElementType type) {
  switch (type) {
    case ElementType::U8:
      return static_cast<std::uint32_t>(height * 255 + 0.5);
    case ElementType::U16:
      return static_cast<std::uint32_t>(height * 65535 + 0.5);
    case ElementType::F32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(height));
    case ElementType::F16:
    case ElementType::F64:
      break;
  }
  throw InternalError("heights of an unforeseen type");
}

Error bad(const std::string& what) {
  return {ExitCode::BadConfig, "diamond_square: " + what};
}

void check_format(const ImageFormat& format) {
  if (format.type != ElementType::U8 && format.type != ElementType::U16 && format.type != ElementType::F32)
    throw bad(fmt::format("heights of type {}, allowed are uint8, uint16 and float32", name_of(format.type)));
  if (format.width < 1 || format.height < 1 || format.width > kMaxSide || format.height > kMaxSide ||
      format.channels < 1)
    throw bad(fmt::format("an image of {}, allowed are sides of 1 to {} px", describe(format), kMaxSide));
}

void check_corners(const DiamondSquareParams& params) {
  const std::size_t given = params.corners.size();
  if (given == 0) return;
  switch (params.domain) {
    case DiamondSquareDomain::Finite:
      if (given != 4) throw bad(fmt::format("{} corners, allowed are 4 (or none: random)", given));
      return;
    case DiamondSquareDomain::Cyclic:
      if (given != 1)
        throw bad(fmt::format("{} corners, but a cyclic field has only 1 (or none: random)", given));
      return;
    case DiamondSquareDomain::Endless:
      throw bad("corners are given, but an endless field has no corners; remove them");
  }
}

}  // namespace

DiamondSquarePlan plan_diamond_square(const DiamondSquareParams& params, const ImageFormat& format) {
  check_format(format);
  check_corners(params);
  DiamondSquarePlan plan{.params = params, .format = format};
  int& exponent = plan.params.exponent;
  if (exponent == 0) {
    const auto width = static_cast<std::uint64_t>(std::max<std::int64_t>(params.col, 0) + format.width);
    const auto height = static_cast<std::uint64_t>(std::max<std::int64_t>(params.row, 0) + format.height);
    const std::uint64_t last =
        std::max(width, height) - (params.domain == DiamondSquareDomain::Finite ? 1 : 0);
    exponent = std::clamp(static_cast<int>(std::bit_width(std::max<std::uint64_t>(last, 2) - 1)), 1,
                          kMaxDiamondSquareExponent);
  }
  if (exponent < 1 || exponent > kMaxDiamondSquareExponent)
    throw bad(fmt::format("exponent is {}, allowed 1 to {}", exponent, kMaxDiamondSquareExponent));
  const std::int64_t side = std::int64_t{1} << exponent;
  if (params.domain == DiamondSquareDomain::Finite &&
      (params.row < 0 || params.col < 0 || params.row + format.height > side + 1 ||
       params.col + format.width > side + 1))
    throw bad(fmt::format(
        "the image covers cells {} to {} x {} to {}, but the field has 0 to {}; make the exponent "
        "larger or the domain endless",
        params.col, params.col + format.width - 1, params.row, params.row + format.height - 1, side));
  double scale = 1;
  const double step = halved(params.roughness);
  for (int level = 1; level <= exponent; ++level, scale *= step)
    plan.levels.push_back(make_rule(plan.params, format.type, level, scale));
  for (const double corner : params.corners) plan.corners.push_back(corner_bits(corner, format.type));
  return plan;
}

}  // namespace contorno
