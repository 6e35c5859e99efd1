#include "tools/learn/colours.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "tools/learn/learner.h"
#include "tools/learn/picks.h"
#include "tools/learn/references.h"

namespace contorno {
namespace {

/// Below it steps of 8-bit colours become clusters.
constexpr double kLeastSigma = 0.006;

/// The modes of a class that are more its own than anybody's.
std::vector<Colour> own_colours(const Learner& learner, const std::vector<std::string>& names, std::size_t k,
                                double least_share) {
  std::vector<Mode> modes = learner.modes_of(static_cast<std::int16_t>(k), learner.params().sigma);
  std::vector<Colour> own;
  if (modes.empty())
    throw Error(ExitCode::BadData,
                fmt::format("learn: no pixel of the masks belongs to class '{}'", names[k]));
  const Mode* best = &modes.front();
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

LearnedColours learn_from_picks(Learner& learner, const std::vector<std::string>& names) {
  const double least_share = std::max(kLeastOfPick, learner.params().min_share);
  LearnedColours learned = learn_from_owners(learner, names, least_share);
  learner.leave_out_shades(learned.classes);
  learned.classes.push_back({.name = kEverythingElse, .hidden = true});
  add_references(learner, learned);
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

/// The modes of the samples without a class that stand out from all larger ones.
std::vector<Mode> modes_that_stand_out(const Learner& learner, double sigma) {
  std::vector<Mode> chosen;
  for (const Mode& mode : learner.modes_of(kRest, sigma)) {
    double least = 0;
    for (const Mode& larger : chosen) {
      const double away = distance(mode.place, larger.place);
      least = &larger == chosen.data() ? away : std::min(least, away);
    }
    if (learner.stands_out(mode.share, least)) chosen.push_back(mode);
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

std::string percent_text(double share) {
  return share >= 0.001 || share == 0 ? fmt::format("{:.1f}", 100 * share)
                                      : fmt::format("{:.2g}", 100 * share);
}

}  // namespace contorno
