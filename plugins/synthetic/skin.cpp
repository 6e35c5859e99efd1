#include "plugins/synthetic/skin.h"

#include "base/error.h"

namespace contorno::synthetic {

std::pair<float, float> defect_radius(Label label) {
  switch (label) {
    case Label::Bruise:
      return {0.22F, 0.5F};
    case Label::Rot:
      return {0.25F, 0.6F};
    case Label::Scab:
      return {0.3F, 0.6F};
    case Label::Russet:
      return {0.35F, 0.7F};
    case Label::Puncture:
      return {0.09F, 0.15F};
    case Label::Mould:
      return {0.25F, 0.5F};
    case Label::Sunburn:
      return {0.4F, 0.8F};
    case Label::Crack:
      return {0.3F, 0.6F};
    case Label::Insect:
      return {0.2F, 0.4F};
    case Label::Background:
    case Label::Skin:
    case Label::Stem:
      break;
  }
  return {0, 0};
}

const Look& look_of(FruitKind kind) {
  static const Look looks[kFruitKinds] = {
      {colour(0xd9b450), colour(0xb3201f), colour(0x6e0d16), colour(0xe9c99a), 0.9F, 0.75F, 0.7F, 0.5F, 0.02F,
       60, 0.75F},
      {colour(0x93b52f), colour(0xb9c64c), colour(0x7da32a), colour(0xdfe6a8), 0.1F, 0.15F, 0.8F, 0.55F,
       0.02F, 60, 0.8F},
      {colour(0xf08512), colour(0xe8700a), colour(0xd9640a), colour(0xffb04a), 0.2F, 0, 0.9F, 0.15F, 0.10F,
       84, 0.5F},
      {colour(0xf3cd20), colour(0xe4bd18), colour(0xd0b020), colour(0xfbe67a), 0.0F, 0, 0.9F, 0.1F, 0.10F, 72,
       0.5F},
      {colour(0xf2b662), colour(0xc94436), colour(0x9c2a2c), colour(0xf6cf95), 0.1F, 0.25F, 1.2F, 0.35F,
       0.05F, 90, 0.12F},
      {colour(0xd8351c), colour(0xc81f14), colour(0xa8140f), colour(0xe66a3a), 0.4F, 0.1F, 0.8F, 0.1F, 0.01F,
       60, 0.9F},
      {colour(0x8a6a3c), colour(0x6f5129), colour(0x553d20), colour(0xa98a58), 0.2F, 0.2F, 0.8F, 0.6F, 0.16F,
       95, 0.1F},
  };
  return looks[static_cast<int>(kind)];
}

namespace {

/// 1 near the centre of each of five lobes around the axis, -1 between: the cosine of five times the angle.
float five_lobes(Vec3 d) {
  const float length = std::sqrt(d.x * d.x + d.y * d.y);
  const float c = d.x / std::max(length, 1e-6F), square = c * c;
  return c * (16 * square * square - 20 * square + 5);
}

void cover(SkinPoint& point, Vec3 tint, float amount, Label label, float strength) {
  point.colour = mix(point.colour, tint, amount);
  if (strength > point.strength || (point.label == Label::Skin && strength > 0)) {
    point.label = label;
    point.strength = std::max(point.strength, strength);
  }
}

}  // namespace

Vec3 SkinOf::plain_colour(Vec3 d) const {
  const Look& look = look_of(kind);
  const float wide = palette.soft.around(d, 90, offset);
  const float length = std::max(std::sqrt(d.x * d.x + d.y * d.y), 0.05F);
  // Along a circle through the clouds, so that a streak runs from end to end.
  const float streak = palette.rough.at(offset + 41 * d.x / length, 41 * d.y / length + 2.5F * d.z - offset);
  const float wave = palette.soft.at(offset + 100 * d.x / length, 100 * d.y / length + 14 * d.z);
  const float lit = 0.55F * d.x + 0.35F * d.z;  // the side that hung in the sun
  const float red = look.blushed + (ripeness - 0.5F) * 1.1F + lit * (look.streaks + 0.3F) +
                    look.patches * 0.45F * wide + look.streaks * (0.5F * streak + 0.5F * wave);
  Vec3 tint = mix(look.ground, look.blush, smooth(-0.7F, 0.8F, red));
  tint = mix(tint, look.deep, 0.8F * smooth(0.9F, 2.4F, red));
  const float spot = palette.rough.around(d, 30, offset + 500);
  tint = mix(tint, look.speck, look.specks * smooth(1.7F, 2.5F, spot));
  const float grain = 1 + 0.03F * palette.rough.around(d, 75, offset + 900);
  return tint * grain;
}

float SkinOf::height(Vec3 d) const {
  const Look& look = look_of(kind);
  float height = look.pits * std::min(palette.rough.around(d, look.pit_scale, offset + 1300), 0.4F);
  height += 0.015F * palette.soft.around(d, 80, offset + 1700);
  for (const Defect& one : defects) {
    const Vec3 away = d - one.centre;
    const float t = std::sqrt(dot(away, away)) / one.radius;
    if (t > 1.3F) continue;
    if (one.label == Label::Rot || one.label == Label::Puncture)
      height -= 0.5F * smooth(1.1F, 0.1F, t) -
                0.1F * palette.rough.around(d, 40, one.offset) * smooth(1.1F, 0.8F, t);
    if (one.label == Label::Scab || one.label == Label::Russet || one.label == Label::Mould)
      height += 0.12F * palette.rough.around(d, 60, one.offset) * smooth(1.1F, 0.8F, t);
    if (one.label == Label::Bruise) height -= 0.25F * smooth(1.1F, 0.3F, t);
  }
  return height;
}

Vec3 SkinOf::bump(Vec3 d) const {
  constexpr float kStep = 0.02F;
  const Vec3 other = std::abs(d.x) < 0.7F ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
  const Vec3 east = unit(cross(other, d)), north = cross(d, east);
  const float here = height(d);
  const float to_east = height(unit(d + east * kStep)) - here,
              to_north = height(unit(d + north * kStep)) - here;
  return (east * to_east + north * to_north) * (-0.05F / kStep);
}

/// Where the stem sat and where the flower was.
void SkinOf::ends(Vec3 d, SkinPoint& point) const {
  const float u = d.z, rough = palette.rough.around(d, 45, offset + 2100);
  switch (kind) {
    case FruitKind::RedApple:
    case FruitKind::GreenApple: {
      const float top = smooth(0.86F, 0.99F, u + 0.02F * rough),
                  bottom = smooth(-0.93F, -0.995F, u + 0.01F * rough);
      point.colour = mix(point.colour, colour(0x8c7d3a), 0.55F * top) * (1 - 0.6F * smooth(0.9F, 1.0F, u)) *
                     (1 - 0.5F * smooth(-0.95F, -1.0F, u));
      point.gloss *= 1 - 0.8F * std::max(top, bottom);
      const float calyx = smooth(-0.972F, -0.985F, u + 0.012F * five_lobes(d));
      cover(point, colour(0x2e2416), 0.9F * calyx, Label::Stem, calyx);
      const float cut = smooth(0.988F, 0.994F, u);
      cover(point, colour(0x3a2814), 0.9F * cut, Label::Stem, cut);
      return;
    }
    case FruitKind::Orange:
    case FruitKind::Lemon: {
      point.colour = mix(point.colour, colour(0x9c9a34), 0.35F * smooth(0.93F, 0.995F, std::abs(u)));
      const float button = smooth(0.988F, 0.993F, u - 0.0025F * five_lobes(d));
      cover(point, mix(colour(0x6d6a2c), colour(0x8f7f4a), clamp01(0.5F + 0.3F * rough)), button, Label::Stem,
            button);
      const float tip = smooth(-0.9975F, -0.9985F, u);
      cover(point, colour(0x5d4526), tip, Label::Stem, tip);
      return;
    }
    case FruitKind::Peach: {
      // The seam from end to end.
      const float seam = d.x > 0 ? smooth(0.07F, 0.0F, std::abs(d.y)) : 0.0F;
      point.colour = point.colour * (1 - 0.25F * seam) * (1 - 0.5F * smooth(0.9F, 1.0F, u));
      const float hole = smooth(0.985F, 0.993F, u);
      cover(point, colour(0x4d3418), hole, Label::Stem, hole);
      return;
    }
    case FruitKind::Tomato: {
      point.colour = mix(point.colour, colour(0xd98a3a), 0.5F * smooth(0.9F, 0.99F, u));
      // A star of five leaves.
      const float reach = 0.90F + 0.055F * (1 - five_lobes(d));
      const float star = smooth(reach, reach + 0.012F, u);
      cover(point, mix(colour(0x3f6b22), colour(0x6d9440), clamp01(0.5F + 0.3F * rough)), star, Label::Stem,
            star);
      if (star > 0.5F) point.gloss = 0.15F;
      return;
    }
    case FruitKind::Kiwi: {
      const float end = std::max(smooth(0.982F, 0.992F, u), smooth(-0.985F, -0.993F, u));
      cover(point, colour(0x33230f), 0.9F * end, Label::Stem, end);
      return;
    }
  }
  throw InternalError("unknown fruit");
}

void SkinOf::defect(const Defect& one, Vec3 d, SkinPoint& point) const {
  const Vec3 away = d - one.centre;
  const float distance = std::sqrt(dot(away, away)) / one.radius;
  if (distance > 1.9F) return;
  const float soft = palette.soft.around(d, 120, one.offset),
              rough = palette.rough.around(d, 48, one.offset + 300);
  const float t = distance + 0.16F * soft + 0.04F * rough;
  const Vec3 skin = point.colour;
  switch (one.label) {
    case Label::Bruise: {
      const float dark = smooth(1.15F, 0.55F, t);
      const Vec3 flesh = skin * Vec3{0.42F, 0.30F, 0.22F} + colour(0x3a2412) * 0.35F;
      cover(point, flesh, 0.85F * dark, one.label, smooth(1.08F, 0.88F, t));
      point.gloss *= 1 - 0.3F * dark;
      return;
    }
    case Label::Rot: {
      const float dark = smooth(1.05F, 0.9F, t);
      const float ring = 0.5F + 0.5F * (4 * std::abs(t * 3 - std::floor(t * 3) - 0.5F) - 1);
      const Vec3 flesh =
          mix(colour(0x3b2110), colour(0x7b4c22), clamp01(0.35F * ring + 0.4F * t + 0.12F * rough));
      cover(point, flesh, dark, one.label, smooth(1.04F, 0.96F, t));
      const float spots =
          smooth(0.75F, 0.45F, t) * smooth(0.7F, 1.5F, palette.rough.around(d, 26, one.offset + 700));
      point.colour = mix(point.colour, colour(0xd9d3bf), 0.9F * spots);
      point.gloss *= 1 - 0.75F * dark;
      return;
    }
    case Label::Scab: {
      const float spots =
          smooth(0.1F, 0.45F,
                 palette.soft.around(d, 220, one.offset + 90) + 0.25F * rough - 0.9F * (distance - 0.6F)) *
          smooth(1.1F, 0.95F, distance);
      const Vec3 cork = mix(colour(0x2e2a19), colour(0x8b774e), clamp01(0.3F + 0.4F * rough));
      cover(point, cork, 0.92F * spots, one.label, spots);
      point.gloss *= 1 - 0.9F * spots;
      return;
    }
    case Label::Russet: {
      const float net = smooth(-0.35F, 0.35F, 1.2F * (1 - distance) + 0.5F * soft + 0.4F * rough - 0.15F);
      const Vec3 cork = mix(colour(0x8d6a38), colour(0xc9a66a), clamp01(0.5F + 0.35F * rough));
      cover(point, cork, 0.85F * net, one.label, net);
      point.gloss *= 1 - 0.9F * net;
      return;
    }
    case Label::Puncture: {
      cover(point, colour(0x5d3a1c), smooth(1.1F, 0.75F, t), one.label, smooth(1.05F, 0.9F, t));
      point.colour = mix(point.colour, colour(0x120a06), smooth(0.6F, 0.4F, t));
      point.gloss *= 1 - 0.8F * smooth(1.1F, 0.7F, t);
      return;
    }
    case Label::Mould: {
      const float white = smooth(1.05F, 0.9F, t), green = smooth(0.8F, 0.6F, t + 0.05F * rough);
      const Vec3 dust =
          mix(colour(0xe6e5da), mix(colour(0x56785f), colour(0x86a08a), clamp01(0.5F + 0.4F * rough)), green);
      cover(point, dust, white, one.label, smooth(1.04F, 0.95F, t));
      point.gloss *= 1 - white;
      return;
    }
    case Label::Sunburn: {
      const float burnt = smooth(1.1F, 0.4F, t);
      cover(point, mix(colour(0xcfa043), colour(0x8a5a24), clamp01(0.8F - t)), 0.8F * burnt, one.label,
            smooth(1.0F, 0.8F, t));
      return;
    }
    case Label::Crack: {
      const Vec3 along = unit(cross(one.centre, Vec3{0.3F, 0.5F, 0.8F}));
      const float side = std::abs(dot(d - one.centre, along) + 0.03F * soft) / 0.05F;
      const float open = smooth(1.1F, 0.6F, side) * smooth(1.0F, 0.85F, distance);
      cover(point, mix(colour(0x24150a), colour(0x7d5a33), clamp01(side)), open, one.label, open);
      point.gloss *= 1 - 0.8F * open;
      return;
    }
    case Label::Insect: {
      const float holes =
          smooth(1.0F, 1.25F, palette.rough.around(d, 20, one.offset + 40)) * smooth(1.1F, 0.95F, distance);
      cover(point, colour(0x1d120a), 0.95F * holes, one.label, holes);
      return;
    }
    case Label::Background:
    case Label::Skin:
    case Label::Stem:
      break;
  }
  throw InternalError("a defect that is none");
}

SkinPoint SkinOf::at(Vec3 d) const {
  SkinPoint point{.colour = plain_colour(d), .gloss = look_of(kind).gloss, .bump = bump(d)};
  ends(d, point);
  for (const Defect& one : defects) defect(one, d, point);
  return point;
}

}  // namespace contorno::synthetic
