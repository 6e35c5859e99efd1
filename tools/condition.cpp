#include "tools/condition.h"

#include <array>

#include "config/numbers.h"

namespace contorno {
namespace {

constexpr std::array<std::string_view, 5> kOperators{"<=", ">=", "==", "<", ">"};

std::string without_blanks(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return std::string(text);
}

}  // namespace

std::optional<Condition> Condition::from(const std::string& text) {
  for (const std::string_view op : kOperators)
    if (const std::size_t at = text.find(op); at != std::string::npos)
      return Condition{.text = text,
                       .figure = without_blanks(text.substr(0, at)),
                       .limit = without_blanks(text.substr(at + op.size())),
                       .op = std::string(op)};
  return std::nullopt;
}

bool Condition::holds(double value, double limit_value) const {
  if (op == "<") return value < limit_value;
  if (op == "<=") return value <= limit_value;
  if (op == ">") return value > limit_value;
  if (op == ">=") return value >= limit_value;
  return value == limit_value;
}

std::optional<PlainLimit> plain_limit_from(std::string_view text) {
  const bool is_share = text.ends_with('%');
  if (is_share) text.remove_suffix(1);
  const std::optional<double> number = config::parse_number(without_blanks(text));
  if (!number || *number < 0) return std::nullopt;
  return PlainLimit{is_share ? *number / 100 : *number, is_share};
}

}  // namespace contorno
