// Something that happened while a run goes on, for its log: what people read, and the same in parts for
// programs. It goes to whoever keeps the log (tools/event_log.h); nothing here holds or prints it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace contorno {

/// How urgent an event is. The numbers are those of syslog (RFC 5424).
enum class Severity : std::uint8_t { Error = 3, Warning = 4, Notice = 5, Info = 6 };

struct LogEvent {
  Severity severity = Severity::Notice;
  std::string camera{};   ///< its name; empty: of none, or the one without a name
  std::string name{};     ///< what happened, a word: "state", "route"
  std::string subject{};  ///< what it happened to, beside the camera: a route, a frame; not shown
  std::vector<std::pair<std::string, std::string>> fields{};  ///< as text, in the order of showing
  std::string sentence{};
};

}  // namespace contorno
