#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <unordered_map>

#include "config/sections.h"

namespace contorno::config {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kMaxClasses = 256;
constexpr std::size_t kMaxNameCharacters = 64;

struct Interval {
  std::vector<double> hue{0, 360}, saturation{0, 1}, value{0, 1};
};

const ParamDeclaration& range_params() {
  static const ParamDeclaration declaration = [] {
    ParamList<Interval> list;
    list.numbers("hue", &Interval::hue, 2, 2, 0, 360, Unit::None,
                 "Hue in degrees, from and to; from above to wraps through 360.")
        .numbers("saturation", &Interval::saturation, 2, 2, 0, 1, Unit::Fraction, "Saturation, from and to.")
        .numbers("value", &Interval::value, 2, 2, 0, 1, Unit::Fraction, "Value (brightness), from and to.");
    return declare(std::move(list));
  }();
  return declaration;
}

void read_references(const YamlNode& value, const std::string& owner, ClassSpec& spec, Problems& problems) {
  static const ParamSpec colour{.name = "references", .kind = ParamKind::Colour};
  const std::string what = owner + ": references";
  const auto items = read_list(value, what, "a list of colours", problems);
  for (const YamlNode& item : items.value_or(std::vector<YamlNode>()))
    if (const auto read = read_value(item, colour, what, problems))
      spec.references.push_back(parse_colour(std::get<std::string>(*read)));
}

void read_ranges(const YamlNode& value, const std::string& owner, ClassSpec& spec, Problems& problems) {
  const std::string what = owner + ": ranges";
  const auto items = read_list(value, what, "a list of {hue, saturation, value} maps", problems);
  for (const YamlNode& item : items.value_or(std::vector<YamlNode>())) {
    if (!expect_map(item, what, problems)) continue;
    ParamSet params(range_params());
    read_params(item, {}, what, item.place, params, problems);
    const auto& in = params.as<Interval>();
    spec.ranges.push_back(
        {in.hue[0], in.hue[1], in.saturation[0], in.saturation[1], in.value[0], in.value[1]});
    for (const auto& [name, pair] : {std::pair{"saturation", &in.saturation}, std::pair{"value", &in.value}})
      if ((*pair)[0] > (*pair)[1])
        problems.add(item.place,
                     fmt::format("{}: {} runs from {} down to {}", what, name, (*pair)[0], (*pair)[1]),
                     "only a hue may wrap; swap the two numbers");
  }
}

/// Evenly spaced levels, as {from, to, step}.
struct LevelRange {
  double from = 0, to = 0, step = 0;
};

const ParamDeclaration& level_range_params() {
  static const ParamDeclaration declaration = [] {
    ParamList<LevelRange> list;
    list.number("from", &LevelRange::from, -kInfinity, kInfinity, Unit::None, "The first level.")
        .number("to", &LevelRange::to, -kInfinity, kInfinity, Unit::None, "Where levels end.")
        .number("step", &LevelRange::step, -kInfinity, kInfinity, Unit::None,
                "How much each level is above the one before it.");
    return declare(std::move(list));
  }();
  return declaration;
}

/// The levels from + i * step, up to `to`, which the last one may miss by rounding.
std::vector<double> read_level_range(const YamlNode& value, const std::string& what, Problems& problems) {
  constexpr double kRounding = 1e-9;
  bool complete = true;
  for (const char* key : {"from", "to", "step"})
    if (value.find(key) == nullptr) {
      problems.add(value.place,
                   fmt::format("{} has no '{}', wanted {{from: 100, to: 900, step: 50}}", what, key));
      complete = false;
    }
  ParamSet params(level_range_params());
  const std::size_t faults = problems.size();
  read_params(value, {}, what, value.place, params, problems);
  if (!complete || problems.size() != faults) return {};
  const auto range = params.as<LevelRange>();
  const auto refuse = [&](const char* key, const std::string& fault) -> std::vector<double> {
    problems.add(value.find(key)->value.place, fmt::format("{}: {}", what, fault));
    return {};
  };
  if (!(range.step > 0))
    return refuse("step", fmt::format("step is {}, allowed numbers above 0", range.step));
  if (range.to < range.from)
    return refuse("to",
                  fmt::format("to is {}, allowed numbers from {} on, which is from", range.to, range.from));
  const double steps = std::floor((range.to - range.from) / range.step + kRounding);
  if (!(steps < static_cast<double>(kMaxClassLevels)))
    return refuse("step", fmt::format("there are {:.0f} levels from {} to {} by {}, allowed 1 to {}",
                                      steps + 1, range.from, range.to, range.step, kMaxClassLevels));
  std::vector<double> levels;
  for (int i = 0; i <= static_cast<int>(steps); ++i) levels.push_back(range.from + i * range.step);
  for (std::size_t i = 1; i < levels.size(); ++i)
    if (levels[i] <= levels[i - 1])
      return refuse("step", fmt::format("step {} is lost in the rounding of {}", range.step, levels[i]));
  return levels;
}

std::vector<double> read_level_list(const YamlNode& value, const std::string& what, Problems& problems) {
  const std::string allowed =
      fmt::format("a list of 1 to {} ascending numbers, or {{from, to, step}}", kMaxClassLevels);
  const ParamSpec number{
      .name = "levels", .kind = ParamKind::Number, .minimum = -kInfinity, .maximum = kInfinity};
  const auto items = read_list(value, what, allowed, problems);
  if (!items) return {};
  // A range within a list of one: the command line gives every value as a list.
  if (items->size() == 1 && items->front().kind == YamlKind::Map)
    return read_level_range(items->front(), what, problems);
  if (items->empty() || items->size() > kMaxClassLevels) {
    problems.add(value.place, fmt::format("{} is a list of {}, allowed {}", what, items->size(), allowed));
    return {};
  }
  std::vector<double> levels;
  for (const YamlNode& item : *items) {
    const auto read = read_value(item, number, what, problems);
    if (!read) continue;
    const double level = std::get<double>(*read);
    if (!levels.empty() && level <= levels.back())
      problems.add(item.place, level == levels.back()
                                   ? fmt::format("{}: {} is given twice", what, level)
                                   : fmt::format("{}: {} comes after {}, allowed ascending numbers", what,
                                                 level, levels.back()));
    levels.push_back(level);
  }
  return levels;
}

void read_levels(const YamlNode& item, const std::string& owner, ClassSpec& spec, Problems& problems) {
  const YamlEntry* const entry = item.find("levels");
  if (entry == nullptr) return;
  const std::string what = owner + ": levels";
  if (item.find("level") != nullptr)
    problems.add(entry->place,
                 fmt::format("{}: there are both level and levels, allowed one of them", owner));
  spec.levels = entry->value.kind == YamlKind::Map ? read_level_range(entry->value, what, problems)
                                                   : read_level_list(entry->value, what, problems);
  if (!spec.levels.empty()) spec.level = spec.levels.front();
}

bool is_good_name(const std::string& name) {
  return !name.empty() && character_count(name) <= kMaxNameCharacters &&
         printable(name, kMaxNameCharacters) == name;
}

ClassSpec read_class(const YamlNode& item, std::size_t index, Problems& problems) {
  const YamlEntry* name = item.find("name");
  const bool named = name != nullptr && name->value.kind == YamlKind::Scalar;
  const std::string owner = named ? fmt::format("class '{}'", printable(name->value.text)) : "class";
  ParamSet params(class_params());
  read_params(item, {"levels", "references", "ranges"}, owner, item.place, params, problems);
  ClassSpec spec = params.as<ClassSpec>();
  if (named && !is_good_name(name->value.text))
    problems.add(name->value.place, fmt::format("{}: name is no good, allowed 1 to {} printable characters",
                                                owner, kMaxNameCharacters));
  if (item.find("colour") == nullptr) spec.colour = class_colour(index);
  read_levels(item, owner, spec, problems);
  if (const YamlEntry* entry = item.find("references")) read_references(entry->value, owner, spec, problems);
  if (const YamlEntry* entry = item.find("ranges")) read_ranges(entry->value, owner, spec, problems);
  return spec;
}

}  // namespace

const ParamDeclaration& class_params() {
  static const ParamDeclaration declaration = [] {
    ParamList<ClassSpec> list;
    list.required_text("name", &ClassSpec::name, "Name, as in the legend and in every output.")
        .number("level", &ClassSpec::level, -kInfinity, kInfinity, Unit::None,
                "Iso-level of the class's map.")
        .colour("colour", &ClassSpec::colour,
                "Colour of its lines and legend; without one, a palette gives it.")
        .number("line_width", &ClassSpec::line_width, 0, 100, Unit::Pixels,
                "Line width; 0 is the overlay's own.")
        .number("fill", &ClassSpec::fill, 0, 1, Unit::Fraction, "Opacity of the inside; 0 is not filled.")
        .flag("hidden", &ClassSpec::hidden, "Contours are found but not drawn (a background class).")
        .flag("whole", &ClassSpec::whole,
              "Its area is part of the whole of which totals say the share of every class (skin and defects "
              "of a "
              "fruit).");
    return declare(std::move(list));
  }();
  return declaration;
}

std::vector<ClassSpec> read_classes(const YamlNode& list, Problems& problems) {
  std::vector<ClassSpec> classes;
  if (list.kind == YamlKind::Scalar && list.text == kClassesOfMaps) return classes;
  if (list.kind != YamlKind::List || list.items.empty() || list.items.size() > kMaxClasses) {
    const std::string given =
        list.kind == YamlKind::List ? fmt::format("a list of {}", list.items.size()) : describe(list);
    problems.add(list.place,
                 fmt::format("classes is {}, allowed a list of 1 to {} classes, or {}: a class for each map",
                             given, kMaxClasses, kClassesOfMaps));
    return classes;
  }
  std::unordered_map<std::string, Place> seen;
  for (const YamlNode& item : list.items) {
    if (!expect_map(item, "a class", problems)) continue;
    classes.push_back(read_class(item, classes.size(), problems));
    const YamlEntry* name = item.find("name");
    if (name == nullptr || classes.back().name.empty()) continue;
    const auto [first, is_new] = seen.emplace(classes.back().name, name->value.place);
    if (!is_new)
      problems.add(name->value.place,
                   fmt::format("duplicate class '{}', first given in {}", printable(classes.back().name),
                               problems.name_of(first->second)));
  }
  return classes;
}

}  // namespace contorno::config
