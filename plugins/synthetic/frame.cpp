#include "plugins/synthetic/picture.h"

#include <algorithm>

#include "pipeline/shared/loops.h"

namespace contorno::synthetic {
namespace {

constexpr int kLightSteps = 4096;  // of the table from light to sRGB
constexpr int kGrain = 8192;       // a power of two

/// Numbers like a camera's noise: sums of four evenly spread ones, deviation 1.
std::vector<float> make_grain(std::uint64_t seed) {
  std::vector<float> grain;
  Dice dice(seed, 0, 0, 7);
  for (int i = 0; i < kGrain; ++i)
    grain.push_back((dice.unit() + dice.unit() + dice.unit() + dice.unit() - 2) * 1.7320508F);
  return grain;
}

}  // namespace

FramePainter::FramePainter(const Line& line, int width, int height, double noise, std::uint64_t seed)
    : line_(line),
      width_(width),
      height_(height),
      pixel_(static_cast<float>(line.lanes()) / static_cast<float>(height)),
      noise_(static_cast<float>(noise)),
      seed_(seed),
      columns_(2 * static_cast<std::size_t>(width)),
      light_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height)),
      grain_(make_grain(seed)) {
  for (int i = 0; i < kLightSteps; ++i)
    srgb_.push_back(
        static_cast<std::uint8_t>(srgb_of_light(static_cast<double>(i) / (kLightSteps - 1)) * 255 + 0.5));
}

/// Rollers lie across a lane, one between two fruit, and turn with the line.
void FramePainter::prepare(double travelled) {
  constexpr double kRoller = 0.43;  // half of it, in places
  for (int i = 0; i < 2 * width_; ++i) {
    const int x = i % width_;
    const double moved = travelled / static_cast<double>(Line::kPlace) + (i < width_ ? 0.0 : Line::kOddLanes);
    const double place = (x + 0.5) * static_cast<double>(pixel_) / static_cast<double>(Line::kPlace) - moved;
    const double from_middle = place - std::floor(place + 0.5);
    const auto t = static_cast<float>(from_middle / kRoller);
    Column& column = columns_[static_cast<std::size_t>(i)];
    if (std::abs(t) >= 1) {  // what is under the rollers
      column = {.shade = 0.04F + 0.05F * smooth(1.02F, 1.12F, std::abs(t)),
                .cloud = static_cast<int>(40 * t)};
      continue;
    }
    const float up = std::sqrt(1 - t * t);
    column.shade = 0.06F + 1.0F * clamp01(0.95F * up - 0.28F * t) * up;
    column.shine =
        smooth(0.24F, 0.0F, std::abs(t + 0.30F)) + 0.25F * smooth(0.16F, 0.0F, std::abs(t - 0.45F));
    const double angle = static_cast<double>(t) * (1 + static_cast<double>(t * t) * 0.3);
    column.cloud = static_cast<int>(std::floor(60 * (angle - moved * 1.2))) & (Clouds::kSide - 1);
  }
}

void FramePainter::paint_background(int y) {
  const float lane_y = (static_cast<float>(y) + 0.5F) * pixel_;
  const int lane = static_cast<int>(lane_y);
  const float v = lane_y - static_cast<float>(lane), from_middle = std::abs(v - 0.5F) * 2;
  // Rollers are a little thinner in the middle of a lane, have a few grooves, and end before the next lane.
  const float groove = v * 7 - std::floor(v * 7);
  const float grooves = 0.72F + 0.28F * smooth(0.02F, 0.09F, groove < 0.5F ? groove : 1 - groove);
  const float ends = smooth(0.985F, 0.93F, from_middle);
  const float base = (0.66F + 0.34F * from_middle) * grooves * (0.10F + 0.90F * ends);
  const float shine = (0.45F + 0.55F * from_middle) * grooves * ends;
  const float* dust = line_.palette().rough.row(static_cast<int>(lane_y * 150));
  constexpr Vec3 kRubber{0.066F, 0.076F, 0.090F};
  const Column* columns = columns_.data() + (lane % 2 == 1 ? width_ : 0);
  Vec3* out = row(y);
  for (int x = 0; x < width_; ++x) {
    const Column& column = columns[x];
    const float worn = 1 + 0.07F * dust[column.cloud & (Clouds::kSide - 1)];
    const float light = column.shade * base * worn;
    const float glint = 0.16F * column.shine * shine * worn;
    out[x] = kRubber * light + Vec3{glint, glint, glint * 1.04F};
  }
}

void FramePainter::paint_shadow(const LyingFruit& lying, int y) {
  const float dy = (static_cast<float>(y) + 0.5F) * pixel_ - lying.y - 0.05F;
  const float reach = lying.radius * 1.32F;
  const SampleRange xs = samples_near(lying.x + 0.04F, reach, pixel_, width_);
  Vec3* out = row(y);
  for (int x = xs.first; x <= xs.last; ++x) {
    const float dx = (static_cast<float>(x) + 0.5F) * pixel_ - lying.x - 0.04F;
    const float distance = std::sqrt(dx * dx + dy * dy) / lying.radius;
    out[x] = out[x] * (1 - 0.86F * smooth(1.3F, 0.9F, distance));
  }
}

void FramePainter::paint_fruit(const LyingFruit& lying, int y) {
  const float inverse = 1 / lying.radius;
  const Profile& profile = profile_of(lying.fruit->kind());
  const SampleRange xs = samples_near(lying.x, lying.radius * profile.largest + pixel_, pixel_, width_);
  RunOfPixels run{.profile = &profile,
                  .rotation = lying.rotation,
                  .step = pixel_ * inverse,
                  .y = ((static_cast<float>(y) + 0.5F) * pixel_ - lying.y) * inverse,
                  .sharpness = lying.radius / pixel_,
                  .cube_side = lying.fruit->side()};
  Rays rays;
  Surface surface{};
  for (int first = xs.first; first <= xs.last; first += kRun) {
    run.x = ((static_cast<float>(first) + 0.5F) * pixel_ - lying.x) * inverse;
    if (!line_.rays().cast(run, rays)) continue;
    const int count = std::min(kRun, xs.last - first + 1);
    lying.fruit->sample(rays, count, surface);
    line_.rays().light(rays, lying.rotation, surface);
    Vec3* out = row(y) + first;
    for (int i = 0; i < count; ++i)
      if (rays.coverage[i] > 0)
        out[i] = mix(out[i], {surface.red[i], surface.green[i], surface.blue[i]}, rays.coverage[i]);
  }
}

void FramePainter::paint_stem(const LyingFruit& lying, const StemLine& stem, int y) {
  const float inverse = 1 / lying.radius, sharpness = lying.radius / pixel_;
  const float dy = ((static_cast<float>(y) + 0.5F) * pixel_ - lying.y) * inverse;
  const SampleRange xs = samples_near(lying.x, lying.reach, pixel_, width_);
  Vec3* out = row(y);
  for (int x = xs.first; x <= xs.last; ++x) {
    float along = 0;
    const float cover = stem_coverage(stem, ((static_cast<float>(x) + 0.5F) * pixel_ - lying.x) * inverse, dy,
                                      sharpness, along);
    if (cover <= 0) continue;
    const Vec3 bark = mix(stem_foot_, stem_tip_, along);
    out[x] = mix(out[x], bark, cover);
  }
}

void FramePainter::store_row(std::uint64_t frame, int y, const ImageView& out) const {
  const std::uint32_t start =
      philox({{static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(frame), 11, 0}}, philox_key(seed_))
          .word[0];
  const Vec3* light = &light_[static_cast<std::size_t>(y) * static_cast<std::size_t>(width_)];
  auto* to = out.row<std::uint8_t>(y);
  std::uint32_t at = start;
  const auto channel = [&](float v) {
    const int index = static_cast<int>((v < 0 ? 0 : v > 1 ? 1 : v) * (kLightSteps - 1) + 0.5F);
    const float noisy = static_cast<float>(srgb_[static_cast<std::size_t>(index)]) +
                        noise_ * grain_[at++ & (kGrain - 1)] + 0.5F;
    return static_cast<std::uint8_t>(noisy < 0 ? 0 : noisy > 255 ? 255 : noisy);
  };
  for (int x = 0; x < width_; ++x) {
    to[4 * x] = channel(light[x].x), to[4 * x + 1] = channel(light[x].y), to[4 * x + 2] = channel(light[x].z);
    to[4 * x + 3] = 255;
  }
}

void FramePainter::paint(std::uint64_t frame, const ImageView& out) {
  prepare(line_.travelled());
  for_tasks(line_.threads(), height_, [&](int y) {
    paint_background(y);
    const float lane_y = (static_cast<float>(y) + 0.5F) * pixel_;
    const auto near = [&](const LyingFruit& lying) {
      return std::abs(lane_y - lying.y) <= lying.reach * 1.35F;
    };
    for (const LyingFruit& lying : line_.fruit())
      if (near(lying)) paint_shadow(lying, y);
    for (const LyingFruit& lying : line_.fruit()) {
      if (!near(lying)) continue;
      const StemLine stem = stem_of(lying);
      if (stem.shown && !stem.in_front) paint_stem(lying, stem, y);
      paint_fruit(lying, y);
      if (stem.shown && stem.in_front) paint_stem(lying, stem, y);
    }
    store_row(frame, y, out);
  });
}

}  // namespace contorno::synthetic
