// Parameters, declared once and read by many: the YAML loader, the help, the JSON schema, Python and the
// contract test. The default of a parameter is the initialiser of a struct's member and is written nowhere
// else.
//
//   struct BlurParams { double sigma = 1.5; Edge edge = Edge::Clamp; };
//   ParamList<BlurParams> list;
//   list.number("sigma", &BlurParams::sigma, 0, 50, Unit::Pixels, "Standard deviation of the Gaussian.");
//   list.choice("edge", &BlurParams::edge, {{"clamp", Edge::Clamp}, {"wrap", Edge::Wrap}}, "Edges.");
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "pipeline/value/classes.h"
#include "pipeline/value/mask.h"

namespace contorno {

enum class Unit : std::uint8_t { None, Pixels, Levels, Frames, Milliseconds, Fraction, PerSecond };
enum class ParamKind : std::uint8_t { Flag, Integer, Number, Choice, Text, Colour, Numbers, Mask, Steps };

std::string_view name_of(Unit unit);       ///< "px", "levels", "frames", "ms", "0..1", "1/s", "" for None
std::string_view name_of(ParamKind kind);  ///< as in the help text: "flag", "integer", ...

/// A list of stages (pipeline/graph/steps.h), and how a declaration says which it may have.
struct StageType;
struct StepSpec;
using SharedSteps = std::shared_ptr<const std::vector<StepSpec>>;
using StepTypes = std::vector<const StageType*>;

/// The value of a parameter, of whatever kind. Choices and colours ("#rrggbb" or "#rrggbbaa") are text.
using ParamValue =
    std::variant<bool, std::int64_t, double, std::string, std::vector<double>, SharedMask, SharedSteps>;

/// The value as YAML would have it: 1.5, true, wrap, [1, 2]. Of a mask, the text that it was read from, or
/// its size in words, empty for none; of steps, their names.
std::string to_text(const ParamValue& value);
/// Parses "#rrggbb" or "#rrggbbaa"; throws Error(BadOption) otherwise.
Colour parse_colour(std::string_view text);
std::string to_text(const Colour& colour);

/// One parameter. `get` and `set` work on the untyped parameter struct that ParamSet owns.
struct ParamSpec {
  std::string name{};
  ParamKind kind = ParamKind::Flag;
  Unit unit = Unit::None;
  std::string sentence{};
  double minimum = -std::numeric_limits<double>::infinity();  ///< of a number, or of each one in a list
  double maximum = std::numeric_limits<double>::infinity();
  std::size_t count_minimum = 0, count_maximum = 0;  ///< fewest and most elements of a list
  std::vector<std::string> choices{};
  /// Other words for choices, which are taken too: {"open", "opening"}.
  std::vector<std::pair<std::string, std::string>> synonyms{};
  const StepTypes& (*step_types)() = nullptr;  ///< what steps may be
  bool required = false;                       ///< has no useful default (a path)
  std::function<ParamValue(const void*)> get{};
  std::function<void(void*, const ParamValue&)> set{};

  /// "0 to 15 px", "one of low, high", "text": what is allowed, for messages.
  std::string allowed() const;
  /// Whether `word` is a choice or a synonym of one.
  bool has_choice(std::string_view word) const;
};

/// A maximum of integers that stands for "no maximum": messages leave it out. A double holds it exactly.
inline constexpr std::int64_t kUnbounded = std::int64_t{1} << 52;

/// Builds the list for one struct. Every call names a member and gives its range and sentence.
template <class P>
class ParamList {
 public:
  ParamList& flag(std::string name, bool P::*member, std::string sentence) {
    return add(
        {.name = std::move(name), .kind = ParamKind::Flag, .sentence = std::move(sentence)},
        [member](const P& p) -> ParamValue { return p.*member; },
        [member](P& p, const ParamValue& v) { p.*member = std::get<bool>(v); });
  }
  template <class I>
  ParamList& integer(std::string name, I P::*member, std::int64_t minimum, std::int64_t maximum, Unit unit,
                     std::string sentence) {
    return add(
        {.name = std::move(name),
         .kind = ParamKind::Integer,
         .unit = unit,
         .sentence = std::move(sentence),
         .minimum = static_cast<double>(minimum),
         .maximum = static_cast<double>(maximum)},
        [member](const P& p) -> ParamValue { return static_cast<std::int64_t>(p.*member); },
        [member](P& p, const ParamValue& v) { p.*member = static_cast<I>(std::get<std::int64_t>(v)); });
  }
  template <class F>
  ParamList& number(std::string name, F P::*member, double minimum, double maximum, Unit unit,
                    std::string sentence) {
    return add(
        {.name = std::move(name),
         .kind = ParamKind::Number,
         .unit = unit,
         .sentence = std::move(sentence),
         .minimum = minimum,
         .maximum = maximum},
        [member](const P& p) -> ParamValue { return static_cast<double>(p.*member); },
        [member](P& p, const ParamValue& v) { p.*member = static_cast<F>(std::get<double>(v)); });
  }
  /// Further words with the same value are synonyms of the first.
  template <class E>
  ParamList& choice(std::string name, E P::*member, std::vector<std::pair<std::string, E>> words,
                    std::string sentence) {
    ParamSpec spec{.name = std::move(name), .kind = ParamKind::Choice, .sentence = std::move(sentence)};
    for (const auto& [word, value] : words) {
      const auto first = std::find_if(words.begin(), words.end(),
                                      [&value = value](const auto& other) { return other.second == value; });
      if (first->first == word)
        spec.choices.push_back(word);
      else
        spec.synonyms.emplace_back(word, first->first);
    }
    return add(
        std::move(spec),
        [member, words](const P& p) -> ParamValue {
          for (const auto& [word, value] : words)
            if (value == p.*member) return word;
          return std::string();
        },
        [member, words](P& p, const ParamValue& v) {
          for (const auto& [word, value] : words)
            if (word == std::get<std::string>(v)) p.*member = value;
        });
  }
  ParamList& text(std::string name, std::string P::*member, std::string sentence) {
    return add(
        {.name = std::move(name), .kind = ParamKind::Text, .sentence = std::move(sentence)},
        [member](const P& p) -> ParamValue { return p.*member; },
        [member](P& p, const ParamValue& v) { p.*member = std::get<std::string>(v); });
  }
  /// Text without which nothing can be done, a path for example.
  ParamList& required_text(std::string name, std::string P::*member, std::string sentence) {
    text(std::move(name), member, std::move(sentence));
    specs_.back().required = true;
    return *this;
  }
  ParamList& colour(std::string name, Colour P::*member, std::string sentence) {
    return add(
        {.name = std::move(name), .kind = ParamKind::Colour, .sentence = std::move(sentence)},
        [member](const P& p) -> ParamValue { return to_text(p.*member); },
        [member](P& p, const ParamValue& v) { p.*member = parse_colour(std::get<std::string>(v)); });
  }
  ParamList& numbers(std::string name, std::vector<double> P::*member, std::size_t count_minimum,
                     std::size_t count_maximum, double minimum, double maximum, Unit unit,
                     std::string sentence) {
    return add(
        {.name = std::move(name),
         .kind = ParamKind::Numbers,
         .unit = unit,
         .sentence = std::move(sentence),
         .minimum = minimum,
         .maximum = maximum,
         .count_minimum = count_minimum,
         .count_maximum = count_maximum},
        [member](const P& p) -> ParamValue { return p.*member; },
        [member](P& p, const ParamValue& v) { p.*member = std::get<std::vector<double>>(v); });
  }

  /// A mask; null, and the empty text, stand for none.
  ParamList& mask(std::string name, SharedMask P::*member, std::string sentence) {
    return add(
        {.name = std::move(name), .kind = ParamKind::Mask, .sentence = std::move(sentence)},
        [member](const P& p) -> ParamValue { return p.*member; },
        [member](P& p, const ParamValue& v) { p.*member = std::get<SharedMask>(v); });
  }

  /// Steps, at least one: without them nothing can be done. Each is of one of `types()`.
  ParamList& required_steps(std::string name, SharedSteps P::*member, const StepTypes& (*types)(),
                            std::string sentence) {
    add(
        {.name = std::move(name),
         .kind = ParamKind::Steps,
         .sentence = std::move(sentence),
         .step_types = types,
         .required = true},
        [member](const P& p) -> ParamValue { return p.*member; },
        [member](P& p, const ParamValue& v) { p.*member = std::get<SharedSteps>(v); });
    return *this;
  }

  std::vector<ParamSpec> take() { return std::move(specs_); }

 private:
  template <class Get, class Set>
  ParamList& add(ParamSpec spec, Get get, Set set) {
    spec.get = [get](const void* p) { return get(*static_cast<const P*>(p)); };
    spec.set = [set](void* p, const ParamValue& v) { set(*static_cast<P*>(p), v); };
    specs_.push_back(std::move(spec));
    return *this;
  }

  std::vector<ParamSpec> specs_;
};

/// The trial of values that are in range but may not work: a pattern with an unknown placeholder, an encoder
/// that is not installed. The declaration's `tried` function reports each fault with its parameter, so that
/// the reader of the values can show it at the parameter's place.
class ParamTrial {
 public:
  using Refuse = std::function<void(std::string_view param, ExitCode code, const std::string& reason)>;
  /// `output_root` is the folder in which relative paths of outputs are taken.
  ParamTrial(std::string output_root, Refuse refuse)
      : output_root_(std::move(output_root)), refuse_(std::move(refuse)) {}

  const std::string& output_root() const { return output_root_; }
  /// Reports a fault of `param`.
  void refuse(std::string_view param, ExitCode code, const std::string& reason) const {
    refuse_(param, code, reason);
  }
  /// Calls `attempt()`; an Error that it throws is reported as a fault of `param`. True if there was none.
  template <class Attempt>
  bool run(std::string_view param, const Attempt& attempt) const {
    try {
      attempt();
      return true;
    } catch (const InternalError&) {
      throw;
    } catch (const Error& error) {
      refuse(param, error.code(), error.what());
      return false;
    }
  }

 private:
  std::string output_root_;
  Refuse refuse_;
};

/// What a stage, source or sink declares about its parameters: their list, how a struct with the defaults is
/// made and copied, and what is tried with values before anything is opened or planned.
struct ParamDeclaration {
  std::vector<ParamSpec> specs{};
  std::function<std::shared_ptr<void>()> make_defaults{};
  std::function<std::shared_ptr<void>(const void*)> copy{};
  /// Tries the values and reports faults; creates nothing and opens no device.
  std::function<void(const void*, const ParamTrial&)> tried{};

  const ParamSpec* find(std::string_view name) const;
};

/// The declaration of struct P with these parameters; `tried` may be empty.
template <class P>
ParamDeclaration declare(ParamList<P> list,
                         std::type_identity_t<std::function<void(const P&, const ParamTrial&)>> tried = {}) {
  return {.specs = list.take(),
          .make_defaults = [] { return std::static_pointer_cast<void>(std::make_shared<P>()); },
          .copy =
              [](const void* p) {
                return std::static_pointer_cast<void>(std::make_shared<P>(*static_cast<const P*>(p)));
              },
          .tried =
              [tried = std::move(tried)](const void* p, const ParamTrial& trial) {
                if (tried) tried(*static_cast<const P*>(p), trial);
              }};
}

/// A parameter struct with its declaration, which is borrowed and must outlive it. Copies are deep.
class ParamSet {
 public:
  ParamSet() = default;
  explicit ParamSet(const ParamDeclaration& declaration)
      : declaration_(&declaration), values_(declaration.make_defaults()) {}
  ParamSet(const ParamSet& other)
      : declaration_(other.declaration_),
        values_(other.values_ ? other.declaration_->copy(other.values_.get()) : nullptr) {}
  ParamSet& operator=(const ParamSet& other) {
    ParamSet copy(other);
    return *this = std::move(copy);
  }
  ParamSet(ParamSet&&) = default;
  ParamSet& operator=(ParamSet&&) = default;
  ~ParamSet() = default;

  /// Sets one parameter. An integer is accepted where a number is wanted. Throws Error(BadOption) with
  /// "radius is 99, allowed 0 to 15 px" when the value's type or range is wrong, or the name is unknown.
  void set(std::string_view name, const ParamValue& value);
  ParamValue get(std::string_view name) const;
  /// Tries what the declaration says should be tried; see ParamTrial.
  void try_out(const ParamTrial& trial) const { declaration_->tried(values_.get(), trial); }

  const ParamDeclaration& declaration() const { return *declaration_; }
  /// The struct itself; P must be the type that was declared.
  template <class P>
  const P& as() const {
    return *static_cast<const P*>(values_.get());
  }

 private:
  const ParamDeclaration* declaration_ = nullptr;
  std::shared_ptr<void> values_;
};

/// The candidate nearest to `word` by edit distance, or empty when none is near: "did you mean".
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace contorno
