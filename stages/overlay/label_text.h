// What labels say: the parameter `label` of overlay, "{class} {area:.1f} px".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pipeline/value/attributes.h"

namespace contorno {

/// A part of it: an attribute, or all the text between two of them.
struct LabelWord {
  Attribute attribute = Attribute::End;  ///< End: a text
  int decimals = 0;
  std::string text;  ///< with {class} where the name of the class stands

  std::string text_for(std::string_view class_name) const;
};

/// The parts of a label, of which no two texts follow each other. Throws Error(BadOption) for a name that is
/// no attribute's, with those that are, for a form of numbers that is not .0f to .6f, for a brace that is not
/// closed, and for more than kMaxLabelFields attributes.
std::vector<LabelWord> parse_label(std::string_view text);

}  // namespace contorno
