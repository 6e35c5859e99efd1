// Times with their unit, as options and assertions have them: "60s", "1.5 ms".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace contorno::latency {

/// Nanoseconds of a number of at least 0 with one of the units ns, us, ms, s, min, h behind it, a blank
/// between them or not; nothing where the text is not one, or longer than a year.
std::optional<double> nanoseconds_from(std::string_view text);

/// nanoseconds_from for the value of the option `name`. Throws Error(Usage): "--duration is 60, wanted a time
/// with its unit, such as 60s, 500ms or 2min".
double nanoseconds_of_option(const std::string& name, const std::string& text);

/// Shortest text for a user: "60 s", "2.5 ms".
std::string duration_text(double nanoseconds);

}  // namespace contorno::latency
