// Numbers in text: the strict reading of them, and how to write what is none but was meant as one.
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
/// In any spelling: 1000, 1e3, 1000.0.
std::optional<std::int64_t> whole_number(std::string_view text);

/// Whether some readers of YAML take the text for a number that has other spellings too: 1.5, 007.
bool is_odd_number(std::string_view text);

/// How to write what was meant where a number is wanted; empty when that is not known.
std::string number_fix(std::string_view text);

/// In small letters, of ASCII only.
std::string lower(std::string_view text);

}  // namespace contorno::config
