#include "plugins/synthetic/fruit.h"

#include "base/error.h"
#include "plugins/synthetic/skin.h"
#include "stages/diamond_square/field.h"

namespace contorno::synthetic {
namespace {

constexpr float kColourSteps = 16384, kBumpSteps = 8192;

std::int16_t stored(float v, float steps) {
  const float scaled = v * steps;
  return static_cast<std::int16_t>(scaled < -32767  ? -32767
                                   : scaled > 32767 ? 32767
                                                    : scaled + (scaled < 0 ? -0.5F : 0.5F));
}

/// What the shape of a kind is made of: length of the axis (across is 1), the depth and width of a hollow at
/// either end (width: half the chord that it spans), pointed ends.
struct Shape {
  float length, top_depth, top_width, bottom_depth, bottom_width, point;
};

Shape shape_of(FruitKind kind) {
  switch (kind) {
    case FruitKind::RedApple:
      return {0.95F, 0.26F, 0.42F, 0.16F, 0.30F, 0};
    case FruitKind::GreenApple:
      return {0.98F, 0.25F, 0.40F, 0.14F, 0.28F, 0};
    case FruitKind::Orange:
      return {0.96F, 0.02F, 0.10F, 0.02F, 0.10F, 0};
    case FruitKind::Lemon:
      return {1.22F, 0, 0.1F, 0, 0.1F, 0.14F};
    case FruitKind::Peach:
      return {0.97F, 0.18F, 0.36F, 0, 0.1F, 0.02F};
    case FruitKind::Tomato:
      return {0.84F, 0.12F, 0.36F, 0.03F, 0.15F, 0};
    case FruitKind::Kiwi:
      return {1.18F, 0.03F, 0.12F, 0.04F, 0.12F, 0};
  }
  throw InternalError("unknown fruit");
}

/// A funnel with a round rim: 1 at the end of the axis, 0 from `width` on; `half_chord` is the sine of half
/// the angle.
float hollow(float half_chord, float width) {
  const float t = clamp01(1 - half_chord / width);
  return t * t * (1.6F - 0.6F * t);
}

Profile make_profile(const Shape& shape) {
  Profile profile;
  for (int i = 0; i < Profile::kSteps + 2; ++i) {
    const float u = std::min(1.0F, static_cast<float>(2 * i) / Profile::kSteps - 1);
    const float ellipse = 1 / std::sqrt(u * u / (shape.length * shape.length) + 1 - u * u);
    const float from_top = std::sqrt((1 - u) / 2), from_bottom = std::sqrt((1 + u) / 2);
    const float near_end = std::min(from_top, from_bottom);
    profile.radius[i] = ellipse - shape.top_depth * hollow(from_top, shape.top_width) -
                        shape.bottom_depth * hollow(from_bottom, shape.bottom_width) +
                        shape.point * smooth(0.26F, 0.02F, near_end);
    profile.largest = i == 0 ? profile.radius[i] : std::max(profile.largest, profile.radius[i]);
  }
  for (int i = 0; i < Profile::kSteps + 2; ++i) {
    const int before = std::max(i - 1, 0), after = std::min(i + 1, Profile::kSteps);
    profile.slope[i] = (profile.radius[after] - profile.radius[before]) /
                       (static_cast<float>(std::max(after - before, 1)) * 2 / Profile::kSteps);
  }
  return profile;
}

/// Directions of the six sides: the axis that a side looks along, and the two in it.
Vec3 direction_on(int side, float a, float b) {
  const float sign = side % 2 == 0 ? 1.0F : -1.0F;
  if (side < 2) return {sign, a, b};
  if (side < 4) return {a, sign, b};
  return {a, b, sign};
}

}  // namespace

std::string_view name_of(Label label) {
  constexpr std::string_view kNames[kLabels] = {"background", "skin",    "stem",   "bruise",
                                                "rot",        "scab",    "russet", "puncture",
                                                "mould",      "sunburn", "crack",  "insect"};
  return kNames[static_cast<int>(label)];
}

const Profile& profile_of(FruitKind kind) {
  static const std::vector<Profile> profiles = [] {
    std::vector<Profile> all;
    for (int k = 0; k < kFruitKinds; ++k) all.push_back(make_profile(shape_of(static_cast<FruitKind>(k))));
    return all;
  }();
  return profiles[static_cast<std::size_t>(kind)];
}

Clouds::Clouds(std::uint64_t seed, double roughness) : cells_(static_cast<std::size_t>(kSide) * kSide) {
  const ImageFormat format{.width = kSide, .height = kSide, .channels = 1, .type = ElementType::F32};
  const ImageView view{.data = cells_.data(), .format = format, .row_pitch = kSide * sizeof(float)};
  diamond_square({.seed = seed,
                  .exponent = 8,
                  .domain = DiamondSquareDomain::Cyclic,
                  .roughness = roughness,
                  .amplitude = 2},
                 view);
  double sum = 0, squares = 0;
  for (const float v : cells_)
    sum += static_cast<double>(v), squares += static_cast<double>(v) * static_cast<double>(v);
  const double mean = sum / static_cast<double>(cells_.size());
  const double deviation =
      std::sqrt(std::max(squares / static_cast<double>(cells_.size()) - mean * mean, 1e-12));
  for (float& v : cells_) v = static_cast<float>((static_cast<double>(v) - mean) / deviation);
}

float Clouds::at(float x, float y) const {
  const float left = std::floor(x), top = std::floor(y);
  const float right_weight = x - left, lower_weight = y - top;
  const int ix = static_cast<int>(left), iy = static_cast<int>(top);
  const float *upper = row(iy), *lower = row(iy + 1);
  const int x0 = ix & (kSide - 1), x1 = (ix + 1) & (kSide - 1);
  return mix(mix(upper[x0], upper[x1], right_weight), mix(lower[x0], lower[x1], right_weight), lower_weight);
}

float Clouds::around(Vec3 d, float scale, float offset) const {
  const Vec3 s{d.x * d.x, d.y * d.y, d.z * d.z};
  const Vec3 w{s.x * s.x, s.y * s.y, s.z * s.z};
  // Blending lowers the deviation; this division restores it.
  const float norm = 1 / std::sqrt(w.x * w.x + w.y * w.y + w.z * w.z);
  const float side = offset + (d.x < 0 ? 31.5F : 0.0F), end = offset + (d.y < 0 ? 57.25F : 0.0F),
              top = offset + (d.z < 0 ? 97.75F : 0.0F);
  float sum = 0;
  if (w.x > 0.004F) sum += w.x * at(d.y * scale + side, d.z * scale - side);
  if (w.y > 0.004F) sum += w.y * at(d.z * scale + end + 113, d.x * scale - end);
  if (w.z > 0.004F) sum += w.z * at(d.x * scale + top, d.y * scale - top + 71);
  return sum * norm;
}

Palette::Palette(std::uint64_t seed) : soft(seed ^ 0x50F7, 1.0), rough(seed ^ 0x4064, 0.1) {}

Fruit::Fruit(int side)
    : side_(side),
      texels_(static_cast<std::size_t>(side) * side * 6),
      labels_(static_cast<std::size_t>(side) * side * 6) {
  defects_.reserve(8);
}

void Fruit::choose(std::uint64_t seed, std::uint32_t lane, std::uint32_t place,
                   std::span<const FruitKind> kinds, double defective, int labels) {
  Dice dice(seed, lane, place, 1);
  kind_ = kinds[static_cast<std::size_t>(dice.below(static_cast<int>(kinds.size())))];
  radius_ = dice.between(0.86F, 1.02F) / std::max(1.0F, profile_of(kind_).largest * 0.98F);
  offset_ = dice.between(0, 4096);
  ripeness_ = dice.unit();
  phase_ = dice.unit();
  rest_.z = dice.direction();
  rest_.x = unit(cross(rest_.z, dice.direction()));
  rest_.y = cross(rest_.z, rest_.x);
  const bool apple = kind_ == FruitKind::RedApple || kind_ == FruitKind::GreenApple;
  stem_length_ = apple && dice.unit() < 0.75F ? dice.between(0.16F, 0.34F) : 0;
  stem_bend_ = dice.direction() * 0.10F;
  defects_.clear();
  if (dice.unit() >= static_cast<float>(defective)) return;
  const int count = 1 + dice.below(3);
  for (int i = 0; i < count; ++i) {
    const int chosen = kFirstDefect + dice.below(std::max(1, std::min(labels, kLabels) - kFirstDefect));
    const auto label = static_cast<Label>(chosen);
    const auto [smallest, largest] = defect_radius(label);
    defects_.push_back({.label = label,
                        .centre = dice.direction(),
                        .radius = dice.between(smallest, largest),
                        .offset = dice.between(0, 4096)});
  }
}

void Fruit::paint_row(const Palette& palette, int row) {
  const int side = row / side_, y = row % side_;
  const float step = 2.0F / static_cast<float>(side_ - 1), b = static_cast<float>(y) * step - 1;
  const SkinOf skin{palette, kind_, offset_, ripeness_, defects_};
  for (int x = 0; x < side_; ++x) {
    const SkinPoint point = skin.at(unit(direction_on(side, static_cast<float>(x) * step - 1, b)));
    const std::size_t at =
        static_cast<std::size_t>(row) * static_cast<std::size_t>(side_) + static_cast<std::size_t>(x);
    texels_[at] = {{stored(point.colour.x, kColourSteps), stored(point.colour.y, kColourSteps),
                    stored(point.colour.z, kColourSteps), stored(point.gloss, kColourSteps),
                    stored(point.bump.x, kBumpSteps), stored(point.bump.y, kBumpSteps),
                    stored(point.bump.z, kBumpSteps), stored(point.strength, kColourSteps)}};
    labels_[at] = point.label;
  }
}

void Fruit::sample(const Rays& rays, int count, Surface& surface) const {
  for (int i = 0; i < count; ++i) {
    if (rays.coverage[i] <= 0) continue;
    const Texel* upper = texels_.data() + rays.texel[i];
    const Texel* lower = upper + side_;
    const int right = rays.x_weight[i], left = kCubeWeights - right, low = rays.y_weight[i],
              high = kCubeWeights - low;
    const int a = left * high, b = right * high, c = left * low, d = right * low;
    float parts[8];
    for (int k = 0; k < 8; ++k)
      parts[k] = static_cast<float>(upper[0].parts[k] * a + upper[1].parts[k] * b + lower[0].parts[k] * c +
                                    lower[1].parts[k] * d);
    constexpr float kWeights = kCubeWeights * kCubeWeights;
    constexpr float kColour = 1 / (kColourSteps * kWeights), kBump = 1 / (kBumpSteps * kWeights);
    surface.red[i] = parts[0] * kColour, surface.green[i] = parts[1] * kColour,
    surface.blue[i] = parts[2] * kColour;
    surface.gloss[i] = parts[3] * kColour;
    surface.bump_x[i] = parts[4] * kBump, surface.bump_y[i] = parts[5] * kBump,
    surface.bump_z[i] = parts[6] * kBump;
  }
}

float Fruit::strength_at(std::size_t texel) const {
  return static_cast<float>(texels_[texel].parts[7]) * (1 / kColourSteps);
}

}  // namespace contorno::synthetic
