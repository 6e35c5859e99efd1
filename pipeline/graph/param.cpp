#include "pipeline/graph/param.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "pipeline/graph/numbered_choice.h"
#include "pipeline/graph/steps.h"

namespace contorno {

std::string_view name_of(Unit unit) {
  switch (unit) {
    case Unit::None:
      return "";
    case Unit::Pixels:
      return "px";
    case Unit::Levels:
      return "levels";
    case Unit::Frames:
      return "frames";
    case Unit::Milliseconds:
      return "ms";
    case Unit::Fraction:
      return "0..1";
    case Unit::PerSecond:
      return "1/s";
  }
  throw InternalError("unknown unit");
}

std::string_view name_of(ParamKind kind) {
  switch (kind) {
    case ParamKind::Flag:
      return "flag";
    case ParamKind::Integer:
      return "integer";
    case ParamKind::Number:
      return "number";
    case ParamKind::Choice:
      return "choice";
    case ParamKind::Text:
      return "text";
    case ParamKind::Colour:
      return "colour";
    case ParamKind::Numbers:
      return "list of numbers";
    case ParamKind::Mask:
      return "mask";
    case ParamKind::Steps:
      return "list of steps";
  }
  throw InternalError("unknown parameter kind");
}

std::string to_text(const ParamValue& value) {
  struct Writer {
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t integer) const { return std::to_string(integer); }
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const std::vector<double>& numbers) const {
      return fmt::format("[{}]", fmt::join(numbers, ", "));
    }
    std::string operator()(const SharedMask& mask) const {
      if (!mask) return {};
      return mask->text.empty() ? fmt::format("a mask of {}x{}", mask->width, mask->height) : mask->text;
    }
    std::string operator()(const SharedSteps& steps) const {
      std::vector<std::string_view> names;
      if (steps)
        for (const StepSpec& step : *steps) names.emplace_back(step.type->name);
      return fmt::format("[{}]", fmt::join(names, ", "));
    }
  };
  return std::visit(Writer{}, value);
}

Colour parse_colour(std::string_view text) {
  const auto fail = [&]() -> Colour {
    throw Error(ExitCode::BadOption,
                fmt::format("'{}' is no colour, allowed \"#rrggbb\" or \"#rrggbbaa\"", text));
  };
  if ((text.size() != 7 && text.size() != 9) || text[0] != '#') return fail();
  std::uint8_t parts[4] = {0, 0, 0, 255};
  for (std::size_t i = 0; 2 * i + 1 < text.size(); ++i) {
    const char* first = text.data() + 1 + 2 * i;
    const auto [end, error] = std::from_chars(first, first + 2, parts[i], 16);
    if (error != std::errc() || end != first + 2) return fail();
  }
  return {parts[0], parts[1], parts[2], parts[3]};
}

std::string to_text(const Colour& colour) {
  const std::string rgb = fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
  return colour.alpha == 255 ? rgb : rgb + fmt::format("{:02x}", colour.alpha);
}

namespace {

/// A bound without exponent, however large: 1000000000000, 0.001.
std::string bound_text(double bound) {
  return bound == std::floor(bound) && std::abs(bound) < 1e18 ? fmt::format("{:.0f}", bound)
                                                              : fmt::format("{}", bound);
}

}  // namespace

namespace {

/// What the N of a numbered choice stands for.
std::string_view note_of_numbers(const std::vector<std::string>& choices) {
  const bool any = std::any_of(choices.begin(), choices.end(),
                               [](const std::string& one) { return one.ends_with(kNumberedChoice); });
  return any ? " (N is a number from 0)" : "";
}

}  // namespace

std::string ParamSpec::allowed() const {
  const auto range = [&]() -> std::string {
    const std::string unit_text =
        unit == Unit::None || unit == Unit::Fraction ? "" : fmt::format(" {}", name_of(unit));
    constexpr auto kFar = static_cast<double>(kUnbounded);
    const bool no_least = minimum <= -kFar, no_most = maximum >= kFar;
    if (no_least && no_most) return "any number" + (unit_text.empty() ? "" : " of" + unit_text);
    if (no_most) return fmt::format("at least {}{}", bound_text(minimum), unit_text);
    if (no_least) return fmt::format("at most {}{}", bound_text(maximum), unit_text);
    return fmt::format("{} to {}{}", bound_text(minimum), bound_text(maximum), unit_text);
  };
  switch (kind) {
    case ParamKind::Flag:
      return "true or false";
    case ParamKind::Integer:
      return "a whole number, " + range();
    case ParamKind::Number:
      return range();
    case ParamKind::Choice:
      return fmt::format("one of {}{}", fmt::join(choices, ", "), note_of_numbers(choices));
    case ParamKind::Text:
      return "text";
    case ParamKind::Colour:
      return "\"#rrggbb\" or \"#rrggbbaa\"";
    case ParamKind::Numbers:
      return count_minimum == count_maximum
                 ? fmt::format("a list of {} numbers, each {}", count_minimum, range())
                 : fmt::format("a list of {} to {} numbers, each {}", count_minimum, count_maximum, range());
    case ParamKind::Mask:
      return fmt::format("a mask of 1 to {} px a side", Mask::kMaxSide);
    case ParamKind::Steps: {
      std::vector<std::string_view> names;
      for (const StageType* type : step_types()) names.emplace_back(type->name);
      return fmt::format("a list of steps, each one of {}", fmt::join(names, ", "));
    }
  }
  throw InternalError("unknown parameter kind");
}

namespace {

/// "0" to "999".
bool is_short_number(std::string_view text) {
  constexpr std::size_t kMostDigits = 3;
  return !text.empty() && text.size() <= kMostDigits && (text == "0" || text[0] != '0') &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Whether `word` is `choice`, or a number in the place of the N with which that ends: cuda:1 is cuda:N.
bool is_choice(std::string_view word, std::string_view choice) {
  if (!choice.ends_with(kNumberedChoice)) return word == choice;
  choice.remove_suffix(1);
  return word.starts_with(choice) && is_short_number(word.substr(choice.size()));
}

}  // namespace

bool ParamSpec::has_choice(std::string_view word) const {
  return std::any_of(choices.begin(), choices.end(),
                     [&](const std::string& choice) { return is_choice(word, choice); }) ||
         std::any_of(synonyms.begin(), synonyms.end(),
                     [&](const auto& synonym) { return synonym.first == word; });
}

const ParamSpec* ParamDeclaration::find(std::string_view name) const {
  for (const ParamSpec& spec : specs)
    if (spec.name == name) return &spec;
  return nullptr;
}

namespace {

/// An integer counts as a number.
double number_of(const ParamValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  const auto* real = std::get_if<double>(&value);
  return real != nullptr ? *real : std::nan("");
}

bool is_whole(const Mask& mask) {
  const auto is_side = [](int side) { return side >= 1 && side <= Mask::kMaxSide; };
  return is_side(mask.width) && is_side(mask.height) &&
         mask.values.size() == static_cast<std::size_t>(mask.width) * static_cast<std::size_t>(mask.height);
}

bool is_allowed(const ParamSpec& spec, const ParamValue& value) {
  const auto in_range = [&](double number) {
    return std::isfinite(number) && number >= spec.minimum && number <= spec.maximum;
  };
  const auto* text = std::get_if<std::string>(&value);
  switch (spec.kind) {
    case ParamKind::Flag:
      return std::holds_alternative<bool>(value);
    case ParamKind::Integer:
      return std::holds_alternative<std::int64_t>(value) && in_range(number_of(value));
    case ParamKind::Number:
      return in_range(number_of(value));
    case ParamKind::Choice:
      return text != nullptr && spec.has_choice(*text);
    case ParamKind::Text:
      return text != nullptr;
    case ParamKind::Colour:
      if (text != nullptr) parse_colour(*text);
      return text != nullptr;
    case ParamKind::Numbers: {
      const auto* numbers = std::get_if<std::vector<double>>(&value);
      return numbers != nullptr && numbers->size() >= spec.count_minimum &&
             numbers->size() <= spec.count_maximum && std::all_of(numbers->begin(), numbers->end(), in_range);
    }
    case ParamKind::Mask: {
      const auto* mask = std::get_if<SharedMask>(&value);
      return mask != nullptr && (*mask == nullptr || is_whole(**mask));
    }
    case ParamKind::Steps: {
      const auto* steps = std::get_if<SharedSteps>(&value);
      const StepTypes& types = spec.step_types();
      return steps != nullptr && *steps != nullptr && !(*steps)->empty() &&
             std::all_of((*steps)->begin(), (*steps)->end(), [&](const StepSpec& step) {
               return std::find(types.begin(), types.end(), step.type) != types.end();
             });
    }
  }
  throw InternalError("unknown parameter kind");
}

}  // namespace

void ParamSet::set(std::string_view name, const ParamValue& value) {
  const ParamSpec* spec = declaration_->find(name);
  if (spec == nullptr) {
    std::vector<std::string> names;
    for (const ParamSpec& other : declaration_->specs) names.push_back(other.name);
    const std::string near = nearest(name, names);
    throw Error(ExitCode::BadOption,
                fmt::format("unknown key '{}'{}", name,
                            near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
  }
  // One number stands for a list of one, as in YAML.
  if (const double one = number_of(value); spec->kind == ParamKind::Numbers && !std::isnan(one))
    return set(name, std::vector<double>{one});
  if (!is_allowed(*spec, value))
    throw Error(ExitCode::BadOption,
                fmt::format("{} is {}, allowed {}", name, to_text(value), spec->allowed()));
  // The value is not copied: libstdc++ 12 crashes when the copy of a text or list in a variant finds no
  // memory.
  if (spec->kind == ParamKind::Number)
    spec->set(values_.get(), number_of(value));
  else
    spec->set(values_.get(), value);
}

ParamValue ParamSet::get(std::string_view name) const {
  const ParamSpec* spec = declaration_->find(name);
  if (spec == nullptr) throw InternalError(fmt::format("no parameter '{}'", name));
  return spec->get(values_.get());
}

namespace {

/// Edits from one word to the other: insert, delete, replace, or swap two neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two_back(b.size() + 1), back(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    two_back.swap(back);
    back.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({back[j] + 1, row[j - 1] + 1, back[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], two_back[j - 2] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  // One edit in three letters makes another word: gpu is not meant to be cpu. Two that changed places do not.
  const bool short_word = word.size() <= 3;
  const std::size_t allowed = std::max<std::size_t>(word.size() / 3, 1);
  std::string best;
  std::size_t best_distance = allowed + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (short_word && !std::is_permutation(word.begin(), word.end(), candidate.begin(), candidate.end()))
      continue;
    if (distance < best_distance) best_distance = distance, best = candidate;
  }
  return best;
}

}  // namespace contorno
