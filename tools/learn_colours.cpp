#include "tools/learn_colours.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "cuda/error.h"
#include "stages/classify.h"
#include "stages/mean_shift_points.h"
#include "tools/learn_picks.h"

namespace contorno {
namespace {

/// Below it steps of 8-bit colours become clusters.
constexpr double kLeastSigma = 0.006;
/// A colour this far from all others may be this many times as rare: (distance / kFarColour)^2.
constexpr double kFarColour = 0.05;
/// Of what was pointed at, a colour with less is taken for something that lay there too.
constexpr double kLeastOfPick = 0.02;
constexpr std::size_t kMostRestReferences = 12;
/// Around a pick, colours nearer to its own than this are the same thing in other light.
constexpr double kShade = 0.08;
constexpr float kShadeLightness = 0.5F;

double distance(const Triple& a, const Triple& b) {
  return std::sqrt(static_cast<double>(ClassifyPixel::squared_distance(a, b)));
}

/// A place where colours gather, by a sample that lies there.
struct Mode {
  std::size_t sample = 0;
  Colour colour;
  Triple place;
  double share = 0;  ///< of the pixels that were looked at
};

class Learner {
 public:
  Learner(const std::vector<ColourSample>& samples, const LearnParams& params)
      : samples_(samples), params_(params), decode_(srgb_decode_table()) {
    pixel_.decode = decode_.data();
    pixel_.lightness = static_cast<float>(params.lightness);
    for (const ColourSample& sample : samples) {
      weights_.push_back(sample.weight);
      places_.push_back(place_of(sample.colour));
    }
  }

  const LearnParams& params() const { return params_; }
  std::size_t count() const { return samples_.size(); }
  /// A class, or kRest.
  std::int16_t owner(std::size_t sample) const { return std::max(samples_[sample].owner, kRest); }
  const Colour& colour(std::size_t sample) const { return samples_[sample].colour; }
  double weight(std::size_t sample) const { return weights_[sample]; }
  const Triple& place(std::size_t sample) const { return places_[sample]; }

  /// Modes of the samples that `owner` has, the largest first.
  std::vector<Mode> modes_of(std::int16_t owner, double sigma) const {
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
      modes[k].sample = nearest, modes[k].colour = samples_[nearest].colour,
      modes[k].place = places_[nearest];
    }
    std::stable_sort(modes.begin(), modes.end(),
                     [](const Mode& a, const Mode& b) { return a.share > b.share; });
    return modes;
  }

  /// How dense the samples of each class are around `at`: shares of the class within two sigmas. The last is
  /// the rest's.
  std::vector<double> densities(const Triple& at, std::size_t classes) const {
    std::vector<double> near(classes + 1), all(classes + 1);
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      const std::size_t owner = this->owner(i) == kRest ? classes : static_cast<std::size_t>(this->owner(i));
      all[owner] += weight(i);
      if (distance(places_[i], at) < 2 * params_.sigma) near[owner] += weight(i);
    }
    for (std::size_t k = 0; k <= classes; ++k) near[k] = all[k] > 0 ? near[k] / all[k] : 0;
    return near;
  }

  /// Index of the nearest reference's class, and how far it is.
  std::pair<int, double> nearest(const Triple& at, const std::vector<LearnedClass>& classes) const {
    std::pair<int, double> best{-1, std::numeric_limits<double>::max()};
    for (std::size_t k = 0; k < classes.size(); ++k)
      for (const Colour& reference : classes[k].references) {
        const double away = distance(at, place_of(reference));
        if (away < best.second) best = {static_cast<int>(k), away};
      }
    return best;
  }

  /// Leaves out what lies around picks and looks much like a class: what was pointed at goes on there, in
  /// other light, so lightness counts for less.
  void leave_out_shades(const std::vector<LearnedClass>& classes) {
    const auto shade = [](Triple place) {
      place.x *= kShadeLightness;
      return place;
    };
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      if (samples_[i].owner != kAroundPick) continue;
      for (const LearnedClass& one : classes)
        for (const Colour& reference : one.references)
          if (distance(shade(places_[i]), shade(place_of(reference))) < kShade) weights_[i] = 0;
    }
  }

  /// Whether a colour is there often enough, that is less often the farther it is from those that are chosen:
  /// what is small and coloured counts, shades of what is large do not.
  bool stands_out(double share, double away) const {
    return share * (1 + away * away / (kFarColour * kFarColour)) >= params_.min_share;
  }

  /// Shares, recalls and softness. With masks a pixel counts for its own class, else for the nearest.
  void judge(LearnedColours& learned, Examples examples) const {
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

 private:
  Triple place_of(const Colour& colour) const { return pixel_.place(colour.red, colour.green, colour.blue); }

  const std::vector<ColourSample>& samples_;
  const LearnParams& params_;
  std::array<float, 256> decode_;
  ClassifyPixel pixel_;
  std::vector<Triple> places_;
  std::vector<double> weights_;
};

/// The modes of a class that are more its own than anybody's.
std::vector<Colour> own_colours(const Learner& learner, const std::vector<std::string>& names, std::size_t k,
                                double least_share) {
  std::vector<Mode> modes = learner.modes_of(static_cast<std::int16_t>(k), learner.params().sigma);
  std::vector<Colour> own;
  if (modes.empty())
    throw Error(ExitCode::BadData,
                fmt::format("learn: no pixel of the masks belongs to class '{}'", names[k]));
  const Mode* best = nullptr;
  double best_lead = -1;
  for (const Mode& mode : modes) {
    const std::vector<double> dense = learner.densities(mode.place, names.size());
    const double most = *std::max_element(dense.begin(), dense.end());
    const double lead = most > 0 ? dense[k] / most * mode.share : 0;
    if (lead > best_lead) best_lead = lead, best = &mode;
    if (mode.share >= least_share && dense[k] >= most &&
        static_cast<int>(own.size()) < learner.params().references)
      own.push_back(mode.colour);
  }
  if (own.empty()) own.push_back(best->colour);
  return own;
}

LearnedColours learn_from_owners(const Learner& learner, const std::vector<std::string>& names,
                                 double least_share) {
  LearnedColours learned;
  for (std::size_t k = 0; k < names.size(); ++k)
    learned.classes.push_back({.name = names[k], .references = own_colours(learner, names, k, least_share)});
  return learned;
}

/// Adds references one after the other, always the one that sorts the samples best. Of what was not pointed
/// at much may belong to a class all the same (the next fruit), so a reference has to earn its place: its
/// class must gain a greater share of its samples by it than any other loses.
class ReferenceSearch {
 public:
  ReferenceSearch(const Learner& learner, LearnedColours& learned)
      : learner_(learner),
        learned_(learned),
        rest_(learned.classes.size() - 1),
        all_(learned.classes.size()) {
    for (std::size_t i = 0; i < learner.count(); ++i) {
      const auto [found, away] = learner.nearest(learner.place(i), learned.classes);
      claims_.push_back({group_of(i), static_cast<std::size_t>(found), away});
      all_[group_of(i)] += learner.weight(i);
      add_candidate(i);
    }
  }

  /// Where the rest gathers first, since that is what a person knows it by; then whatever tells the classes
  /// apart.
  void run() {
    for (const Mode& mode : learner_.modes_of(kRest, learner_.params().sigma))
      if (const Candidate candidate{mode.sample, rest_}; merit_of(candidate) > 0) take(candidate);
    for (;;) {
      const Candidate* best = nullptr;
      double best_merit = 0;
      for (const Candidate& candidate : candidates_)
        if (const double merit = merit_of(candidate); merit > best_merit)
          best = &candidate, best_merit = merit;
      if (best == nullptr) return;
      take(*best);
    }
  }

 private:
  struct Candidate {
    std::size_t sample, group;
  };
  struct Claim {
    std::size_t owner, holder;  ///< the last group is the rest
    double away;                ///< from the nearest reference, which is one of the holder's
  };

  std::size_t group_of(std::size_t sample) const {
    const std::int16_t owner = learner_.owner(sample);
    return owner == kRest ? rest_ : static_cast<std::size_t>(owner);
  }
  /// A sample, unless a candidate of its class is near.
  void add_candidate(std::size_t sample) {
    for (const Candidate& other : candidates_)
      if (other.group == group_of(sample) &&
          distance(learner_.place(other.sample), learner_.place(sample)) < learner_.params().sigma)
        return;
    candidates_.push_back({sample, group_of(sample)});
  }
  double merit_of(const Candidate& candidate) const {
    const std::size_t most = candidate.group == rest_
                                 ? kMostRestReferences
                                 : static_cast<std::size_t>(learner_.params().references);
    if (learned_.classes[candidate.group].references.size() >= most) return 0;
    const Triple& place = learner_.place(candidate.sample);
    std::vector<double> moved(all_.size());  // of each group's samples, the share that changes hands
    for (std::size_t i = 0; i < claims_.size(); ++i) {
      const Claim& claim = claims_[i];
      const bool changes =
          claim.holder != candidate.group && (claim.owner == candidate.group || claim.owner == claim.holder);
      if (changes && distance(learner_.place(i), place) < claim.away)
        moved[claim.owner] += learner_.weight(i) / all_[claim.owner];
    }
    const double gain = std::exchange(moved[candidate.group], 0.0);
    const double merit = gain - *std::max_element(moved.begin(), moved.end());
    const bool worth_it = candidate.group == rest_
                              ? learner_.stands_out(merit, claims_[candidate.sample].away)
                              : merit >= kLeastOfPick;
    return worth_it ? merit : 0;
  }
  void take(const Candidate& candidate) {
    learned_.classes[candidate.group].references.push_back(learner_.colour(candidate.sample));
    const Triple& place = learner_.place(candidate.sample);
    for (std::size_t i = 0; i < claims_.size(); ++i)
      if (const double away = distance(learner_.place(i), place); away < claims_[i].away)
        claims_[i].holder = candidate.group, claims_[i].away = away;
  }

  const Learner& learner_;
  LearnedColours& learned_;
  std::size_t rest_;
  std::vector<double> all_;  // weight of each group's samples
  std::vector<Claim> claims_;
  std::vector<Candidate> candidates_;
};

LearnedColours learn_from_picks(Learner& learner, const std::vector<std::string>& names) {
  const double least_share = std::max(kLeastOfPick, learner.params().min_share);
  LearnedColours learned = learn_from_owners(learner, names, least_share);
  learner.leave_out_shades(learned.classes);
  learned.classes.push_back({.name = kEverythingElse, .hidden = true});
  ReferenceSearch(learner, learned).run();
  if (learned.classes.back().references.empty()) learned.classes.pop_back();
  return learned;
}

/// Brings `count` modes to the front: the largest, then always what is both far from those before it and
/// large. The fourth root of the share lets a colour that is far off win over a hundred times as many pixels
/// of a shade.
void choose_apart(std::vector<Mode>& modes, std::size_t count) {
  for (std::size_t k = 1; k < count; ++k) {
    const auto merit = [&](const Mode& mode) {
      double least = std::numeric_limits<double>::max();
      for (std::size_t j = 0; j < k; ++j) least = std::min(least, distance(mode.place, modes[j].place));
      return least * std::sqrt(std::sqrt(mode.share));
    };
    const auto from = modes.begin() + static_cast<std::ptrdiff_t>(k);
    const auto best = std::max_element(from, modes.end(),
                                       [&](const Mode& a, const Mode& b) { return merit(a) < merit(b); });
    std::rotate(from, best, best + 1);
  }
}

/// Of the rest, the modes that stand out from all that are larger.
std::vector<Mode> modes_that_stand_out(const Learner& learner, double sigma) {
  std::vector<Mode> chosen;
  for (Mode& mode : learner.modes_of(kRest, sigma)) {
    double least = 0;
    for (const Mode& larger : chosen) {
      const double away = distance(mode.place, larger.place);
      least = &larger == chosen.data() ? away : std::min(least, away);
    }
    if (learner.stands_out(mode.share, least)) chosen.push_back(std::move(mode));
  }
  return chosen;
}

LearnedColours learn_from_frames(const Learner& learner, const std::vector<std::string>& names) {
  std::vector<Mode> modes;
  for (double sigma = learner.params().sigma; sigma >= kLeastSigma && modes.size() < names.size();
       sigma *= 0.75)
    modes = modes_that_stand_out(learner, sigma);
  if (modes.size() < names.size())
    throw Error(
        ExitCode::BadData,
        fmt::format("learn: the frames have {} colours that stand out, fewer than the {} classes; use a "
                    "smaller --sigma or --min-share, or point at what you mean with --pick",
                    modes.size(), names.size()));
  choose_apart(modes, names.size());
  LearnedColours learned;
  for (std::size_t k = 0; k < names.size(); ++k) learned.classes.push_back({.references = {modes[k].colour}});
  const std::vector<LearnedClass> chosen = learned.classes;
  for (std::size_t m = names.size(); m < modes.size(); ++m) {
    const auto nearest = static_cast<std::size_t>(learner.nearest(modes[m].place, chosen).first);
    std::vector<Colour>& references = learned.classes[nearest].references;
    if (static_cast<int>(references.size()) < learner.params().references)
      references.push_back(modes[m].colour);
  }
  learner.judge(learned, Examples::Frames);
  std::stable_sort(learned.classes.begin(), learned.classes.end(),
                   [](const LearnedClass& a, const LearnedClass& b) { return a.share > b.share; });
  for (std::size_t k = 0; k < names.size(); ++k) learned.classes[k].name = names[k];
  return learned;
}

}  // namespace

LearnedColours learn_colours(const std::vector<ColourSample>& samples, const std::vector<std::string>& names,
                             Examples examples, const LearnParams& params) {
  if (samples.empty()) throw Error(ExitCode::BadData, "learn: no pixel to learn from");
  Learner learner(samples, params);
  LearnedColours learned = examples == Examples::Frames ? learn_from_frames(learner, names)
                           : examples == Examples::Picks
                               ? learn_from_picks(learner, names)
                               : learn_from_owners(learner, names, params.min_share);
  learner.judge(learned, examples);
  return learned;
}

}  // namespace contorno
