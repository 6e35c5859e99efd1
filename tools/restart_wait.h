// How long a program that is started again and again waits before it opens a device that broke under it: 1,
// 2, 4, .. 60 s. Service managers wait the same time at every restart; what they keep for a service, its
// state directory, has what the last run left. The rule is pure: times are the caller's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace contorno {

/// What a run that ended because its device broke leaves to the next one. Times are Unix seconds.
struct BrokenRun {
  std::int64_t ended_s = 0;
  int in_a_row = 1;  ///< runs that broke soon after they had opened the device, this one included
};

/// A run breaks soon, and the next one begins soon, within so many seconds; the longest wait is as long.
inline constexpr std::int64_t kSoon_s = 60;

/// What a run leaves that broke at `ended_s` and had opened the device at `opened_s`, after `before`.
BrokenRun broken_run(const std::optional<BrokenRun>& before, std::int64_t opened_s, std::int64_t ended_s);
/// How many seconds a run waits that begins at `now_s`.
std::int64_t restart_wait(const std::optional<BrokenRun>& last, std::int64_t now_s);

/// One line, and back; nothing where it is no such line.
std::string text_of(const BrokenRun& run);
std::optional<BrokenRun> broken_run_of(std::string_view text);

class ServiceManager;

/// The state file of a program that is run as a service; without STATE_DIRECTORY in the environment it does
/// nothing. For one thread.
class RestartGuard {
 public:
  RestartGuard();
  /// Waits as restart_wait says, and says so. False: a signal asked for an end meanwhile.
  bool wait(ServiceManager& service);
  /// Runs in a row that broke before this one.
  int broken_before() const { return last_ ? last_->in_a_row : 0; }
  /// The run ends with this exit code.
  void note_end(int code);

 private:
  std::string path_;  // empty: nowhere
  std::optional<BrokenRun> last_;
  std::int64_t opened_s_ = 0;
};

}  // namespace contorno
