// When messages were kept, for the age of the oldest that waits for a broker: the times of some of them,
// closer together where they are new, in bounded memory. Pure: times are the caller's. Ids and times only
// grow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace contorno::outbox {

class KeptTimes {
 public:
  static constexpr std::size_t kMost = 512;

  /// All messages up to `id` are kept by now.
  void note(std::uint64_t id, std::int64_t now_ns) {
    if (!marks_.empty() && id <= marks_.back().id) return;
    if (marks_.size() == kMost) thin_out(now_ns);
    marks_.push_back({id, now_ns});
  }
  /// For how long the first message behind `cursor` has been kept, at least; 0: there is none.
  std::int64_t age_ns(std::uint64_t cursor, std::int64_t now_ns) const {
    const auto first = std::upper_bound(marks_.begin(), marks_.end(), cursor,
                                        [](std::uint64_t id, const Mark& mark) { return id < mark.id; });
    return first == marks_.end() ? 0 : std::max<std::int64_t>(0, now_ns - first->at_ns);
  }

 private:
  struct Mark {
    std::uint64_t id = 0;
    std::int64_t at_ns = 0;
  };
  /// The mark goes without which the ages of messages are known almost as well as with it.
  void thin_out(std::int64_t now_ns) {
    std::size_t least = 1;
    double least_loss = std::numeric_limits<double>::max();
    for (std::size_t i = 1; i + 1 < marks_.size(); ++i) {
      const auto gap = static_cast<double>(marks_[i + 1].at_ns - marks_[i - 1].at_ns);
      const double loss = gap / static_cast<double>(now_ns - marks_[i].at_ns + 1);
      if (loss < least_loss) least = i, least_loss = loss;
    }
    marks_.erase(marks_.begin() + static_cast<std::ptrdiff_t>(least));
  }

  std::vector<Mark> marks_;
};

}  // namespace contorno::outbox
