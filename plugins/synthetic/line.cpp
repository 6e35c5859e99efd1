#include "plugins/synthetic/line.h"

#include <algorithm>

#include "pipeline/shared/loops.h"

namespace contorno::synthetic {
namespace {

constexpr float kLanesAcross = 5.4F;  // so many fruit side by side look right

int lanes_for(int width, int height) {
  const auto fruit_wide = static_cast<float>(width) / static_cast<float>(height);
  return std::clamp(static_cast<int>(kLanesAcross / fruit_wide + 0.5F), 1, 16);
}

/// Texels along a cube's edge: about one a pixel where the surface faces the camera.
int cube_side(int height, int lanes) {
  const float diameter = 0.85F * static_cast<float>(height) / static_cast<float>(lanes);
  return std::clamp(static_cast<int>(diameter * 0.6F), 24, 512);
}

}  // namespace

StemLine stem_of(const LyingFruit& lying) {
  StemLine stem;
  const Fruit& fruit = *lying.fruit;
  if (!fruit.has_stem()) return stem;
  const Profile& profile = profile_of(fruit.kind());
  const float foot = profile.radius[Profile::kSteps];
  stem.from = lying.rotation.z * (foot - 0.02F);
  stem.to = lying.rotation.z * (foot + fruit.stem_length()) + lying.rotation.to_world(fruit.stem_bend());
  stem.thickness = 0.038F;
  stem.in_front = lying.rotation.z.z > -0.05F;
  stem.shown = true;
  return stem;
}

float stem_coverage(const StemLine& stem, float x, float y, float sharpness, float& along) {
  const float dx = stem.to.x - stem.from.x, dy = stem.to.y - stem.from.y;
  const float px = x - stem.from.x, py = y - stem.from.y;
  along = clamp01((px * dx + py * dy) / std::max(dx * dx + dy * dy, 1e-6F));
  const float ex = px - along * dx, ey = py - along * dy;
  const float thickness = stem.thickness * (0.8F + 0.5F * along);
  return clamp01((thickness - std::sqrt(ex * ex + ey * ey)) * sharpness + 0.5F);
}

Line::Line(const LineParams& params, int frame_width, int frame_height)
    : params_(params),
      rays_(ray_kernels(params.simd)),
      lanes_(params.lanes > 0 ? params.lanes : lanes_for(frame_width, frame_height)),
      palette_(params.seed) {
  width_ = static_cast<float>(frame_width) * static_cast<float>(lanes_) / static_cast<float>(frame_height);
  places_ = static_cast<int>(width_ / kPlace) + 4;
  const int side = cube_side(frame_height, lanes_);
  slots_.resize(static_cast<std::size_t>(lanes_) * static_cast<std::size_t>(places_));
  for (Slot& slot : slots_) slot.fruit = std::make_unique<Fruit>(side);
  fresh_.reserve(slots_.size());
  lying_.reserve(slots_.size());
}

Line::Slot& Line::slot(int lane, std::int64_t place) {
  const std::int64_t at = ((place % places_) + places_) % places_;
  return slots_[static_cast<std::size_t>(lane) * static_cast<std::size_t>(places_) +
                static_cast<std::size_t>(at)];
}

void Line::advance(std::uint64_t frame) {
  const double moved = static_cast<double>(frame) * params_.step;  // in places
  travelled_ = moved * static_cast<double>(kPlace);
  lying_.clear();
  fresh_.clear();
  // Place p is at moved - p: those at -1 to the picture's end and one more.
  const auto first = static_cast<std::int64_t>(std::floor(moved - static_cast<double>(width_ / kPlace))) - 1;
  const auto last = static_cast<std::int64_t>(std::floor(moved)) + 1;
  for (int lane = 0; lane < lanes_; ++lane)
    for (std::int64_t place = first; place <= last; ++place) {
      Slot& here = slot(lane, place);
      if (here.place != place) {
        here.place = place;
        const auto who = static_cast<std::uint32_t>(place);
        here.filled = Dice(params_.seed, static_cast<std::uint32_t>(lane), who, 0).unit() <
                      static_cast<float>(params_.fill);
        if (here.filled) {
          here.fruit->choose(params_.seed, static_cast<std::uint32_t>(lane), who, params_.kinds,
                             params_.defective, params_.labels);
          fresh_.push_back(here.fruit.get());
        }
      }
      if (here.filled) lay(lane, place, here);
    }
  if (fresh_.empty()) return;
  const int rows = fresh_.front()->rows();
  for_rows(params_.threads, rows * static_cast<int>(fresh_.size()),
           [&](int row) { fresh_[static_cast<std::size_t>(row / rows)]->paint_row(palette_, row % rows); });
}

void Line::lay(int lane, std::int64_t place, Slot& slot) {
  LyingFruit& lying = lying_.emplace_back();
  lying.fruit = slot.fruit.get();
  const double moved = travelled_ / static_cast<double>(kPlace) - static_cast<double>(place);
  const double shifted = moved + (lane % 2 == 1 ? kOddLanes : 0.0);
  lying.x = static_cast<float>((shifted - 0.5) * static_cast<double>(kPlace));
  lying.y = static_cast<float>(lane) + 0.5F;
  lying.radius = kRadius * slot.fruit->radius();
  lying.reach = lying.radius * (profile_of(slot.fruit->kind()).largest + slot.fruit->stem_length() + 0.15F);
  const double turns = static_cast<double>(slot.fruit->phase()) +
                       moved * params_.spin / static_cast<double>(slot.fruit->radius());
  lying.rotation = turned(slot.fruit->rest(), turns);
}

}  // namespace contorno::synthetic
