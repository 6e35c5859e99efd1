#include <algorithm>
#include <bit>

#include "base/error.h"
#include "pipeline/shared/loops.h"
#include "plugins/synthetic/picture.h"

namespace contorno::synthetic {
namespace {

std::uint16_t half_of(float v) {  // 0 to 1, to nearest, ties to even
  if (v < 0x1p-24F * 0.5F) return 0;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(v);
  if (v < 0x1p-14F) {  // denormal: adding 0.5 rounds to multiples of 2^-24
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(v + 0.5F) & 0x7FFU);
  }
  bits += 0xFFFU + (bits >> 13 & 1U);
  return static_cast<std::uint16_t>((bits >> 13) - (112U << 10));
}

}  // namespace

int class_of(Label label, int classes) {
  const int number = static_cast<int>(label);
  const bool defect = number >= kFirstDefect;
  if (classes == 1) return defect ? 0 : 1;  // the second one is not shown
  if (classes == 2) return label == Label::Background ? 0 : 1;
  if (classes == 3) return label == Label::Background ? 0 : defect ? 2 : 1;
  return std::min(number, classes - 1);
}

MapPainter::MapPainter(const Line& line, const ImageFormat& format, const MapParams& params,
                       std::uint64_t seed)
    : line_(line),
      format_(format),
      channels_(std::max(format.channels, 2)),
      noise_(static_cast<float>(params.noise)),
      seed_(seed),
      step_x_(line.width() / static_cast<float>(format.width)),
      step_y_(static_cast<float>(line.lanes()) / static_cast<float>(format.height)) {
  for (int label = 0; label < kLabels; ++label)
    class_of_[label] = class_of(static_cast<Label>(label), format.channels);
  const auto reach = static_cast<float>(2.2 * params.softness + 1);
  float sum = 0;
  for (int i = 0; static_cast<float>(i) < reach; ++i) {
    const float t = static_cast<float>(i) / reach, weight = (1 - t * t) * (1 - t * t);
    taps_.push_back(weight);
    sum += i == 0 ? weight : 2 * weight;
  }
  for (float& tap : taps_) tap /= sum;
  const std::size_t samples = static_cast<std::size_t>(format.width) *
                              static_cast<std::size_t>(format.height) * static_cast<std::size_t>(channels_);
  truth_.resize(samples);
  blurred_.resize(samples);
  sums_.resize(static_cast<std::size_t>(format.width) * static_cast<std::size_t>(format.height));
}

/// Shares of what a sample shows: background, and what the fruit of four points in it are.
void MapPainter::true_row(int y) {
  float* row = plane_row(truth_, y, 0);
  std::fill(row, row + static_cast<std::size_t>(format_.width) * static_cast<std::size_t>(channels_), 0.0F);
  std::fill(plane_row(truth_, y, class_of_[0]), plane_row(truth_, y, class_of_[0]) + format_.width, 1.0F);
  const float lane_y = (static_cast<float>(y) + 0.5F) * step_y_;
  for (const LyingFruit& lying : line_.fruit())
    if (std::abs(lane_y - lying.y) <= lying.reach + step_y_)
      for (const float offset : {0.25F, 0.75F}) add_fruit(lying, y, offset, row);
}

void MapPainter::add_fruit(const LyingFruit& lying, int y, float offset, float* row) {
  const float inverse = 1 / lying.radius;
  const Profile& profile = profile_of(lying.fruit->kind());
  const StemLine stem = stem_of(lying);
  const SampleRange xs = samples_near(
      lying.x, stem.shown ? lying.reach : lying.radius * profile.largest + step_x_, step_x_, format_.width);
  RunOfPixels run{.profile = &profile,
                  .rotation = lying.rotation,
                  .step = 0.5F * step_x_ * inverse,
                  .y = ((static_cast<float>(y) + offset) * step_y_ - lying.y) * inverse,
                  .sharpness = 2 * lying.radius / std::max(step_x_, step_y_),
                  .cube_side = lying.fruit->side()};
  Rays rays;
  for (int first = xs.first; first <= xs.last; first += kRun / 2) {  // two points a sample
    run.x = ((static_cast<float>(first) + 0.25F) * step_x_ - lying.x) * inverse;
    if (!line_.rays().cast(run, rays) && !stem.shown) continue;
    const int count = std::min(kRun, 2 * (xs.last - first + 1));
    for (int i = 0; i < count; ++i) {
      float along = 0;
      const float stem_share = stem.shown
                                   ? 0.25F * stem_coverage(stem, run.x + static_cast<float>(i) * run.step,
                                                           run.y, run.sharpness, along)
                                   : 0;
      const float skin_share = 0.25F * rays.coverage[i];
      if (skin_share + stem_share > 0)
        add_point(lying, rays, i, skin_share, stem_share, stem.in_front, row + first + i / 2);
    }
  }
}

/// A quarter of a sample, of which fruit and stem have their shares.
void MapPainter::add_point(const LyingFruit& lying, const Rays& rays, int i, float skin_share,
                           float stem_share, bool stem_in_front, float* sample) const {
  const auto add = [&](Label label, float share) {
    sample[static_cast<std::size_t>(class_of_[static_cast<int>(label)]) *
           static_cast<std::size_t>(format_.width)] += share;
  };
  const float stem = stem_in_front ? stem_share : std::min(stem_share, 0.25F - skin_share);
  const float skin = std::min(skin_share, 0.25F - stem);
  add(Label::Background, -(skin + stem));
  add(Label::Stem, stem);
  if (skin <= 0) return;
  const std::size_t texel =
      static_cast<std::size_t>(rays.texel[i]) + (rays.x_weight[i] >= kCubeWeights / 2 ? 1U : 0U) +
      (rays.y_weight[i] >= kCubeWeights / 2 ? static_cast<std::size_t>(lying.fruit->side()) : 0U);
  const float strength = lying.fruit->strength_at(texel);
  add(lying.fruit->label_at(texel), skin * strength);
  add(Label::Skin, skin * (1 - strength));
}

void MapPainter::blur_row(int y) {
  const int reach = static_cast<int>(taps_.size()) - 1, width = format_.width;
  for (int k = 0; k < channels_; ++k) {
    const float* from = plane_row(truth_, y, k);
    float* to = plane_row(blurred_, y, k);
    for (int x = 0; x < width; ++x) to[x] = taps_[0] * from[x];
    for (int i = 1; i <= reach; ++i) {
      const float tap = taps_[static_cast<std::size_t>(i)];
      for (int x = 0; x < width; ++x)
        to[x] += tap * (from[std::max(x - i, 0)] + from[std::min(x + i, width - 1)]);
    }
  }
}

void MapPainter::finish_row(std::uint64_t frame, int y, const ImageView& out) {
  const int reach = static_cast<int>(taps_.size()) - 1, width = format_.width, height = format_.height;
  float* total = sums_.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(width);
  std::fill(total, total + width, 0.0F);
  for (int k = 0; k < channels_; ++k) {
    // Rows above and below were blurred along x; what is true is not needed any more, so its place takes the
    // result.
    float* to = plane_row(truth_, y, k);
    const float* middle = plane_row(blurred_, y, k);
    for (int x = 0; x < width; ++x) to[x] = taps_[0] * middle[x];
    for (int i = 1; i <= reach; ++i) {
      const float tap = taps_[static_cast<std::size_t>(i)];
      const float *above = plane_row(blurred_, std::max(y - i, 0), k),
                  *below = plane_row(blurred_, std::min(y + i, height - 1), k);
      for (int x = 0; x < width; ++x) to[x] += tap * (above[x] + below[x]);
    }
    const PhiloxWords place = philox(
        {{static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(frame), 12, 0}}, philox_key(seed_));
    const float* grain = line_.palette().rough.row(y + static_cast<int>(place.word[0] & 0xFFFFU));
    const int start = static_cast<int>(place.word[1] & (Clouds::kSide - 1));
    for (int x = 0; x < width; ++x) {
      const float g = noise_ * grain[(x + start) & (Clouds::kSide - 1)];
      // A network errs by factors, and where it is unsure it finds a little of everything.
      to[x] = std::max(to[x], 0.0F) * std::max(1 + g, 0.1F) + 0.1F * noise_ * (0.3F + std::abs(g));
      total[x] += to[x];
    }
  }
  for (int x = 0; x < width; ++x) total[x] = 1 / total[x];
  for (int k = 0; k < format_.channels; ++k) store_row(plane_row(truth_, y, k), total, y, k, out);
}

void MapPainter::store_row(const float* shares, const float* factors, int y, int klass,
                           const ImageView& out) const {
  const bool planar = format_.layout == Layout::Planar;
  const int step = planar ? 1 : format_.channels, first = planar ? 0 : klass, plane = planar ? klass : 0;
  const auto fill = [&]<class T>(T* to, const auto& convert) {
    for (int x = 0; x < format_.width; ++x) to[x * step + first] = convert(shares[x] * factors[x]);
  };
  switch (format_.type) {
    case ElementType::F32:
      return fill(out.row<float>(y, plane), [](float v) { return v; });
    case ElementType::F16:
      return fill(out.row<std::uint16_t>(y, plane), half_of);
    case ElementType::U8:
      return fill(out.row<std::uint8_t>(y, plane),
                  [](float v) { return static_cast<std::uint8_t>(v * 255 + 0.5F); });
    case ElementType::U16:
    case ElementType::F64:
      break;
  }
  throw InternalError("maps of an unforeseen type");
}

void MapPainter::paint(std::uint64_t frame, const ImageView& out) {
  const int threads = line_.threads();
  for_tasks(threads, format_.height, [&](int y) {
    true_row(y);
    blur_row(y);
  });
  for_rows(threads, format_.height, [&](int y) { finish_row(frame, y, out); });
}

}  // namespace contorno::synthetic
