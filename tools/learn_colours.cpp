#include "tools/learn_colours.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "cuda/error.h"
#include "stages/classify.h"
#include "stages/mean_shift_points.h"

namespace contorno {
namespace {

/// Below it steps of 8-bit colours become clusters.
constexpr double kLeastSigma = 0.006;

/// A place where colours gather, by a sample that lies there.
struct Mode {
  Colour colour;
  Triple place;
  double share = 0;  ///< of the samples that were looked at
};

double distance(const Triple& a, const Triple& b) {
  return std::sqrt(static_cast<double>(ClassifyPixel::squared_distance(a, b)));
}

class Learner {
 public:
  Learner(const std::vector<ColourSample>& samples, const LearnParams& params)
      : samples_(samples), params_(params), decode_(srgb_decode_table()) {
    pixel_.decode = decode_.data();
    pixel_.lightness = static_cast<float>(params.lightness);
    for (const ColourSample& sample : samples) places_.push_back(place_of(sample.colour));
  }

  /// Modes of the samples that `owner` has, the largest first.
  std::vector<Mode> modes_of(int owner, double sigma) const {
    std::vector<std::size_t> own;
    std::vector<double> points;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      if (samples_[i].owner != owner) continue;
      own.push_back(i);
      points.insert(points.end(), {static_cast<double>(places_[i].x), static_cast<double>(places_[i].y),
                                   static_cast<double>(places_[i].z)});
    }
    MeanShift shift({.sigma = sigma, .merge = 1}, {.backend = Backend::Cpu, .threads = params_.threads});
    const MeanShiftResult result = shift.fit(points, 3);
    std::vector<Mode> modes;
    for (std::size_t k = 0; k < result.counts.size(); ++k) {
      const Triple at{static_cast<float>(result.modes[3 * k]), static_cast<float>(result.modes[3 * k + 1]),
                      static_cast<float>(result.modes[3 * k + 2])};
      Mode mode{.share = static_cast<double>(result.counts[k]) / static_cast<double>(own.size())};
      double least = std::numeric_limits<double>::max();
      for (const std::size_t i : own)
        if (const double away = distance(places_[i], at); away < least)
          least = away, mode.colour = samples_[i].colour, mode.place = places_[i];
      modes.push_back(mode);
    }
    std::stable_sort(modes.begin(), modes.end(),
                     [](const Mode& a, const Mode& b) { return a.share > b.share; });
    return modes;
  }

  /// How dense the samples of each class are around `at`: shares of the class within two sigmas.
  std::vector<double> densities(const Triple& at, std::size_t classes) const {
    std::vector<double> near(classes), all(classes);
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      const auto owner = static_cast<std::size_t>(samples_[i].owner);
      all[owner] += 1;
      if (distance(places_[i], at) < 2 * params_.sigma) near[owner] += 1;
    }
    for (std::size_t k = 0; k < classes; ++k) near[k] = all[k] > 0 ? near[k] / all[k] : 0;
    return near;
  }

  /// Index of the nearest reference's class, and how far it is.
  std::pair<int, double> nearest(const Triple& at, const std::vector<LearnedClass>& classes) const {
    std::pair<int, double> best{-1, std::numeric_limits<double>::max()};
    for (std::size_t k = 0; k < classes.size(); ++k)
      for (const Colour& reference : classes[k].references)
        if (const double away = distance(at, place_of(reference)); away < best.second)
          best = {static_cast<int>(k), away};
    return best;
  }

  void judge(LearnedColours& learned) const {
    std::vector<double> own(learned.classes.size()), all(learned.classes.size()), distances;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      const auto [found, away] = nearest(places_[i], learned.classes);
      distances.push_back(away);
      const auto owner = static_cast<std::size_t>(samples_[i].owner >= 0 ? samples_[i].owner : found);
      all[owner] += 1;
      if (found == static_cast<int>(owner)) own[owner] += 1;
    }
    for (std::size_t k = 0; k < learned.classes.size(); ++k)
      learned.classes[k].recall = all[k] > 0 ? own[k] / all[k] : 0;
    const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
    std::nth_element(distances.begin(), middle, distances.end());
    learned.softness = std::clamp(*middle, 0.02, 0.15);
  }

 private:
  Triple place_of(const Colour& colour) const { return pixel_.place(colour.red, colour.green, colour.blue); }

  const std::vector<ColourSample>& samples_;
  const LearnParams& params_;
  std::array<float, 256> decode_;
  ClassifyPixel pixel_;
  std::vector<Triple> places_;
};

LearnedColours learn_with_masks(const Learner& learner, const std::vector<std::string>& names,
                                const std::vector<double>& shares, const LearnParams& params) {
  LearnedColours learned;
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (std::size_t k = 0; k < names.size(); ++k) {
    LearnedClass one{.name = names[k], .share = sum > 0 ? shares[k] / sum : 0};
    const std::vector<Mode> modes = learner.modes_of(static_cast<int>(k), params.sigma);
    if (modes.empty())
      throw Error(ExitCode::BadData,
                  fmt::format("learn: no pixel of the masks belongs to class '{}'", names[k]));
    const Mode* best = nullptr;
    double best_lead = -1;
    for (const Mode& mode : modes) {
      const std::vector<double> dense = learner.densities(mode.place, names.size());
      const double own = dense[k], most = *std::max_element(dense.begin(), dense.end());
      const double lead = most > 0 ? own / most * mode.share : 0;
      if (lead > best_lead) best_lead = lead, best = &mode;
      if (mode.share >= params.min_share && own >= most &&
          static_cast<int>(one.references.size()) < params.references)
        one.references.push_back(mode.colour);
    }
    if (one.references.empty()) one.references.push_back(best->colour);
    learned.classes.push_back(one);
  }
  return learned;
}

LearnedColours learn_without_masks(const Learner& learner, const std::vector<std::string>& names,
                                   const LearnParams& params) {
  std::vector<Mode> modes;
  for (double sigma = params.sigma; sigma >= kLeastSigma && modes.size() < names.size(); sigma *= 0.75) {
    modes = learner.modes_of(-1, sigma);
    std::erase_if(modes, [&](const Mode& mode) { return mode.share < params.min_share; });
  }
  if (modes.size() < names.size())
    throw Error(ExitCode::BadData, fmt::format("learn: the frames have {} colours that stand for at least "
                                               "{:.1f} % of the pixels, fewer than the "
                                               "{} classes; use a smaller --sigma or --min-share",
                                               modes.size(), 100 * params.min_share, names.size()));
  // The largest first, then always what is both far from those chosen and large: shades of one thing do not
  // take the places of things that are rare.
  for (std::size_t k = 1; k < names.size(); ++k) {
    const auto merit = [&](const Mode& mode) {
      double least = std::numeric_limits<double>::max();
      for (std::size_t j = 0; j < k; ++j) least = std::min(least, distance(mode.place, modes[j].place));
      return least * std::sqrt(mode.share);
    };
    const auto from = modes.begin() + static_cast<std::ptrdiff_t>(k);
    const auto best = std::max_element(from, modes.end(),
                                       [&](const Mode& a, const Mode& b) { return merit(a) < merit(b); });
    std::rotate(from, best, best + 1);
  }
  LearnedColours learned;
  for (std::size_t k = 0; k < names.size(); ++k)
    learned.classes.push_back({.name = "", .references = {modes[k].colour}, .share = modes[k].share});
  const std::vector<LearnedClass> chosen = learned.classes;
  for (std::size_t m = names.size(); m < modes.size(); ++m) {
    const auto nearest = static_cast<std::size_t>(learner.nearest(modes[m].place, chosen).first);
    LearnedClass& one = learned.classes[nearest];
    one.share += modes[m].share;
    if (static_cast<int>(one.references.size()) < params.references)
      one.references.push_back(modes[m].colour);
  }
  std::stable_sort(learned.classes.begin(), learned.classes.end(),
                   [](const LearnedClass& a, const LearnedClass& b) { return a.share > b.share; });
  for (std::size_t k = 0; k < names.size(); ++k) learned.classes[k].name = names[k];
  return learned;
}

}  // namespace

LearnedColours learn_colours(const std::vector<ColourSample>& samples, const std::vector<std::string>& names,
                             const std::vector<double>& shares, const LearnParams& params) {
  if (samples.empty()) throw Error(ExitCode::BadData, "learn: no pixel to learn from");
  const Learner learner(samples, params);
  LearnedColours learned = shares.empty() ? learn_without_masks(learner, names, params)
                                          : learn_with_masks(learner, names, shares, params);
  learner.judge(learned);
  return learned;
}

}  // namespace contorno
