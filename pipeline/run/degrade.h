// Which level of quality a camera runs at: full quality, or one of those that `degrade:` lists (see
// pipeline/graph/quality.h), decided from what its frames take. Pure: the times are the caller's. No call
// allocates, but for the constructor. For one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace contorno {

class Degrader {
 public:
  /// What a frame took, in nanoseconds.
  struct Frame {
    std::int64_t now = 0;       ///< when its result was complete
    int level = 0;              ///< level of quality at which it was worked on
    std::int64_t wait = 0;      ///< between its arrival and the begin of the work
    std::int64_t work = 0;      ///< between the begin of the work and the result
    std::int64_t deadline = 0;  ///< of the graph; 0: none
    std::int64_t interval = 0;  ///< between frames that come; 0: not known
  };

  /// The load of a camera is the p90, by nearest rank, of (wait + work) / min(deadline, interval) over
  /// kWindow frames of one level. It is looked at every kBetweenLooks frames.
  static constexpr std::size_t kWindow = 32, kBetweenLooks = 8;
  static constexpr double kHigh = 0.85;  ///< two looks in a row above it: the next coarser level
  static constexpr double kLow = 0.5;    ///< below it for the quiet time: the next finer level,
  static constexpr double kMostPredicted =
      0.7;  ///< where the finer level is predicted to cost less than this
  static constexpr std::int64_t kBetweenChanges = 2'000'000'000;
  static constexpr std::int64_t kFirstQuiet = 5'000'000'000, kLongestQuiet = 240'000'000'000;
  /// A finer level that is given up within this time doubles the quiet time. One that was held for
  /// kLongestQuiet sets it back.
  static constexpr std::int64_t kRelapse = 10'000'000'000;

  /// `levels`: full quality, which is level 0, and those below; at least 1.
  explicit Degrader(int levels) : levels_(levels), ratios_(static_cast<std::size_t>(levels), 1) {}

  /// A frame that has a result. One of another level than the present one, which was under way when the level
  /// changed, counts for nothing.
  void note_result(const Frame& frame);
  /// A frame was dropped for want of time: the next coarser level, unless a change was less than
  /// kBetweenChanges ago.
  void note_drop(std::int64_t now);

  int level() const { return level_; }
  std::int64_t quiet_time() const { return quiet_; }

 private:
  using Window = std::array<double, kWindow>;
  double p90(const Window& window) const;
  void look(std::int64_t now);
  void note_ratio();
  bool may_change(std::int64_t now) const { return !has_changed_ || now - changed_ >= kBetweenChanges; }
  void go_coarser(std::int64_t now);
  void go_finer(std::int64_t now);
  void begin_level(int level, std::int64_t now);

  int levels_, level_ = 0;
  // Of the present level:
  Window loads_{}, costs_{};  // parts of min(deadline, interval); the cost of a frame is its work alone
  std::uint64_t frames_ = 0;
  int looks_above_ = 0;
  bool is_below_ = false;
  std::int64_t below_since_ = 0;
  bool wants_ratio_ = false;  // the level was come to from the finer one, whose last cost is
  double finer_cost_ = 0;

  std::vector<double>
      ratios_;  // by level: what a frame costs there, over what it costs at the next coarser one
  bool has_changed_ = false, has_gone_finer_ = false;
  std::int64_t changed_ = 0, went_finer_ = 0;
  std::int64_t quiet_ = kFirstQuiet;
};

}  // namespace contorno
