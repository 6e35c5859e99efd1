#include "stages/overlay/label_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "pipeline/shared/printable.h"
#include "stages/overlay/labels.h"

namespace contorno {
namespace {

[[noreturn]] void refuse(std::string_view text, const std::string& reason) {
  throw Error(ExitCode::BadOption, fmt::format("label is '{}': {}", printable(text), reason));
}

constexpr std::string_view kClassName = "{class}";

/// What stands between braces, if it is not "class": "area" or "area:.1f".
LabelWord attribute_of(std::string_view field, std::string_view text) {
  const std::size_t colon = field.find(':');
  const std::optional<Attribute> attribute = attribute_called(field.substr(0, colon));
  if (!attribute)
    refuse(text, fmt::format("there is no {{{}}}, allowed are {} and the attributes {}", printable(field),
                             kClassName, fmt::join(kAttributeNames, ", ")));
  LabelWord word{.attribute = *attribute, .text = {}};
  if (colon == std::string_view::npos) return word;
  const std::string_view form = field.substr(colon + 1);
  if (form.size() != 3 || form[0] != '.' || form[1] < '0' || form[1] > '0' + kMaxLabelDecimals ||
      form[2] != 'f')
    refuse(text, fmt::format("'{}' is no form of a number, allowed are .0f to .{}f", printable(form),
                             kMaxLabelDecimals));
  word.decimals = form[1] - '0';
  return word;
}

}  // namespace

std::string LabelWord::text_for(std::string_view class_name) const {
  std::string result = text;
  for (std::size_t at = 0; (at = result.find(kClassName, at)) != std::string::npos; at += class_name.size())
    result.replace(at, kClassName.size(), class_name);
  return result;
}

std::vector<LabelWord> parse_label(std::string_view text) {
  std::vector<LabelWord> words;
  const auto add_text = [&words](std::string_view part) {
    if (words.empty() || words.back().attribute != Attribute::End) words.emplace_back();
    words.back().text += part;
  };
  int attributes = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t brace = std::min(text.find('{', at), text.size());
    if (brace > at) add_text(text.substr(at, brace - at));
    if (brace == text.size()) break;
    const std::size_t end = text.find('}', brace);
    if (end == std::string_view::npos) refuse(text, "a { has no }");
    at = end + 1;
    if (text.substr(brace, at - brace) == kClassName) {
      add_text(kClassName);
    } else {
      words.push_back(attribute_of(text.substr(brace + 1, end - brace - 1), text));
      ++attributes;
    }
  }
  if (attributes > kMaxLabelFields)
    refuse(text, fmt::format("it has {} attributes, allowed 0 to {}", attributes, kMaxLabelFields));
  return words;
}

}  // namespace contorno
