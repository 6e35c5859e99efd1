#include "tools/ops/open_metrics.h"

#include <fmt/format.h>

#include "base/error.h"

namespace contorno {
namespace {

std::string_view word_of(OpenMetrics::Kind kind) {
  switch (kind) {
    case OpenMetrics::Kind::Counter:
      return "counter";
    case OpenMetrics::Kind::Gauge:
      return "gauge";
    case OpenMetrics::Kind::Histogram:
      return "histogram";
    case OpenMetrics::Kind::StateSet:
      return "stateset";
    case OpenMetrics::Kind::Info:
      return "info";
  }
  throw InternalError("unknown kind of metric");
}

/// A text with the escapes that labels and help have, between quotes or not.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '\\':
        out += "\\\\";
        break;
      case '"':
        out += "\\\"";
        break;
      case '\n':
        out += "\\n";
        break;
      default:
        out += c;
    }
  return out;
}

}  // namespace

void OpenMetrics::begin(std::string_view family, Kind kind, std::string_view unit, std::string_view help) {
  family_ = family;
  text_ += fmt::format("# TYPE {} {}\n", family, word_of(kind));
  if (!unit.empty()) text_ += fmt::format("# UNIT {} {}\n", family, unit);
  text_ += fmt::format("# HELP {} {}\n", family, escaped(help));
}

void OpenMetrics::line(std::string_view suffix, MetricLabels labels, std::string_view value) {
  if (samples_ >= kMostSamples) return;
  ++samples_;
  text_ += family_;
  text_ += suffix;
  char before = '{';
  for (const auto& [name, label] : labels) {
    text_ += fmt::format("{}{}=\"{}\"", before, name, escaped(label));
    before = ',';
  }
  if (labels.size() > 0) text_ += '}';
  text_ += fmt::format(" {}\n", value);
}

void OpenMetrics::sample(std::string_view suffix, MetricLabels labels, double value) {
  line(suffix, labels, fmt::format("{}", value));
}

void OpenMetrics::sample(std::string_view suffix, MetricLabels labels, std::uint64_t value) {
  line(suffix, labels, fmt::format("{}", value));
}

std::string OpenMetrics::finish() && {
  text_ += "# EOF\n";
  return std::move(text_);
}

}  // namespace contorno
