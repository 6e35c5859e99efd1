#include "tools/learn/references.h"

#include <algorithm>
#include <utility>

#include "tools/learn/picks.h"

namespace contorno {
namespace {

constexpr std::size_t kMostRestReferences = 12;

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
    double away;                ///< distance from the nearest reference, which is one of the holder's
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

}  // namespace

void add_references(const Learner& learner, LearnedColours& learned) {
  ReferenceSearch(learner, learned).run();
}

}  // namespace contorno
