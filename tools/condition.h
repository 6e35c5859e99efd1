// Reads an option --assert: "FIGURE OPERATOR LIMIT", as in "p99<100ms" or "rot.iou>=0.9". Each command
// defines its own figures and limits.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace contorno {

struct Condition {
  std::string text;           ///< as it was given
  std::string figure, limit;  ///< without blanks around them
  std::string op;             ///< one of < <= == >= >

  /// Nothing where the text has none of the operators. Figure and limit may be empty: who defines them
  /// refuses that.
  static std::optional<Condition> from(const std::string& text);
  /// Compares as `op` says; false where `value` is NaN.
  bool holds(double value, double limit_value) const;
};

/// A limit without a unit: 0.1, or 0.1% as a share.
struct PlainLimit {
  double value = 0;  ///< 0.001 of "0.1%"
  bool is_share = false;
};
/// The limit in `text`; nothing where that is no number of at least 0.
std::optional<PlainLimit> plain_limit_from(std::string_view text);

}  // namespace contorno
