#include "config/values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "cuda/error.h"

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

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// What YAML 1.1 or 1.2 readers take for something else than text.
bool is_special_word(std::string_view text) {
  const std::string word = lower(text);
  return is_one_of(word, {"true", "false", "yes", "no", "on", "off", "null", "~", "y", "n", ".nan", ".inf",
                          "-.inf", "+.inf"});
}

/// How to write what was meant where a number is wanted.
std::string number_fix(const YamlNode& node) {
  const std::string& text = node.text;
  const std::string_view digits = without_sign(text);
  const std::string sign = text.starts_with('-') ? "-" : "";
  const std::string word = lower(text);
  if (node.style == ScalarStyle::Quoted && parse_number(text)) return fmt::format("without quotes: {}", text);
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
  if (unit != std::string::npos && unit > 0) {
    const std::string number = text.substr(0, unit);
    if (parse_number(number) && text.find_first_of("0123456789", unit) == std::string::npos)
      return fmt::format("write the number without its unit: {}", number);
  }
  return {};
}

/// In any spelling: 1000, 1e3, 1000.0.
std::optional<std::int64_t> whole_number(std::string_view text) {
  if (const auto digits = parse_integer(text)) return digits;
  const std::optional<double> real = parse_number(text);
  constexpr auto kExact = static_cast<double>(std::int64_t{1} << 53);
  if (!real || *real != std::floor(*real) || std::abs(*real) > kExact) return std::nullopt;
  return static_cast<std::int64_t>(*real);
}

class Reader {
 public:
  Reader(const YamlNode& value, const ParamSpec& spec, const std::string& what, Problems& problems)
      : value_(value), spec_(spec), what_(what), problems_(problems) {}

  std::optional<ParamValue> read() const {
    if (value_.kind == YamlKind::Null) return missing_value();
    switch (spec_.kind) {
      case ParamKind::Flag:
        return flag();
      case ParamKind::Integer:
        return integer();
      case ParamKind::Number:
        return number();
      case ParamKind::Choice:
        return choice();
      case ParamKind::Text:
        if (const auto text = read_text(value_, what_, problems_)) return *text;
        return std::nullopt;
      case ParamKind::Colour:
        return colour();
      case ParamKind::Numbers:
        return numbers();
    }
    throw InternalError("unknown parameter kind");
  }

 private:
  std::nullopt_t refuse(const YamlNode& node, const std::string& given, std::string fix = {}) const {
    problems_.add(node.place, fmt::format("{} is {}, allowed {}", what_, given, spec_.allowed()),
                  std::move(fix));
    return std::nullopt;
  }
  std::nullopt_t missing_value() const {
    problems_.add(
        value_.place, fmt::format("{} has no value, allowed {}", what_, spec_.allowed()),
        spec_.kind == ParamKind::Colour ? "quote the colour, or # begins a comment: \"#e63946\"" : "");
    return std::nullopt;
  }
  bool is_scalar() const { return value_.kind == YamlKind::Scalar; }
  bool is_text() const { return value_.style == ScalarStyle::Quoted; }
  bool in_range(double number) const { return number >= spec_.minimum && number <= spec_.maximum; }
  /// As given: quotes show that it is text where something else is wanted.
  static std::string given(const YamlNode& node) {
    if (node.kind != YamlKind::Scalar) return describe(node);
    const std::string text = printable(node.text);
    return node.style == ScalarStyle::Quoted ? fmt::format("the text \"{}\"", text)
           : parse_number(node.text)         ? text
                                             : fmt::format("'{}'", text);
  }

  std::optional<ParamValue> flag() const {
    if (is_scalar() && !is_text() && value_.text == "true") return true;
    if (is_scalar() && !is_text() && value_.text == "false") return false;
    const std::string word = lower(value_.text);
    const bool yes = is_one_of(word, {"yes", "on", "y", "1", "true"});
    const bool no = is_one_of(word, {"no", "off", "n", "0", "false"});
    return refuse(value_, given(value_), yes ? "write true" : no ? "write false" : "");
  }
  std::optional<ParamValue> integer() const {
    if (!is_scalar() || is_text())
      return refuse(value_, given(value_), is_scalar() ? number_fix(value_) : "");
    const std::optional<std::int64_t> whole = whole_number(value_.text);
    if (whole && in_range(static_cast<double>(*whole))) return *whole;
    return refuse(value_, given(value_), parse_number(value_.text) ? "" : number_fix(value_));
  }
  std::optional<ParamValue> number() const {
    const std::optional<double> real = one_number(value_);
    return real ? std::optional<ParamValue>(*real) : std::nullopt;
  }
  std::optional<double> one_number(const YamlNode& node) const {
    if (node.kind != YamlKind::Scalar || node.style == ScalarStyle::Quoted) {
      refuse(node, given(node), node.kind == YamlKind::Scalar ? number_fix(node) : "");
      return std::nullopt;
    }
    const std::optional<double> real = parse_number(node.text);
    if (real && in_range(*real)) return real;
    refuse(node, given(node), real ? "" : number_fix(node));
    return std::nullopt;
  }
  std::optional<ParamValue> choice() const {
    if (!is_scalar()) return refuse(value_, given(value_));
    if (spec_.has_choice(value_.text)) return value_.text;
    return refuse(value_,
                  fmt::format("'{}'{}", printable(value_.text), did_you_mean(value_.text, spec_.choices)));
  }
  std::optional<ParamValue> colour() const {
    if (!is_scalar()) return refuse(value_, given(value_));
    try {
      parse_colour(value_.text);
      return value_.text;
    } catch (const Error&) {
      const bool digits = (value_.text.size() == 6 || value_.text.size() == 8) &&
                          value_.text.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
      return refuse(value_, given(value_), digits ? fmt::format("write \"#{}\"", value_.text) : "");
    }
  }
  std::optional<ParamValue> numbers() const {
    const std::optional<std::vector<YamlNode>> items = read_list(value_, what_, spec_.allowed(), problems_);
    if (!items) return std::nullopt;
    if (items->size() < spec_.count_minimum || items->size() > spec_.count_maximum)
      return refuse(
          value_, value_.kind == YamlKind::List ? fmt::format("a list of {}", items->size()) : given(value_));
    std::vector<double> list;
    for (const YamlNode& item : *items)
      if (const std::optional<double> real = one_number(item)) list.push_back(*real);
    if (list.size() != items->size()) return std::nullopt;
    return list;
  }

  const YamlNode& value_;
  const ParamSpec& spec_;
  const std::string& what_;
  Problems& problems_;
};

/// A list from the command line goes without brackets: --size 11,11
std::vector<YamlNode> split_at_commas(const YamlNode& value) {
  std::vector<YamlNode> items;
  for (std::size_t begin = 0; begin <= value.text.size();) {
    const std::size_t end = std::min(value.text.find(',', begin), value.text.size());
    items.push_back(value);
    const std::string_view word = std::string_view(value.text).substr(begin, end - begin);
    const std::size_t first = std::min(word.find_first_not_of(' '), word.size());
    items.back().text = word.substr(first, word.find_last_not_of(' ') + 1 - first);
    begin = end + 1;
  }
  return items;
}

void set_place(YamlNode& node, const Place& place) {
  node.place = place;
  for (YamlNode& item : node.items) set_place(item, place);
  for (YamlEntry& entry : node.entries) entry.place = place, set_place(entry.value, place);
}

}  // namespace

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

std::optional<ParamValue> read_value(const YamlNode& value, const ParamSpec& spec, const std::string& what,
                                     Problems& problems) {
  return Reader(value, spec, what, problems).read();
}

std::optional<std::string> read_text(const YamlNode& value, const std::string& what, Problems& problems) {
  if (value.kind != YamlKind::Scalar) {
    problems.add(value.place, fmt::format("{} is {}, allowed text", what, describe(value)));
    return std::nullopt;
  }
  // A whole number has one spelling, so a device number or a class called 7 may go without quotes. Everything
  // else that other YAML readers would not take for text must say that it is.
  const bool odd = is_special_word(value.text) || (!parse_integer(value.text) && parse_number(value.text)) ||
                   (has_leading_zero(without_sign(value.text)) && all_digits(without_sign(value.text)));
  if (value.style == ScalarStyle::Plain && odd) {
    problems.add(value.place, fmt::format("{} is {}, which is no text as it stands", what, value.text),
                 fmt::format("quote it: \"{}\"", value.text));
    return std::nullopt;
  }
  return value.text;
}

void read_params(const YamlNode& map, const std::vector<std::string>& reserved, const std::string& owner,
                 const Place& place, ParamSet& params, Problems& problems) {
  const std::vector<ParamSpec>& specs = params.declaration().specs;
  std::vector<std::string> known;
  for (const ParamSpec& spec : specs) known.push_back(spec.name);
  known.insert(known.end(), reserved.begin(), reserved.end());
  for (const YamlEntry& entry : map.entries) {
    if (std::find(reserved.begin(), reserved.end(), entry.key) != reserved.end()) continue;
    const ParamSpec* spec = params.declaration().find(entry.key);
    if (spec == nullptr) {
      problems.add(
          entry.place,
          fmt::format("{}: unknown key '{}'{}", owner, printable(entry.key), did_you_mean(entry.key, known)),
          fmt::format("the keys are {}", fmt::join(known, ", ")));
      continue;
    }
    const std::string what = fmt::format("{}: {}", owner, spec->name);
    const std::optional<ParamValue> value = read_value(entry.value, *spec, what, problems);
    if (!value) continue;
    try {
      params.set(spec->name, *value);
    } catch (const Error& error) {
      problems.add(entry.value.place, fmt::format("{}: {}", owner, error.what()));
    }
  }
  for (const ParamSpec& spec : specs)
    if (spec.required && map.find(spec.name) == nullptr)
      problems.add(place, fmt::format("{}: '{}' is missing", owner, spec.name),
                   fmt::format("add '{}: ...' ({})", spec.name, spec.sentence));
}

bool expect_map(const YamlNode& map, const std::string& what, Problems& problems) {
  if (map.kind == YamlKind::Map) return true;
  problems.add(map.place, fmt::format("{} is {}, allowed a map of keys and values", what, describe(map)));
  return false;
}

std::optional<std::vector<YamlNode>> read_list(const YamlNode& value, const std::string& what,
                                               const std::string& allowed, Problems& problems) {
  if (value.kind == YamlKind::List) return value.items;
  if (value.kind == YamlKind::Scalar && value.style == ScalarStyle::CommandLine) {
    if (!value.text.starts_with('[') && !value.text.starts_with('{')) return split_at_commas(value);
    const SourceText source(value.text);
    Problems inner("", source, {});
    YamlNode parsed;
    if (source.check(inner)) parsed = parse_yaml(source, inner);
    set_place(parsed, value.place);
    if (inner.empty() && parsed.kind == YamlKind::List) return parsed.items;
    if (inner.empty() && parsed.kind == YamlKind::Map) return std::vector<YamlNode>{parsed};
  } else if (value.kind != YamlKind::Null) {
    return std::vector<YamlNode>{value};
  }
  problems.add(value.place, fmt::format("{} is {}, allowed {}", what, describe(value), allowed),
               value.text.find('#') != std::string::npos ? "quote colours, or leave the brackets out" : "");
  return std::nullopt;
}

}  // namespace contorno::config
