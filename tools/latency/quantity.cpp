#include "tools/latency/quantity.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/error.h"
#include "config/numbers.h"

namespace contorno::latency {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 6> kUnits{
    {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}}};
constexpr double kLongest = 365 * 24 * 3600e9;

}  // namespace

std::optional<double> nanoseconds_from(std::string_view text) {
  const std::size_t end = text.find_last_of("0123456789.");
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view unit = text.substr(end + 1);
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  const std::optional<double> number = config::parse_number(text.substr(0, end + 1));
  if (!number || *number < 0) return std::nullopt;
  for (const auto& [name, factor] : kUnits)
    if (unit == name && *number * factor <= kLongest) return *number * factor;
  return std::nullopt;
}

double nanoseconds_of_option(const std::string& name, const std::string& text) {
  if (const std::optional<double> time = nanoseconds_from(text)) return *time;
  throw Error(ExitCode::Usage,
              fmt::format("{} is '{}', wanted a time with its unit, such as 60s, 500ms or 2min", name, text));
}

std::string duration_text(double nanoseconds) {
  for (std::size_t i = 3; i > 0; --i)
    if (nanoseconds >= kUnits[i].second)
      return fmt::format("{:.4g} {}", nanoseconds / kUnits[i].second, kUnits[i].first);
  return fmt::format("{:.4g} ns", nanoseconds);
}

}  // namespace contorno::latency
