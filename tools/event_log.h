// The log of a run, an event a line, in one of three forms: sentences for people, `camera event key=value`
// for programs that read lines, JSON. Of each kind of event (camera, name, subject) one line a second at most
// is written: what comes faster is held, the last of it is written when its second is over, with how many it
// stands for. Safe from any thread; time is the caller's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>

#include "pipeline/shared/log_event.h"

namespace contorno {

enum class LogForm : std::uint8_t { Text, Events, Json };

struct LogStyle {
  LogForm form = LogForm::Text;
  bool has_priorities = false;  ///< "<4>" before each line, as the journal of systemd reads it
};

/// A line of the log, with its end. `count` is how many events it stands for; `unix_ms` is for JSON.
std::string log_line(const LogStyle& style, const LogEvent& event, std::uint64_t count, std::int64_t unix_ms);

/// Whether standard error goes to the journal: `journal_stream` is what $JOURNAL_STREAM says, DEVICE:INODE;
/// null: it is not set.
bool is_journal(const char* journal_stream, std::uint64_t device, std::uint64_t inode);

class EventLog {
 public:
  struct Clock {
    std::function<std::int64_t()> now_ns;   ///< never steps back
    std::function<std::int64_t()> unix_ms;  ///< calendar time
  };
  using Write = std::function<void(const std::string& line)>;
  EventLog(Clock clock, Write write) : clock_(std::move(clock)), write_(std::move(write)) {}

  void set_style(const LogStyle& style);
  LogStyle style() const;
  /// Writes an event, or holds it.
  void add(const LogEvent& event);
  /// Writes what was held and may be written now.
  void look();
  /// Writes all that is held.
  void finish();

 private:
  using Kind = std::tuple<std::string, std::string, std::string>;
  struct Recent {
    std::int64_t written_ns = 0;
    std::uint64_t held = 0;  // events since then
    LogEvent last{};         // of those
  };
  void write(const LogEvent& event, std::uint64_t count);
  void write_due(std::int64_t now_ns);

  Clock clock_;
  Write write_;
  mutable std::mutex mutex_;  // guards what follows, and the order of lines
  LogStyle style_;
  std::map<Kind, Recent> recent_;  // written in the last second
};

}  // namespace contorno
