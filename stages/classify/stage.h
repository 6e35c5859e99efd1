// Classify: turns a colour frame into one map a class where no network supplies them, by the distance of each
// pixel's colour to the reference colours and hue ranges that the graph gives for the class.
// docs/reference/classify.md has the mathematics.
//
// Input: a frame, uint8: grey, RGB or RGBA.
//
// Output: class maps, planar, one channel a class, 0..1 (uint8: v / 255), level 0.5 = "rather this than not".
//
// Memory, for each thread and slot: a table of colours of at most 512 KiB and up to 8 rows of maps; with
// smoothing 2 * smooth + 1 rows more.
//
// Both backends give the same bits, because ClassifyPixel and the smoothing sums are the same operations in
// the same order, over tables that the host makes when the stage is planned.
#pragma once

#include <vector>

#include "pipeline/graph/stage.h"
#include "stages/shared/colour.h"

namespace contorno {

enum class ColourSpace : std::uint8_t { Oklab, Rgb };
enum class MapType : std::uint8_t { Float32, Uint8 };

struct ClassifyParams {
  ColourSpace space = ColourSpace::Oklab;
  double softness = 0.05;
  double rest = 0.12;
  double lightness = 0.5;
  int smooth = 1;
  MapType output = MapType::Float32;
};

inline constexpr int kMaxSmooth = 8;

/// A hue range in the units of hsv_of, as a centre and half widths: the distance outside is then branch-free.
struct ClassifyRange {
  Triple centre, half;
};

/// One class: its references [first_reference, last_reference) and ranges; neither = the rest.
struct ClassifyClass {
  int first_reference = 0, last_reference = 0, first_range = 0, last_range = 0;
};

/// Distance and weight of colours; the tables belong to the plan (host) or the slot (device).
struct ClassifyPixel {
  const float* decode = nullptr;  ///< 256 values of linear light
  const Triple* references = nullptr;
  const ClassifyRange* ranges = nullptr;
  ColourSpace space = ColourSpace::Oklab;
  float lightness = 1;
  float sharpness = 1;    ///< 1 / softness^2
  float rest_weight = 0;  ///< of the class without references, or of "none of them"

  /// The pixel's colour where distances to references are measured.
  CONTORNO_HD Triple place(std::uint8_t red, std::uint8_t green, std::uint8_t blue) const {
    if (space == ColourSpace::Rgb)
      return {static_cast<float>(red) / 255.0F, static_cast<float>(green) / 255.0F,
              static_cast<float>(blue) / 255.0F};
    const Triple lab = oklab_of(decode[red], decode[green], decode[blue]);
    return {lab.x * lightness, lab.y, lab.z};
  }
  CONTORNO_HD static Triple hsv(std::uint8_t red, std::uint8_t green, std::uint8_t blue) {
    return hsv_of(static_cast<float>(red) / 255.0F, static_cast<float>(green) / 255.0F,
                  static_cast<float>(blue) / 255.0F);
  }

  CONTORNO_HD static float squared_distance(const Triple& a, const Triple& b) {
    const float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return x * x + y * y + z * z;
  }
  /// 0 inside; a half turn of hue counts as much as the whole range of saturation or value.
  CONTORNO_HD static float squared_distance(const Triple& hsv, const ClassifyRange& range) {
    const float away = absolute(hsv.x - range.centre.x);
    const float turn = away > 0.5F ? 1.0F - away : away;
    const float x = 2.0F * above_zero(turn - range.half.x);
    const float y = above_zero(absolute(hsv.y - range.centre.y) - range.half.y);
    const float z = above_zero(absolute(hsv.z - range.centre.z) - range.half.z);
    return x * x + y * y + z * z;
  }
  /// The least squared distance of a colour to the references and ranges of a class; `hsv` is looked at only
  /// where the class has ranges.
  CONTORNO_HD float nearest(const ClassifyClass& entry, const Triple& at, const Triple& hsv) const {
    float least = 1e9F;
    for (int r = entry.first_reference; r < entry.last_reference; ++r) {
      const float d = squared_distance(at, references[r]);
      least = d < least ? d : least;
    }
    for (int r = entry.first_range; r < entry.last_range; ++r) {
      const float d = squared_distance(hsv, ranges[r]);
      least = d < least ? d : least;
    }
    return least;
  }
  /// 1 at distance 0, 1/4 at the softness, then falling with its fourth power.
  CONTORNO_HD float weight(float squared) const {
    const float root = 1.0F / (1.0F + squared * sharpness);
    return root * root;
  }

 private:
  CONTORNO_HD static float absolute(float v) { return v < 0.0F ? -v : v; }
  CONTORNO_HD static float above_zero(float v) { return v > 0.0F ? v : 0.0F; }
};

/// Probability as uint8: rounded, halves up. `p` is 0..1.
CONTORNO_HD inline std::uint8_t to_probability_byte(float p) {
  return static_cast<std::uint8_t>(static_cast<int>(p * 255.0F + 0.5F));
}

/// The CUDA implementation; only in builds that have CUDA.
std::unique_ptr<Stage> make_classify_cuda(const ParamSet& params);

const StageType& classify_stage();

}  // namespace contorno
