// One fruit of the synthetic line: its shape, and its skin with the defects, painted onto the six sides of a
// cube of textures, so that skin and defects turn with the fruit. A Fruit owns its textures, which are
// allocated once and painted anew for every fruit that comes along; any number of threads may share the rows
// to paint.
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

/// A random texture by Diamond-Square that repeats in both directions, with mean 0 and standard deviation 1.
/// All skins are made from such textures.
class Clouds {
 public:
  static constexpr int kSide = 256;
  Clouds(std::uint64_t seed, double roughness);
  /// Interpolated between four cells; coordinates are in cells.
  float at(float x, float y) const;
  float cell(int x, int y) const {
    return cells_[static_cast<std::size_t>(y & (kSide - 1)) * kSide +
                  static_cast<std::size_t>(x & (kSide - 1))];
  }
  const float* row(int y) const { return &cells_[static_cast<std::size_t>(y & (kSide - 1)) * kSide]; }
  /// The texture on a sphere, without seams: projected from three sides and blended. `scale` is in cells a
  /// radius; `offset` moves to another part of the texture.
  float around(Vec3 direction, float scale, float offset) const;

 private:
  std::vector<float> cells_;
};

/// The textures that all fruit of a line share.
struct Palette {
  Palette(std::uint64_t seed);
  Clouds soft, rough;
};

/// The shape of a kind, a solid of revolution: the distance from the centre to the surface, and its
/// derivative, over u, the cosine of the angle to the axis. Entry i is for u = 2 i / kSteps - 1; the last one
/// repeats. The unit is the nominal radius across the axis.
struct Profile {
  static constexpr int kSteps = 512;
  float radius[kSteps + 2], slope[kSteps + 2];
  float largest = 1;  ///< of `radius`
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

  /// Makes this the fruit at `place` of `lane`: draws kind, size and defects at random. `defective` is the
  /// probability of defects, `labels` how many labels may occur. Then paint_row must be called for all
  /// rows().
  void choose(std::uint64_t seed, std::uint32_t lane, std::uint32_t place, std::span<const FruitKind> kinds,
              double defective, int labels);
  int rows() const { return 6 * side_; }
  void paint_row(const Palette& palette, int row);

  FruitKind kind() const { return kind_; }
  float radius() const { return radius_; }        ///< across the axis, in nominal radii
  const Rotation& rest() const { return rest_; }  ///< before the line turns it
  float phase() const { return phase_; }          ///< added to the turns of the line, 0..1
  bool has_stem() const { return stem_length_ > 0; }
  float stem_length() const { return stem_length_; }  ///< in radii
  Vec3 stem_bend() const { return stem_bend_; }       ///< what bending adds to the tip, object coordinates

  /// Looks up the skin (colour, gloss and bump, without light) where the first `count` rays hit the fruit.
  void sample(const Rays& rays, int count, Surface& surface) const;
  Label label_at(std::size_t texel) const { return labels_[texel]; }
  /// SkinPoint::strength of a texel.
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
