#include "tools/learn/learner.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stages/mean_shift/points.h"
#include "tools/learn/picks.h"

namespace contorno {
namespace {

/// A colour this far from all others may be this many times as rare: (distance / kFarColour)^2.
constexpr double kFarColour = 0.05;
/// Colours nearer to those of a class than this may be the same thing in other light.
constexpr double kShade = 0.08;
constexpr float kShadeLightness = 0.5F;
/// A colour of which the rest has more than this share is that of what the things lie on.
constexpr double kGround = 0.1;

/// A place where lightness counts for less.
Triple shade(Triple place) {
  place.x *= kShadeLightness;
  return place;
}

}  // namespace

double distance(const Triple& a, const Triple& b) {
  return std::sqrt(static_cast<double>(ClassifyPixel::squared_distance(a, b)));
}

Learner::Learner(const std::vector<ColourSample>& samples, const LearnParams& params)
    : samples_(samples), params_(params), decode_(srgb_decode_table()) {
  pixel_.decode = decode_.data();
  pixel_.lightness = static_cast<float>(params.lightness);
  for (const ColourSample& sample : samples) {
    weights_.push_back(sample.weight);
    places_.push_back(place_of(sample.colour));
  }
}

std::int16_t Learner::owner(std::size_t sample) const {
  return std::max(samples_[sample].owner, kRest);
}

std::vector<Mode> Learner::modes_of(std::int16_t owner, double sigma) const {
  std::vector<std::size_t> own;
  std::vector<double> points;
  double all = 0;
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    if (this->owner(i) != owner) continue;
    own.push_back(i);
    all += weight(i);
    points.insert(points.end(), {static_cast<double>(places_[i].x), static_cast<double>(places_[i].y),
                                 static_cast<double>(places_[i].z)});
  }
  MeanShift shift({.sigma = sigma, .merge = 1}, {.backend = Backend::Cpu, .threads = params_.threads});
  const MeanShiftResult result = shift.fit(points, 3);
  std::vector<Mode> modes(result.counts.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    Mode& mode = modes[static_cast<std::size_t>(result.labels[i])];
    mode.share += weight(own[i]) / all;
  }
  for (std::size_t k = 0; k < modes.size(); ++k) {
    const Triple at{static_cast<float>(result.modes[3 * k]), static_cast<float>(result.modes[3 * k + 1]),
                    static_cast<float>(result.modes[3 * k + 2])};
    const auto away = [&](std::size_t i) { return ClassifyPixel::squared_distance(places_[i], at); };
    const std::size_t nearest = *std::min_element(
        own.begin(), own.end(), [&](std::size_t a, std::size_t b) { return away(a) < away(b); });
    modes[k].sample = nearest, modes[k].colour = samples_[nearest].colour, modes[k].place = places_[nearest];
  }
  std::stable_sort(modes.begin(), modes.end(),
                   [](const Mode& a, const Mode& b) { return a.share > b.share; });
  return modes;
}

template <class Near>
std::vector<double> Learner::shares(std::size_t classes, const Near& is_near) const {
  std::vector<double> near(classes + 1), all(classes + 1);
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    const std::size_t owner = this->owner(i) == kRest ? classes : static_cast<std::size_t>(this->owner(i));
    all[owner] += weight(i);
    if (is_near(places_[i])) near[owner] += weight(i);
  }
  for (std::size_t k = 0; k <= classes; ++k) near[k] = all[k] > 0 ? near[k] / all[k] : 0;
  return near;
}

std::vector<double> Learner::densities(const Triple& at, std::size_t classes) const {
  return shares(classes, [&](const Triple& place) { return distance(place, at) < 2 * params_.sigma; });
}

std::pair<int, double> Learner::nearest(const Triple& at, const std::vector<LearnedClass>& classes) const {
  std::pair<int, double> best{-1, std::numeric_limits<double>::max()};
  for (std::size_t k = 0; k < classes.size(); ++k)
    for (const Colour& reference : classes[k].references) {
      const double away = distance(at, place_of(reference));
      if (away < best.second) best = {static_cast<int>(k), away};
    }
  return best;
}

bool Learner::stands_out(double share, double away) const {
  return share * (1 + away * away / (kFarColour * kFarColour)) >= params_.min_share;
}

bool Learner::is_shade(const Triple& place, const LearnedClass& one) const {
  return std::any_of(one.references.begin(), one.references.end(), [&](const Colour& reference) {
    return distance(shade(place), shade(place_of(reference))) < kShade;
  });
}

bool Learner::is_of_a_class(const Triple& place, const std::vector<LearnedClass>& classes) const {
  std::vector<double> wide, dense;
  for (std::size_t k = 0; k < classes.size(); ++k) {
    if (!is_shade(place, classes[k])) continue;
    if (wide.empty()) {
      wide = shares(classes.size(), [&, at = shade(place)](const Triple& other) {
        return distance(shade(other), at) < kShade;
      });
      dense = densities(place, classes.size());
    }
    if (wide[k] >= wide.back() && (dense[k] >= dense.back() || dense.back() < kGround)) return true;
  }
  return false;
}

void Learner::leave_out_shades(const std::vector<LearnedClass>& classes) {
  std::vector<std::size_t> left_out;
  for (std::size_t i = 0; i < samples_.size(); ++i)
    if (samples_[i].owner == kAroundPick
            ? std::any_of(classes.begin(), classes.end(),
                          [&](const LearnedClass& one) { return is_shade(places_[i], one); })
            : owner(i) == kRest && is_of_a_class(places_[i], classes))
      left_out.push_back(i);
  // Only now: shares are those of all samples.
  for (const std::size_t i : left_out) weights_[i] = 0;
}

void Learner::judge(LearnedColours& learned, Examples examples) const {
  const std::size_t count = learned.classes.size();
  std::vector<double> own(count), owned(count), seen(count), distances;
  double all = 0;
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    const auto [found, away] = nearest(places_[i], learned.classes);
    const int counted = examples == Examples::Masks ? owner(i) : found;
    seen[static_cast<std::size_t>(counted)] += samples_[i].weight, all += samples_[i].weight;
    if (owner(i) == kRest) continue;
    distances.push_back(away);
    owned[static_cast<std::size_t>(owner(i))] += samples_[i].weight;
    if (found == owner(i)) own[static_cast<std::size_t>(found)] += samples_[i].weight;
  }
  for (std::size_t k = 0; k < count; ++k) {
    learned.classes[k].share = seen[k] / all;
    learned.classes[k].recall = owned[k] > 0 ? own[k] / owned[k] : 1;
  }
  if (distances.empty())
    for (const Triple& place : places_) distances.push_back(nearest(place, learned.classes).second);
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  learned.softness = std::clamp(*middle, 0.02, 0.15);
}

}  // namespace contorno
