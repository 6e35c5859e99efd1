// Numbers in text: reading them strictly, and suggesting how to write a text that was meant as a number.
// Independent of the locale. No state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace contorno::config {

/// A finite decimal number (1, -0.5, 2e-3), or nothing. No leading zeros, hexadecimal, infinities.
std::optional<double> parse_number(std::string_view text);
/// Digits with or without a sign, or nothing.
std::optional<std::int64_t> parse_integer(std::string_view text);
/// A whole number in any spelling, 1000, 1e3 or 1000.0; or nothing.
std::optional<std::int64_t> whole_number(std::string_view text);

/// Whether readers of YAML may take the text for a number and change its spelling, as with 1.5 or 007.
bool is_odd_number(std::string_view text);

/// How to write `text` where a number is wanted; empty when it is not clear what was meant.
std::string number_fix(std::string_view text);

/// `text` with ASCII letters in lower case.
std::string lower(std::string_view text);

}  // namespace contorno::config
