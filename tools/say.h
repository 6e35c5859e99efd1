// Everything that the program prints: results on standard output, messages on standard error. What comes from
// outside (names of files, addresses, messages of libraries) is shown by the rules of
// pipeline/shared/printable.h, so that it forges no lines and no colours and shows no passwords. For any
// thread; a line is written in one piece.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <type_traits>

#include "pipeline/shared/printable.h"
#include "tools/event_log.h"

namespace contorno {

/// Writes "contorno: SENTENCE" to standard error, as one line. Nothing for an empty sentence.
void say(std::string_view sentence);
/// Writes "contorno: warning: SENTENCE" likewise.
void warn(std::string_view sentence);
/// "contorno: LINES" on standard error, for a text of several lines such as the report of a graph's mistakes.
/// Passwords and control characters are replaced, line breaks stay.
void say_lines(std::string_view lines);

/// Writes an event of a run to standard error, at most one of its kind a second (EventLog).
void tell(const LogEvent& event);
/// Writes what was held and may be written now: to be called now and then while a run goes on.
void tell_due();
/// Writes all events that are held: at the end.
void finish_log();
/// Sees whether standard error goes to the journal of systemd: lines then have priorities, and events are
/// lines of words.
void settle_log();
/// Sets the form of all that is said, for a user who asks for one.
void set_log_form(LogForm form);

/// Says that the program is out of memory, without allocating any.
void say_out_of_memory();
/// Writes to standard error as it is, for a progress line that is written over on a terminal.
void show_progress(std::string_view text);

/// A result, on standard output, as it is: what it quotes from outside has to be printable or encoded (JSON).
/// Throws Error(Io) when standard output is closed or cannot take it.
void print(std::string_view text);
/// Prints a result from a format; every text among `values` is shown as printable.
template <class... T>
void print(fmt::format_string<const T&...> format, const T&... values) {
  const auto shown = []<class V>(const V& value) {
    if constexpr (std::is_convertible_v<const V&, std::string_view>)
      return printable_sentence(value);
    else
      return value;
  };
  print(std::string_view(fmt::format(fmt::runtime(fmt::string_view(format)), shown(values)...)));
}
/// Writes what waits to be written to standard output, also by libraries. Throws as print().
void finish_output();

/// Opens /dev/null in place of standard streams that are closed, because the next file that is opened would
/// get their numbers, and messages would be written into it. Reading then finds the end; writing fails.
void fill_standard_streams();

}  // namespace contorno
