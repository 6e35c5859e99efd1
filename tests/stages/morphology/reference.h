// Morphology by its definitions, for the tests: pixel by pixel, member by member, in double, with no run, row
// or table in common with the stage. And the pictures on which both are compared.
#pragma once

#include <cmath>
#include <limits>
#include <optional>

#include "stages/morphology/stage.h"
#include "tests/stages/compare_images.h"
#include "tests/stages/harness.h"

namespace contorno::test {

/// Values as the definitions see them: numbers, NaN above all of them, -0 below 0.
struct Level {
  double value = 0;
  bool operator<(const Level& other) const {
    if (std::isnan(value) || std::isnan(other.value)) return !std::isnan(value) && std::isnan(other.value);
    if (value == 0 && other.value == 0) return std::signbit(value) && !std::signbit(other.value);
    return value < other.value;
  }
};

struct Reference {
  MorphologyOptions options;
  double lowest = 0, highest = 255;  ///< least and greatest value of the sample type
  bool floating = false;

  explicit Reference(ElementType type, const MorphologyOptions& with = {}) : options(with) {
    if (type == ElementType::U16) highest = 65535;
    if (type == ElementType::F32) {
      lowest = -std::numeric_limits<double>::infinity(), highest = -lowest;
      floating = true;
    }
  }

  using Plane = std::vector<std::vector<double>>;  // [y][x]

  std::optional<double> outside_too(const Plane& f, int x, int y) const {
    const int h = static_cast<int>(f.size()), w = static_cast<int>(f[0].size());
    // Step by step towards the image, as the borders are described in words.
    const auto fold = [&](int i, int n) -> std::optional<int> {
      while (i < 0 || i >= n) {
        switch (options.border) {
          case MorphologyBorder::Identity:
          case MorphologyBorder::Constant:
            return std::nullopt;
          case MorphologyBorder::Replicate:
            i = i < 0 ? i + 1 : i - 1;
            break;
          case MorphologyBorder::Wrap:
            i = i < 0 ? i + n : i - n;
            break;
          case MorphologyBorder::Reflect:
            i = i < 0 ? -1 - i : 2 * n - 1 - i;
            break;
          case MorphologyBorder::Reflect101:
            i = n == 1 ? 0 : i < 0 ? -i : 2 * (n - 1) - i;
            break;
        }
      }
      return i;
    };
    const auto column = fold(x, w), row = fold(y, h);
    if (column && row) return f[static_cast<std::size_t>(*row)][static_cast<std::size_t>(*column)];
    if (options.border == MorphologyBorder::Constant)
      return floating ? static_cast<float>(options.border_value) : options.border_value;
    return std::nullopt;
  }

  double saturated(double v) const {
    if (floating) return static_cast<float>(v);
    return std::min(std::max(v, lowest), highest);
  }

  Plane erode(const Plane& f, const StructuringElement& element) const {
    const double sign = options.erosion_heights == ErosionHeights::Added ? 1 : -1;
    Plane out = f;
    each(out, [&](int x, int y, double& result) {
      std::optional<Level> best;
      for (int j = 0; j < element.height(); ++j)
        for (int i = 0; i < element.width(); ++i) {
          if (!element.member(i, j)) continue;
          const auto v = outside_too(f, x + i - element.anchor_x(), y + j - element.anchor_y());
          if (!v) continue;
          const Level level{element.flat() ? *v : raised(*v, sign * element.height_at(i, j))};
          if (!best || level < *best) best = level;
        }
      result = best ? best->value : highest;
    });
    return out;
  }

  Plane dilate(const Plane& f, const StructuringElement& element) const {
    const int sign = options.dilation_element == DilationElement::Reflected ? -1 : 1;
    Plane out = f;
    each(out, [&](int x, int y, double& result) {
      std::optional<Level> best;
      for (int j = 0; j < element.height(); ++j)
        for (int i = 0; i < element.width(); ++i) {
          if (!element.member(i, j)) continue;
          const auto v =
              outside_too(f, x + sign * (i - element.anchor_x()), y + sign * (j - element.anchor_y()));
          if (!v) continue;
          const Level level{element.flat() ? *v : raised(*v, element.height_at(i, j))};
          if (!best || *best < level) best = level;
        }
      result = best ? best->value : lowest;
    });
    return out;
  }

  Plane minus(const Plane& a, const Plane& b) const {
    Plane out = a;
    each(out, [&](int x, int y, double& v) {
      const double other = b[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)];
      const double d =
          floating ? static_cast<double>(static_cast<float>(v) - static_cast<float>(other)) : v - other;
      v = std::isnan(d) || d > 0 ? d : 0;
    });
    return out;
  }

  /// By repeated dilation by the neighbours, as long as something changes.
  Plane reconstruct(Plane marker, const Plane& mask, ReconstructionMethod method) const {
    const bool grow = method == ReconstructionMethod::Dilation;
    const auto bounded = [&](double v, double m) {
      const bool beyond = grow ? Level{m} < Level{v} : Level{v} < Level{m};
      return beyond ? m : v;
    };
    each(marker, [&](int x, int y, double& v) {
      v = bounded(v, mask[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)]);
    });
    const StructuringElement near = options.neighbours == Neighbours::Eight
                                        ? StructuringElement::rectangle(3, 3)
                                        : StructuringElement::cross(3, 3);
    Reference plain = *this;
    plain.options = {};
    for (bool changed = true; changed;) {
      Plane next = grow ? plain.dilate(marker, near) : plain.erode(marker, near);
      changed = false;
      each(next, [&](int x, int y, double& v) {
        v = bounded(v, mask[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)]);
        const Level before{marker[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)]};
        changed |= before < Level{v} || Level{v} < before;
      });
      marker = next;
    }
    return marker;
  }

  Plane apply(MorphologyOperation operation, const Plane& f, const StructuringElement& b) const {
    switch (operation) {
      case MorphologyOperation::Erosion:
        return erode(f, b);
      case MorphologyOperation::Dilation:
        return dilate(f, b);
      case MorphologyOperation::Opening:
        return dilate(erode(f, b), b);
      case MorphologyOperation::Closing:
        return erode(dilate(f, b), b);
      case MorphologyOperation::Gradient:
        return minus(dilate(f, b), erode(f, b));
      case MorphologyOperation::InternalGradient:
        return minus(f, erode(f, b));
      case MorphologyOperation::ExternalGradient:
        return minus(dilate(f, b), f);
      case MorphologyOperation::TopHat:
        return minus(f, dilate(erode(f, b), b));
      case MorphologyOperation::BlackHat:
        return minus(erode(dilate(f, b), b), f);
      case MorphologyOperation::OpeningByReconstruction:
        return reconstruct(erode(f, b), f, ReconstructionMethod::Dilation);
      case MorphologyOperation::ClosingByReconstruction:
        return reconstruct(dilate(f, b), f, ReconstructionMethod::Erosion);
    }
    return f;
  }

 private:
  template <class F>
  static void each(Plane& plane, const F& f) {
    for (std::size_t y = 0; y < plane.size(); ++y)
      for (std::size_t x = 0; x < plane[y].size(); ++x)
        f(static_cast<int>(x), static_cast<int>(y), plane[y][x]);
  }
  double raised(double v, double height) const {
    if (floating) return static_cast<float>(v) + static_cast<float>(height);
    return saturated(v + height);
  }
};

/// One channel of an image.
template <class T>
Reference::Plane plane_of(const TestImage& image, int channel) {
  const ImageFormat& format = image.view.format;
  Reference::Plane plane(static_cast<std::size_t>(format.height));
  for (int y = 0; y < format.height; ++y)
    for (int x = 0; x < format.width; ++x)
      plane[static_cast<std::size_t>(y)].push_back(static_cast<double>(image.at<T>(x, y, channel)));
  return plane;
}

/// How many samples of a channel are not what `expected` says, bit for bit.
template <class T>
int differences(const TestImage& image, int channel, const Reference::Plane& expected) {
  int count = 0;
  for (int y = 0; y < image.view.format.height; ++y)
    for (int x = 0; x < image.view.format.width; ++x) {
      const double v = expected[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)];
      const T want = static_cast<T>(v), got = image.at<T>(x, y, channel);
      if (std::isnan(v) ? got == got : std::memcmp(&want, &got, sizeof(T)) != 0) ++count;
    }
  return count;
}

inline constexpr MorphologyOperation kOperations[] = {MorphologyOperation::Erosion,
                                                      MorphologyOperation::Dilation,
                                                      MorphologyOperation::Opening,
                                                      MorphologyOperation::Closing,
                                                      MorphologyOperation::Gradient,
                                                      MorphologyOperation::InternalGradient,
                                                      MorphologyOperation::ExternalGradient,
                                                      MorphologyOperation::TopHat,
                                                      MorphologyOperation::BlackHat,
                                                      MorphologyOperation::OpeningByReconstruction,
                                                      MorphologyOperation::ClosingByReconstruction};

/// Smooth waves with noise and flat parts; a few NaN, infinities and zeros of both signs where there are any.
template <class T>
TestImage picture(const ImageFormat& format, std::uint64_t seed, std::size_t row_extra = 0) {
  Random random(seed);
  ImageFormat typed = format;
  typed.type =
      std::is_same_v<T, float> ? ElementType::F32 : (sizeof(T) == 2 ? ElementType::U16 : ElementType::U8);
  return filled_image<T>(
      typed,
      [&](int x, int y, int c) -> T {
        const double wave = 0.5 + 0.35 * std::sin(0.4 * x + c) * std::cos(0.3 * y) + 0.15 * random.unit();
        const int pick = random.below(40);
        if constexpr (std::is_same_v<T, float>) {
          if (pick == 0) return random.below(2) != 0 ? std::nanf("") : -std::nanf("");
          if (pick == 1) return std::numeric_limits<float>::infinity();
          if (pick == 2) return random.below(2) != 0 ? 0.0F : -0.0F;
          return static_cast<float>(wave);
        } else {
          const double full = std::numeric_limits<T>::max();
          if (pick == 0) return static_cast<T>(full);
          if (pick == 1) return T{0};
          return static_cast<T>(wave * full);
        }
      },
      row_extra);
}

inline Comparison same(const TestImage& a, const TestImage& b) {
  return same_image(a.view, b.view);
}

}  // namespace contorno::test
