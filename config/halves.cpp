// A stage whose two parts a graph file names, a node each, is one node of the graph.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "config/sections.h"

namespace contorno::config {
namespace {

/// The reference in the `from:` of a second half; all of it where it has another form.
const YamlNode& reference_of(const YamlNode& from) {
  if (from.kind == YamlKind::List && from.items.size() == 1) return from.items[0];
  if (from.kind == YamlKind::Map && from.entries.size() == 1 && from.entries[0].key == kBetweenHalves)
    return from.entries[0].value;
  return from;
}

class Joiner {
 public:
  Joiner(std::vector<DeclaredStage>& stages, Problems& problems)
      : stages_(stages), problems_(problems), taken_(stages.size(), false) {}

  std::vector<DeclaredStage> join() {
    const std::size_t problems = problems_.size();
    for (std::size_t i = 0; i < stages_.size(); ++i)
      if (stages_[i].half == Half::Second) join_second(i);
    const bool all_joined = problems_.size() == problems;
    for (std::size_t i = 0; i < stages_.size(); ++i)
      if (all_joined && stages_[i].half == Half::First && !taken_[i])
        report(stages_[i], "is continued by no", "", "behind");
    std::vector<DeclaredStage> joined;
    std::vector<std::size_t> before;  // of each stage, how many of those that stay are before it
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      before.push_back(joined.size());
      if (!taken_[i]) joined.push_back(std::move(stages_[i]));
    }
    for (DeclaredStage& stage : joined) stage.after = before[stage.after];
    return joined;
  }

 private:
  static const std::string& other_half(const DeclaredStage& stage) {
    return stage.half == Half::First ? stage.type->parts.back().name : stage.type->parts.front().name;
  }
  /// Unless it is a stage of an unknown type that is missing.
  void report(const DeclaredStage& stage, std::string_view to_other, std::string_view rest,
              std::string_view where) {
    const auto is_unknown = [](const DeclaredStage& one) { return one.type == nullptr; };
    if (std::any_of(stages_.begin(), stages_.end(), is_unknown)) return;
    const std::string& other = other_half(stage);
    problems_.add(
        stage.place, fmt::format("node '{}' {} {}{}", stage.name, to_other, other, rest),
        fmt::format("put {} {} it, or write {} in place of the two", other, where, stage.type->name));
  }

  void join_second(std::size_t number) {
    DeclaredStage& second = stages_[number];
    const auto first = second.from != nullptr ? named(second) : nearest_before(number);
    second.from = nullptr;
    if (!first) return;
    taken_[*first] = true;
    second.part_names = {stages_[*first].name, second.name};
    second.from = stages_[*first].from;
    second.input_place = stages_[*first].place;
    second.after = *first;
  }
  std::optional<std::size_t> nearest_before(std::size_t number) {
    for (std::size_t i = number; i-- > 0;)
      if (stages_[i].half == Half::First && stages_[i].type == stages_[number].type) return i;
    report(stages_[number], "continues a", ", and none is before it", "before");
    return std::nullopt;
  }
  /// The first half that a second one names, as NODE or NODE.PORT.
  std::optional<std::size_t> named(const DeclaredStage& second) {
    const YamlNode& reference = reference_of(second.from->value);
    const std::string name = reference.text.substr(0, reference.text.find('.'));
    const std::string port =
        name.size() == reference.text.size() ? "" : reference.text.substr(name.size() + 1);
    std::vector<std::string> known;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      if (stages_[i].type == nullptr && stages_[i].name == name) return std::nullopt;
      if (stages_[i].half != Half::First || stages_[i].type != second.type) continue;
      if (stages_[i].name == name && (port.empty() || port == kBetweenHalves)) return i;
      known.push_back(stages_[i].name);
    }
    problems_.add(reference.place,
                  fmt::format("node '{}' goes on from {}, allowed a {}{}", second.name, describe(reference),
                              other_half(second), did_you_mean(name, known)),
                  fmt::format("write from: {}, or write {} in place of the two",
                              known.empty() ? other_half(second) : known.front(), second.type->name));
    return std::nullopt;
  }

  std::vector<DeclaredStage>& stages_;
  Problems& problems_;
  std::vector<bool> taken_;  // first halves
};

}  // namespace

const ParamDeclaration& first_half_params() {
  struct None {};
  static const ParamDeclaration none = declare(ParamList<None>());
  return none;
}

std::vector<DeclaredStage> join_halves(std::vector<DeclaredStage> stages, Problems& problems) {
  return Joiner(stages, problems).join();
}

}  // namespace contorno::config
