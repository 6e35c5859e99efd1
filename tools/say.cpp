#include "tools/say.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "base/error.h"
#include "pipeline/shared/clock.h"

namespace contorno {
namespace {

[[noreturn]] void fail() {
  throw Error(ExitCode::Io, fmt::format("standard output cannot be written: {}",
                                        errno == EBADF ? "it is closed" : std::strerror(errno)));
}

void write_message(std::string_view line) {
  // Where a message cannot go there is nobody to be told.
  static_cast<void>(std::fwrite(line.data(), 1, line.size(), stderr));
}

std::int64_t unix_now_ms() {
  using std::chrono::milliseconds;
  return std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Lives as long as the process: threads may still say something while it ends.
EventLog& process_log() {
  static EventLog& log = *new EventLog({.now_ns = now_ns, .unix_ms = unix_now_ms}, write_message);
  return log;
}

std::atomic<bool> is_json = false;  // for who may not allocate

}  // namespace

void say(std::string_view sentence) {
  if (!sentence.empty()) process_log().add({.sentence = std::string(sentence)});
}

void warn(std::string_view sentence) {
  if (!sentence.empty())
    process_log().add({.severity = Severity::Warning, .sentence = fmt::format("warning: {}", sentence)});
}

void say_lines(std::string_view lines) {
  const LogStyle style = process_log().style();
  if (style.form == LogForm::Json)
    return process_log().add({.severity = Severity::Error, .sentence = std::string(lines)});
  const std::string priority =
      style.has_priorities ? fmt::format("<{}>", static_cast<int>(Severity::Error)) : std::string();
  std::string text = fmt::format("{}contorno: {}", priority, printable_lines(lines));
  for (std::size_t at = 0; !priority.empty() && (at = text.find('\n', at)) != std::string::npos; ++at)
    text.insert(at + 1, priority);
  write_message(text + "\n");
}

void tell(const LogEvent& event) {
  process_log().add(event);
}

void tell_due() {
  process_log().look();
}

void finish_log() {
  process_log().finish();
}

void settle_log() {
  struct stat status {};
  const bool has_journal = ::fstat(STDERR_FILENO, &status) == 0 &&
                           is_journal(std::getenv("JOURNAL_STREAM"), status.st_dev, status.st_ino);
  process_log().set_style(
      {.form = has_journal ? LogForm::Events : LogForm::Text, .has_priorities = has_journal});
}

void set_log_form(LogForm form) {
  is_json = form == LogForm::Json;
  process_log().set_style({.form = form, .has_priorities = process_log().style().has_priorities});
}

void say_out_of_memory() {
  write_message(is_json ? "{\"severity\":\"error\",\"event\":\"message\",\"message\":\"out of memory\"}\n"
                        : "contorno: out of memory\n");
}

void show_progress(std::string_view text) {
  if (is_json) return;  // every line is to be an object
  write_message(text);
  std::fflush(stderr);
}

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) fail();
}

void finish_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout.flush()) fail();
}

void fill_standard_streams() {
  // Open for reading only: to write into standard output must fail, not seem to succeed.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0) _exit(static_cast<int>(ExitCode::Io));
}

}  // namespace contorno
