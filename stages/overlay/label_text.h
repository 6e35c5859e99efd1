// What labels say: the parameter `label` of overlay, "{class} {area:.1f} px".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pipeline/value/attributes.h"

namespace contorno {

/// A part of it; a text may be the name of the class, which is not known yet.
struct LabelWord {
  enum class Kind : std::uint8_t { Text, ClassName, Attribute };
  Kind kind = Kind::Text;
  std::string text;
  Attribute attribute = Attribute::End;
  int decimals = 0;
};

/// Throws Error(BadOption) for a name that is no attribute's, with those that are, for a form of numbers that
/// is not .0f to .6f, for a brace that is not closed, and for more than kMaxLabelFields attributes.
std::vector<LabelWord> parse_label(std::string_view text);

}  // namespace contorno
