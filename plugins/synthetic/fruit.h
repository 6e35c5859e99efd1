// One fruit of the synthetic line: its shape, and a skin with its defects baked into a cube of textures, so
// that both turn with it. A Fruit owns its textures, which are taken when it is made and filled anew for
// every fruit that comes along; painting may be shared by any number of threads, row by row.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "plugins/synthetic/math.h"
#include "plugins/synthetic/rays.h"

namespace contorno::synthetic {

enum class FruitKind : std::uint8_t { RedApple, GreenApple, Orange, Lemon, Peach, Tomato, Kiwi };
inline constexpr int kFruitKinds = 7;

/// What a pixel shows, in the order of the classes.
enum class Label : std::uint8_t {
  Background,
  Skin,
  Stem,
  Bruise,
  Rot,
  Scab,
  Russet,
  Puncture,
  Mould,
  Sunburn,
  Crack,
  Insect
};
inline constexpr int kLabels = 12;
inline constexpr int kFirstDefect = static_cast<int>(Label::Bruise);
std::string_view name_of(Label label);

/// Clouds of Diamond-Square that repeat in both directions, mean 0 and deviation 1: what all skins are made
/// from.
class Clouds {
 public:
  static constexpr int kSide = 256;
  Clouds(std::uint64_t seed, double roughness);
  /// Between four cells; coordinates in cells.
  float at(float x, float y) const;
  float cell(int x, int y) const {
    return cells_[static_cast<std::size_t>(y & (kSide - 1)) * kSide +
                  static_cast<std::size_t>(x & (kSide - 1))];
  }
  const float* row(int y) const { return &cells_[static_cast<std::size_t>(y & (kSide - 1)) * kSide]; }
  /// On a sphere without seams: from three sides, blended. `scale` in cells a radius.
  float around(Vec3 direction, float scale, float offset) const;

 private:
  std::vector<float> cells_;
};

struct Palette {
  Palette(std::uint64_t seed);
  Clouds soft, rough;
};

/// Distance from the centre to the surface over u, the cosine of the angle to the axis, and how it changes
/// with u; largest radius across is 1.
struct Profile {
  static constexpr int kSteps = 512;
  float radius[kSteps + 2], slope[kSteps + 2];
  float largest = 1;
};
const Profile& profile_of(FruitKind kind);

/// A point of the skin.
struct SkinPoint {
  Vec3 colour;      ///< light that it reflects, 0..1
  float gloss = 0;  ///< 0..1
  Vec3 bump;        ///< to be added to the normal, object coordinates
  Label label = Label::Skin;
  float strength = 0;  ///< how sure the label is, 0..1; the rest is skin
};

struct Defect {
  Label label = Label::Bruise;
  Vec3 centre;
  float radius = 0.2F;  ///< chord on the unit sphere
  float offset = 0;     ///< into the clouds
};

class Fruit {
 public:
  /// `side`: texels along an edge of the cube.
  explicit Fruit(int side);

  /// Draws kind, size, defects; paint_row must then be called for all of rows().
  void choose(std::uint64_t seed, std::uint32_t lane, std::uint32_t place, std::span<const FruitKind> kinds,
              double defective, int labels);
  int rows() const { return 6 * side_; }
  void paint_row(const Palette& palette, int row);

  FruitKind kind() const { return kind_; }
  float radius() const { return radius_; }  ///< half of the diameter across, in nominal ones
  const Rotation& rest() const { return rest_; }
  float phase() const { return phase_; }
  bool has_stem() const { return stem_length_ > 0; }
  float stem_length() const { return stem_length_; }
  Vec3 stem_bend() const { return stem_bend_; }

  /// What the rays hit. Colours and bump of the skin, without light.
  void sample(const Rays& rays, int count, Surface& surface) const;
  Label label_at(std::size_t texel) const { return labels_[texel]; }
  /// How sure the label is, 0..1.
  float strength_at(std::size_t texel) const;
  int side() const { return side_; }

 private:
  /// Sixteen bytes, so that a texel is one vector: red, green, blue, gloss, bump x, y, z, strength.
  struct Texel {
    std::int16_t parts[8] = {};
  };

  int side_;
  FruitKind kind_ = FruitKind::RedApple;
  float radius_ = 1, phase_ = 0, offset_ = 0, ripeness_ = 0.5F;
  float stem_length_ = 0;
  Vec3 stem_bend_;
  Rotation rest_;
  std::vector<Defect> defects_;
  std::vector<Texel> texels_;
  std::vector<Label> labels_;
};

}  // namespace contorno::synthetic
