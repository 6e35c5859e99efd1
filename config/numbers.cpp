#include "config/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace contorno::config {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

std::string_view without_sign(std::string_view text) {
  return text.starts_with('-') || text.starts_with('+') ? text.substr(1) : text;
}

bool has_leading_zero(std::string_view unsigned_text) {
  return unsigned_text.size() > 1 && unsigned_text[0] == '0' && is_digit(unsigned_text[1]);
}

}  // namespace

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

std::optional<double> parse_number(std::string_view text) {
  const std::string_view digits = without_sign(text);
  if (digits.empty() || has_leading_zero(digits)) return std::nullopt;
  if (digits.find_first_not_of("0123456789.eE+-") != std::string_view::npos) return std::nullopt;
  if (!is_digit(digits[0]) && digits[0] != '.') return std::nullopt;
  const std::string_view body = text.starts_with('+') ? digits : text;
  double value = 0;
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), value);
  if (error != std::errc() || end != body.data() + body.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  const std::string_view digits = without_sign(text);
  if (!all_digits(digits) || has_leading_zero(digits)) return std::nullopt;
  const std::string_view body = text.starts_with('+') ? digits : text;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), value);
  if (error != std::errc() || end != body.data() + body.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  if (const auto digits = parse_integer(text)) return digits;
  const std::optional<double> real = parse_number(text);
  constexpr auto kExact = static_cast<double>(std::int64_t{1} << 53);
  if (!real || *real != std::floor(*real) || std::abs(*real) > kExact) return std::nullopt;
  return static_cast<std::int64_t>(*real);
}

bool is_odd_number(std::string_view text) {
  const std::string_view digits = without_sign(text);
  return (!parse_integer(text) && parse_number(text)) || (has_leading_zero(digits) && all_digits(digits));
}

std::string number_fix(std::string_view text) {
  const std::string_view digits = without_sign(text);
  const std::string sign = text.starts_with('-') ? "-" : "";
  const std::string word = lower(text);
  if (word.find("inf") != std::string::npos || word.find("nan") != std::string::npos)
    return "write a finite decimal number, for example 0.5";
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data() + 2, digits.data() + digits.size(), value, 16);
    if (error == std::errc() && end == digits.data() + digits.size())
      return fmt::format("numbers are decimal: {}{}", sign, value);
  }
  if (has_leading_zero(digits)) {
    const std::size_t first = std::min(digits.find_first_not_of('0'), digits.size() - 1);
    const std::string_view rest = digits.substr(first);
    return fmt::format("numbers are decimal, without leading zeros: {}{}{}", sign, rest[0] == '.' ? "0" : "",
                       rest);
  }
  if (digits.find_first_not_of("0123456789.eE+-") == std::string_view::npos &&
      digits.find_first_of("eE") != std::string_view::npos)
    return "write a number that a 64-bit float can hold";
  std::string without;
  for (const char c : text)
    if (c != '_') without.push_back(c == ',' ? '.' : c);
  if (without != text && parse_number(without)) return fmt::format("write {}", without);
  const std::size_t unit = text.find_first_not_of("+-.0123456789");
  if (unit != std::string_view::npos && unit > 0) {
    const std::string_view number = text.substr(0, unit);
    if (parse_number(number) && text.find_first_of("0123456789", unit) == std::string_view::npos)
      return fmt::format("write the number without its unit: {}", number);
  }
  return {};
}

}  // namespace contorno::config
