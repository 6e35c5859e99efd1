#include "config/values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "config/numbers.h"
#include "pipeline/graph/numbered_choice.h"

namespace contorno::config {
namespace {

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Whether `text` is a word that YAML 1.1 or 1.2 readers take for a truth value, a null, NaN or infinity.
bool is_special_word(std::string_view text) {
  const std::string word = lower(text);
  return is_one_of(word, {"true", "false", "yes", "no", "on", "off", "null", "~", "y", "n", ".nan", ".inf",
                          "-.inf", "+.inf"});
}

/// How to write what was meant where a number is wanted.
std::string fix_of(const YamlNode& node) {
  if (node.style == ScalarStyle::Quoted && parse_number(node.text))
    return fmt::format("without quotes: {}", node.text);
  return number_fix(node.text);
}

class Reader {
 public:
  Reader(const YamlNode& value, const ParamSpec& spec, const std::string& what, Problems& problems,
         const MaskReader& read_mask)
      : value_(value), spec_(spec), what_(what), problems_(problems), read_mask_(read_mask) {}

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
      case ParamKind::Mask:
        return mask();
      case ParamKind::Steps:
        return read_steps(value_, spec_, what_, problems_, read_mask_);
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
  /// The value as the file has it, for messages: in quotes where it was text and something else is wanted.
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
    if (!is_scalar() || is_text()) return refuse(value_, given(value_), is_scalar() ? fix_of(value_) : "");
    const std::optional<std::int64_t> whole = whole_number(value_.text);
    if (whole && in_range(static_cast<double>(*whole))) return *whole;
    return refuse(value_, given(value_), parse_number(value_.text) ? "" : fix_of(value_));
  }
  std::optional<ParamValue> number() const {
    const std::optional<double> real = one_number(value_);
    return real ? std::optional<ParamValue>(*real) : std::nullopt;
  }
  std::optional<double> one_number(const YamlNode& node) const {
    if (node.kind != YamlKind::Scalar || node.style == ScalarStyle::Quoted) {
      refuse(node, given(node), node.kind == YamlKind::Scalar ? fix_of(node) : "");
      return std::nullopt;
    }
    const std::optional<double> real = parse_number(node.text);
    if (real && in_range(*real)) return real;
    refuse(node, given(node), real ? "" : fix_of(node));
    return std::nullopt;
  }
  std::optional<ParamValue> choice() const {
    if (!is_scalar()) return refuse(value_, given(value_));
    if (spec_.has_choice(value_.text)) return value_.text;
    return refuse(value_, fmt::format("'{}'{}", printable(value_.text),
                                      did_you_mean(value_.text, listed_choices(spec_.choices))));
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
  std::optional<ParamValue> mask() const {
    const std::optional<std::string> text = read_text(value_, what_, problems_);
    if (!text) return std::nullopt;
    if (text->empty()) return SharedMask();
    if (!read_mask_) return refuse(value_, given(value_), "this program reads no masks from files");
    try {
      return read_mask_(*text);
    } catch (const InternalError&) {
      throw;
    } catch (const Error& error) {
      problems_.add(value_.place, fmt::format("{}: {}", what_, printable_sentence(error.what())), "",
                    error.code() == ExitCode::BadOption ? ExitCode::BadConfig : error.code());
      return std::nullopt;
    }
  }

  const YamlNode& value_;
  const ParamSpec& spec_;
  const std::string& what_;
  Problems& problems_;
  const MaskReader& read_mask_;
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

std::optional<ParamValue> read_value(const YamlNode& value, const ParamSpec& spec, const std::string& what,
                                     Problems& problems, const MaskReader& read_mask) {
  return Reader(value, spec, what, problems, read_mask).read();
}

std::optional<std::string> read_text(const YamlNode& value, const std::string& what, Problems& problems) {
  if (value.kind != YamlKind::Scalar) {
    problems.add(value.place, fmt::format("{} is {}, allowed text", what, describe(value)));
    return std::nullopt;
  }
  // A whole number has one spelling, so a device number or a class called 7 may go without quotes. Everything
  // else that other YAML readers would not take for text must say that it is.
  if (value.style == ScalarStyle::Plain && (is_special_word(value.text) || is_odd_number(value.text))) {
    problems.add(value.place, fmt::format("{} is {}, which is no text as it stands", what, value.text),
                 fmt::format("quote it: \"{}\"", value.text));
    return std::nullopt;
  }
  return value.text;
}

void read_params(const YamlNode& map, const std::vector<std::string>& reserved, const std::string& owner,
                 const Place& place, ParamSet& params, Problems& problems, const MaskReader& read_mask) {
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
    const std::optional<ParamValue> value = read_value(entry.value, *spec, what, problems, read_mask);
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
