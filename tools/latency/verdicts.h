// Whether a measurement holds what is asked of it: the deadline, and the assertions of the command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/condition.h"
#include "tools/latency/report.h"

namespace contorno::latency {

/// Exit codes of `contorno latency` beside those of every command.
inline constexpr int kExitWorse = 1;   ///< --compare found a figure that is worse
inline constexpr int kExitFailed = 4;  ///< the deadline or an assertion was not held
inline constexpr int kExitTooFew = 5;  ///< an assertion needs more frames than there were

/// Whether enough frames met the deadline. A closed loop says nothing about a rate: no verdict.
struct Verdict {
  enum class State : std::uint8_t { Pass, Fail, None } state = State::None;
  std::string sentence;
};
Verdict verdict_of(const LatencyReport& report);

/// One `--assert`: "p99<100ms", "mean_shift.p50<=3ms", "misses<=0.1%", "dropped==0".
class Assertion {
 public:
  /// Throws Error(Usage) with what is allowed. `rows` are the names that may stand before the figure; empty:
  /// any.
  Assertion(const std::string& text, const std::vector<std::string>& rows);

  enum class State : std::uint8_t { Held, Failed, TooFew };
  struct Answer {
    State state = State::TooFew;
    std::string sentence;  ///< "p99<100ms: 31.4 ms"
  };
  Answer check(const LatencyReport& report) const;

 private:
  struct Found {
    bool known = true;
    double value = 0;
    std::string text;  ///< the figure with its unit, or why it is not known
  };
  Found figure_in(const LatencyReport& report) const;
  Found time_in(const LatencyReport& report) const;

  Condition condition_;
  std::string row_, figure_;
  double limit_ = 0;
  bool is_share_ = false;  ///< the limit is a share of the offered frames
};

const char* name_of(Assertion::State state);
const char* name_of(Verdict::State state);

}  // namespace contorno::latency
