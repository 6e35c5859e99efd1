#include "tools/event_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "pipeline/shared/printable.h"

namespace contorno {
namespace {

constexpr std::int64_t kOneASecond = 1'000'000'000;  // ns

bool is_plain(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == ':' || c == '/' || c == '+' || c == '-';
  });
}

/// A value as one word, in quotes where it is more.
std::string word_of(std::string_view value) {
  const std::string shown = printable_sentence(value);
  if (is_plain(shown)) return shown;
  std::string quoted = "\"";
  for (const char c : shown) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string_view word_of(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return "error";
    case Severity::Warning:
      return "warning";
    case Severity::Notice:
      return "notice";
    case Severity::Info:
      return "info";
  }
  return "";
}

/// "2026-11-29T12:00:00.123Z".
std::string utc_text(std::int64_t unix_ms) {
  const std::time_t seconds = unix_ms / 1000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, unix_ms % 1000);
}

/// A sentence that is an event of nothing else has its words in one field.
bool is_sentence_alone(const LogEvent& event) {
  return event.name.empty();
}

std::string json_text(const LogEvent& event, std::uint64_t count, std::int64_t unix_ms) {
  nlohmann::ordered_json json = {{"time", utc_text(unix_ms)}, {"severity", word_of(event.severity)}};
  if (!event.camera.empty()) json["camera"] = event.camera;
  json["event"] = is_sentence_alone(event) ? "message" : event.name;
  for (const auto& [key, value] : event.fields) json[key] = printable_sentence(value);
  if (count > 1) json["repeated"] = count;
  json["message"] = printable_sentence(event.sentence);
  return json.dump();
}

std::string event_text(const LogEvent& event, std::uint64_t count) {
  if (is_sentence_alone(event)) return "contorno: " + printable_sentence(event.sentence);
  std::string text = fmt::format("{} {}", event.camera.empty() ? "-" : event.camera, event.name);
  for (const auto& [key, value] : event.fields) text += fmt::format(" {}={}", key, word_of(value));
  return count > 1 ? text + fmt::format(" repeated={}", count) : text;
}

std::string sentence_text(const LogEvent& event, std::uint64_t count) {
  std::string text = "contorno: " + printable_sentence(event.sentence);
  return count > 1 ? text + fmt::format(" (the last of {} such events)", count) : text;
}

}  // namespace

std::string log_line(const LogStyle& style, const LogEvent& event, std::uint64_t count,
                     std::int64_t unix_ms) {
  const std::string priority =
      style.has_priorities ? fmt::format("<{}>", static_cast<int>(event.severity)) : std::string();
  switch (style.form) {
    case LogForm::Text:
      return priority + sentence_text(event, count) + "\n";
    case LogForm::Events:
      return priority + event_text(event, count) + "\n";
    case LogForm::Json:
      return priority + json_text(event, count, unix_ms) + "\n";
  }
  return {};
}

bool is_journal(const char* journal_stream, std::uint64_t device, std::uint64_t inode) {
  return journal_stream != nullptr && fmt::format("{}:{}", device, inode) == journal_stream;
}

void EventLog::set_style(const LogStyle& style) {
  const std::lock_guard lock(mutex_);
  style_ = style;
}

LogStyle EventLog::style() const {
  const std::lock_guard lock(mutex_);
  return style_;
}

void EventLog::add(const LogEvent& event) {
  const std::lock_guard lock(mutex_);
  const std::int64_t now = clock_.now_ns();
  write_due(now);
  // A sentence of its own is no kind of event.
  if (is_sentence_alone(event)) return write(event, 1);
  const auto [found, is_first] = recent_.try_emplace(Kind(event.camera, event.name, event.subject));
  if (is_first) {
    found->second.written_ns = now;
    write(event, 1);
  } else {
    ++found->second.held;
    found->second.last = event;
  }
}

void EventLog::look() {
  const std::lock_guard lock(mutex_);
  write_due(clock_.now_ns());
}

void EventLog::finish() {
  const std::lock_guard lock(mutex_);
  for (const auto& [kind, recent] : recent_)
    if (recent.held > 0) write(recent.last, recent.held);
  recent_.clear();
}

/// What is over a second old is written where something is held, else forgotten.
void EventLog::write_due(std::int64_t now_ns) {
  for (auto one = recent_.begin(); one != recent_.end();) {
    Recent& recent = one->second;
    if (now_ns - recent.written_ns < kOneASecond) {
      ++one;
    } else if (recent.held == 0) {
      one = recent_.erase(one);
    } else {
      write(recent.last, recent.held);
      recent.written_ns = now_ns, recent.held = 0;
      ++one;
    }
  }
}

void EventLog::write(const LogEvent& event, std::uint64_t count) {
  write_(log_line(style_, event, count, clock_.unix_ms()));
}

}  // namespace contorno
