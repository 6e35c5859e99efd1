#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "config/describe.h"
#include "config/node_type.h"
#include "config/problems.h"
#include "config/sections.h"
#include "config/yaml_text.h"

namespace contorno::config {
namespace {

constexpr std::size_t kTextWidth = 100;

/// Escape codes, or nothing.
class Pen {
 public:
  explicit Pen(TextStyle style) : on_(style == TextStyle::Coloured) {}
  std::string title(std::string_view text) const { return paint("1", text); }
  std::string name(std::string_view text) const { return paint("36", text); }
  std::string faint(std::string_view text) const { return paint("2", text); }

 private:
  std::string paint(std::string_view code, std::string_view text) const {
    return on_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
  }
  bool on_;
};

/// Breaks `text` at blanks so that no line passes kTextWidth; later lines begin with `indent` blanks.
std::string wrap(std::string_view text, std::size_t indent) {
  std::string result;
  std::size_t column = indent;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (!result.empty() && column + 1 + word.size() > kTextWidth) {
      result.append("\n").append(indent, ' ');
      column = indent;
    } else if (!result.empty()) {
      result.push_back(' ');
      ++column;
    }
    result.append(word);
    column += word.size();
    begin = end + 1;
  }
  return result;
}

std::string indented(std::string_view text, std::size_t indent) {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    result.append(indent, ' ').append(text.substr(begin, end - begin)).append("\n");
    begin = end + 1;
  }
  return result;
}

std::string param_rows(const ParamDeclaration& declaration, const Pen& pen) {
  const ParamSet defaults(declaration);
  std::string text;
  for (const ParamSpec& spec : declaration.specs) {
    const std::string value = yaml_value(spec, defaults.get(spec.name));
    const std::string allowed = spec.kind == ParamKind::Number && !std::isinf(spec.minimum)
                                    ? fmt::format("a number, {}", spec.allowed())
                                    : spec.allowed();
    const std::string fallback = spec.required ? "required" : fmt::format("default {}", value);
    std::vector<std::string> synonyms;
    for (const auto& [word, choice] : spec.synonyms) synonyms.push_back(fmt::format("{} = {}", word, choice));
    const std::string also = synonyms.empty() ? "" : fmt::format("; also {}", fmt::join(synonyms, ", "));
    text += fmt::format("  {}  {}\n      {}\n", pen.name(spec.name),
                        pen.faint(fmt::format("{}{}; {}", allowed, also, fallback)), wrap(spec.sentence, 6));
  }
  return text;
}

std::string param_table(const ParamDeclaration& declaration, const std::vector<std::string>& extra,
                        const Pen& pen) {
  if (declaration.specs.empty() && extra.empty()) return {};
  std::string text = fmt::format("\n{}\n{}", pen.title("parameters"), param_rows(declaration, pen));
  for (const std::string& line : extra) text += fmt::format("  {}\n", line);
  return text;
}

enum class Side : std::uint8_t { Inputs, Outputs };

std::string port_table(Side side, const std::vector<PortSpec>& ports, const Pen& pen) {
  if (ports.empty()) return {};
  const bool inputs = side == Side::Inputs;
  std::string text = fmt::format("\n{}\n", pen.title(inputs ? "inputs" : "outputs"));
  for (const PortSpec& port : ports) {
    const std::string fallback = inputs ? fmt::format("; default {}", contorno::name_of(port.from)) : "";
    text += fmt::format("  {}  {}\n      {}\n", pen.name(port.name),
                        pen.faint(fmt::format("{}{}", contorno::name_of(port.type), fallback)),
                        wrap(port.sentence, 6));
  }
  return text;
}

std::string head(std::string_view kind, std::string_view name, std::string_view summary, const Pen& pen) {
  return fmt::format("{} {}\n  {}\n", kind, pen.title(name), wrap(summary, 2));
}

std::string example_text(const std::string& example, const Pen& pen) {
  return example.empty() ? "" : fmt::format("\n{}\n{}", pen.title("example"), indented(example, 2));
}

std::string part_table(const StageType& type, const Pen& pen) {
  if (type.parts.empty()) return {};
  std::string text = fmt::format("\n{}\n", pen.title("parts"));
  for (const PartSpec& part : type.parts)
    text += fmt::format("  {}\n      {}\n", pen.name(part.name), wrap(part.summary, 6));
  return text + fmt::format("  {}\n",
                            wrap(fmt::format("Each is timed for itself. A graph may name both as nodes, {} "
                                             "and behind it {} with the parameters, in place of {}.",
                                             type.parts.front().name, type.parts.back().name, type.name),
                                 2));
}

std::string stage_help(const StageType& type, const Pen& pen) {
  const bool cpu = runs_on(type, Backend::Cpu), cuda = runs_on(type, Backend::Cuda);
  const std::string_view backends = cpu && cuda ? "cpu, cuda"
                                    : cpu       ? "cpu"
                                    : cuda      ? "cuda"
                                                : "none in this build";
  return head("stage", type.name, type.summary, pen) +
         fmt::format("  {}\n", pen.faint(fmt::format("backends: {}", backends))) +
         port_table(Side::Inputs, type.inputs, pen) + port_table(Side::Outputs, type.outputs, pen) +
         param_table(type.params, {}, pen) + part_table(type, pen) + example_text(type.example, pen);
}

std::string source_help(const SourceType& type, const Pen& pen) {
  return head("source", type.name, type.summary, pen) + param_table(type.params, {}, pen) +
         example_text(type.example, pen);
}

std::string sink_help(const SinkType& type, const Pen& pen) {
  return head("sink", type.name, type.summary, pen) +
         fmt::format("  {}\n", pen.faint(fmt::format("takes: {}", contorno::name_of(type.input)))) +
         fmt::format("\n{}\n{}{}", pen.title("parameters"), param_rows(type.params, pen),
                     param_rows(sink_params(), pen)) +
         example_text(type.example, pen);
}

std::string classes_help(const Pen& pen) {
  ParamDeclaration params = class_params();
  std::erase_if(params.specs, [](const ParamSpec& spec) { return spec.name == "colour"; });  // see below
  return head("section", "classes",
              "What is looked for, at which level, and how it is drawn: a list, one entry for each class "
              "map. 'classes: "
              "auto' makes an entry of the defaults for each map that the source has: class0, class1 and so "
              "on.",
              pen) +
         param_table(
             params,
             {fmt::format(
                  "{}  {}\n      Several levels of the map, in place of level; each contour says its own.",
                  pen.name("levels"),
                  pen.faint(fmt::format("list of 1 to {} ascending numbers, or {{from, to, step}}",
                                        kMaxClassLevels))),
              fmt::format("{}  {}\n      Colour of its lines and legend.", pen.name("colour"),
                          pen.faint("\"#rrggbb\" or \"#rrggbbaa\"; default one of a palette, by its place")),
              fmt::format("{}  {}\n      Colours that belong to the class, for classify.",
                          pen.name("references"), pen.faint("list of colours")),
              fmt::format("{}  {}\n      Ranges of hue (degrees, may wrap), saturation and value (0..1), for "
                          "classify.",
                          pen.name("ranges"),
                          pen.faint("list of {hue: [from, to], saturation: [from, to], value: [from, to]}"))},
             pen) +
         example_text("classes:\n  - {name: rot, level: 0.5, colour: \"#e63946\", fill: 0.25}", pen) +
         fmt::format("\n{}\n  --set classes.rot.level=0.4 --set classes.rot.references=#4a2f1c,#5b3b24\n",
                     pen.title("on the command line"));
}

std::string settings_help(const Pen& pen) {
  return head("section", "pipeline", "How frames are run through the stages.", pen) +
         param_table(pipeline_params(), {}, pen) +
         example_text("pipeline: {backend: auto, slots: 4, deadline: 100}", pen);
}

template <class Type>
std::string overview_of(std::string_view title, const std::vector<const Type*>& types, const Pen& pen) {
  std::size_t width = 0;
  for (const Type* type : types) width = std::max(width, type->name.size());
  std::string text = fmt::format("{}\n", pen.title(title));
  for (const Type* type : types)
    text += fmt::format("  {}{:{}}  {}\n", pen.name(type->name), "", width - type->name.size(),
                        wrap(type->summary, width + 4));
  return text;
}

void refuse_left_out(const Catalog& catalog, std::string_view name) {
  for (const LeftOut& one : catalog.left_out)
    if (one.name == name)
      throw Error(ExitCode::Unavailable, fmt::format("'{}' is not in this build: {}", name, one.reason));
}

}  // namespace

std::string help_overview(const Catalog& catalog, TextStyle style) {
  const Pen pen(style);
  return overview_of("sources", catalog.sources, pen) + "\n" + overview_of("stages", catalog.stages, pen) +
         "\n" + overview_of("sinks", catalog.sinks, pen) + "\n" +
         wrap("Say 'contorno stages NAME' for one of them, or for the sections 'pipeline' and 'classes'.",
              0) +
         "\n";
}

const SourceType& source_called(const Catalog& catalog, std::string_view name) {
  if (const SourceType* type = catalog.source(name)) return *type;
  refuse_left_out(catalog, name);
  throw InternalError(fmt::format("no source '{}'", name));
}

const SinkType& sink_called(const Catalog& catalog, std::string_view name) {
  if (const SinkType* type = catalog.sink(name)) return *type;
  refuse_left_out(catalog, name);
  throw InternalError(fmt::format("no sink '{}'", name));
}

std::string help_text(const Catalog& catalog, std::string_view name, TextStyle style) {
  const Pen pen(style);
  std::vector<std::string> pages;
  if (const SourceType* type = catalog.source(name)) pages.push_back(source_help(*type, pen));
  for (const StageType* type : catalog.stages)
    if (const auto words = words_of(*type); std::find(words.begin(), words.end(), name) != words.end())
      pages.push_back(stage_help(*type, pen));
  if (const SinkType* type = catalog.sink(name)) pages.push_back(sink_help(*type, pen));
  if (name == "pipeline") pages.push_back(settings_help(pen));
  if (name == "classes") pages.push_back(classes_help(pen));
  if (name == "source" || name == "sources") pages.push_back(overview_of("sources", catalog.sources, pen));
  if (name == "stage" || name == "stages") pages.push_back(overview_of("stages", catalog.stages, pen));
  if (name == "sink" || name == "sinks") pages.push_back(overview_of("sinks", catalog.sinks, pen));
  if (!pages.empty()) return fmt::format("{}", fmt::join(pages, "\n"));
  refuse_left_out(catalog, name);
  std::vector<std::string> known{"pipeline", "classes", "sources", "stages", "sinks"};
  for (const auto& names : {names_of(catalog.sources), words_of(catalog.stages), names_of(catalog.sinks)})
    known.insert(known.end(), names.begin(), names.end());
  throw Error(ExitCode::Usage, fmt::format("there is no '{}'{}; 'contorno stages' lists all", printable(name),
                                           did_you_mean(std::string(name), known)));
}

}  // namespace contorno::config
