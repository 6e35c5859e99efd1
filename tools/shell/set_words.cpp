#include "tools/shell/set_words.h"

#include <filesystem>
#include <map>

#include "base/error.h"
#include "config/help_page.h"
#include "config/load.h"
#include "pipeline/graph/numbered_choice.h"

namespace contorno {
namespace {

/// The keys of one name: their parameters, or only what they are called.
struct Keys {
  std::vector<const ParamDeclaration*> declarations;
  std::vector<Candidate> others = {};
};
/// Keys by the words before the last dot: "source", "pipeline", "classes.rot", the name of a node.
using KeysOfNames = std::map<std::string, Keys>;

/// The graph in the file, if it is one. Only regular files are read: a pipe would be waited for.
std::optional<GraphSpec> graph_in(const std::string& path, const Catalog& catalog) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending != ".yaml" && ending != ".yml" && ending != ".json") return std::nullopt;
  try {
    return config::load_graph(path, catalog);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::vector<Candidate> keys_of_classes() {
  std::vector<Candidate> keys;
  for (const config::HelpPage& page : config::section_pages())
    if (page.name == "classes")
      for (const config::HelpRow& row : page.tables.front().rows) keys.push_back({row.name, row.sentence});
  return keys;
}

KeysOfNames keys_in(const GraphSpec& graph) {
  KeysOfNames keys;
  if (graph.source.type != nullptr) keys["source"].declarations = {&graph.source.type->params};
  for (const ClassSpec& one : graph.classes) keys["classes." + one.name].others = keys_of_classes();
  for (const NodeSpec& node : graph.nodes) keys[node.name].declarations = {&node.type->params};
  for (const SinkSpec& sink : graph.sinks)
    keys[sink.name].declarations = {&sink.type->params, &sink_params()};
  return keys;
}

/// The names that nodes have unless a graph gives them others.
KeysOfNames keys_in(const Catalog& catalog) {
  KeysOfNames keys;
  for (const SourceType* type : catalog.sources) keys["source"].declarations.push_back(&type->params);
  for (const StageType* type : catalog.stages) keys[type->name].declarations = {&type->params};
  for (const SinkType* type : catalog.sinks) {
    keys[type->name].declarations.push_back(&type->params);
    keys[type->name].declarations.push_back(&sink_params());
  }
  return keys;
}

void add(LineCompletion& completion, const std::string& typed, const std::string& word,
         const std::string& sentence) {
  for (const Candidate& there : completion.candidates)
    if (there.word == word) return;
  if (word.starts_with(typed)) completion.candidates.push_back({word, sentence});
}

}  // namespace

std::vector<std::string> words_of_param(const ParamSpec& spec) {
  if (spec.kind == ParamKind::Flag) return {"true", "false"};
  return listed_choices(spec.choices);
}

void complete_set(const std::string& word, const std::string& path, const Catalog& catalog,
                  LineCompletion& completion) {
  const std::optional<GraphSpec> graph = graph_in(path, catalog);
  KeysOfNames names = graph ? keys_in(*graph) : keys_in(catalog);
  names["pipeline"].declarations = {&pipeline_params()};
  const std::size_t equals = word.find('=');
  const std::size_t dot = word.rfind('.', equals);
  const std::string name = word.substr(0, dot == std::string::npos ? 0 : dot);
  const auto found = names.find(name);
  completion.goes_on = equals == std::string::npos;
  if (found == names.end()) {
    if (completion.goes_on)
      for (const auto& [one, keys] : names) add(completion, word, one + ".", "");
    return;
  }
  for (const ParamDeclaration* declaration : found->second.declarations)
    for (const ParamSpec& spec : declaration->specs) {
      if (spec.name == "type") continue;  // in a graph that is the word for the kind of node
      const std::string beginning = name + "." + spec.name + "=";
      if (completion.goes_on) add(completion, word, beginning, spec.sentence);
      if (word.starts_with(beginning))
        for (const std::string& value : words_of_param(spec)) add(completion, word, beginning + value, "");
    }
  if (completion.goes_on)
    for (const Candidate& key : found->second.others)
      add(completion, word, name + "." + key.word + "=", key.sentence);
}

}  // namespace contorno
