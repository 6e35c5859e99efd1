#include "stages/overlay/label_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "cuda/error.h"
#include "pipeline/shared/printable.h"
#include "stages/overlay/labels.h"

namespace contorno {
namespace {

[[noreturn]] void refuse(std::string_view text, const std::string& reason) {
  throw Error(ExitCode::BadOption, fmt::format("label is '{}': {}", printable(text), reason));
}

/// What stands between braces: "class", "area" or "area:.1f".
LabelWord field_of(std::string_view word, std::string_view text) {
  if (word == "class") return {.kind = LabelWord::Kind::ClassName, .text = {}};
  const std::size_t colon = word.find(':');
  const std::optional<Attribute> attribute = attribute_called(word.substr(0, colon));
  if (!attribute)
    refuse(text, fmt::format("there is no {{{}}}, allowed are {{class}} and the attributes {}",
                             printable(word), fmt::join(kAttributeNames, ", ")));
  LabelWord field{.kind = LabelWord::Kind::Attribute, .text = {}, .attribute = *attribute};
  if (colon == std::string_view::npos) return field;
  const std::string_view form = word.substr(colon + 1);
  if (form.size() != 3 || form[0] != '.' || form[1] < '0' || form[1] > '0' + kMaxLabelDecimals ||
      form[2] != 'f')
    refuse(text, fmt::format("'{}' is no form of a number, allowed are .0f to .{}f", printable(form),
                             kMaxLabelDecimals));
  field.decimals = form[1] - '0';
  return field;
}

}  // namespace

std::vector<LabelWord> parse_label(std::string_view text) {
  std::vector<LabelWord> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t brace = std::min(text.find('{', at), text.size());
    if (brace > at)
      words.push_back({.kind = LabelWord::Kind::Text, .text = std::string(text.substr(at, brace - at))});
    if (brace == text.size()) break;
    const std::size_t end = text.find('}', brace);
    if (end == std::string_view::npos) refuse(text, "a { has no }");
    words.push_back(field_of(text.substr(brace + 1, end - brace - 1), text));
    at = end + 1;
  }
  const auto fields = std::count_if(words.begin(), words.end(), [](const LabelWord& word) {
    return word.kind == LabelWord::Kind::Attribute;
  });
  if (fields > kMaxLabelFields)
    refuse(text, fmt::format("it has {} attributes, allowed 0 to {}", fields, kMaxLabelFields));
  return words;
}

}  // namespace contorno
