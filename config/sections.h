// The phases of loading a graph, one for each section of the file. Each adds the mistakes that it finds to
// one Problems and continues with the rest. Internal to config/.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/load.h"
#include "config/problems.h"
#include "config/values.h"
#include "config/yaml_document.h"

namespace contorno::config {

inline constexpr std::size_t kMaxNodes = 1000;

/// Which half of a stage with two parts (StageType::parts) an entry names as its type: of `contours`, First
/// is marching_squares, and Second is contour_assembly, which goes on from it and has the parameters.
enum class Half : std::uint8_t { None, First, Second };
/// What the second half calls what it takes.
inline constexpr std::string_view kBetweenHalves = "crossings";

/// One entry of `stages:` or `sinks:`, before its inputs are connected. `type` is null where it is unknown:
/// the entry then still has a name, so that one mistake does not cause ten.
template <class Type>
struct Declared {
  std::string name;
  Place place;  ///< where its name stands, or its type where the name follows from it
  const Type* type = nullptr;
  ParamSet params;
  ParamSet settings;  ///< the parameters that all sinks have (sink_params); empty for stages
  const YamlEntry* from = nullptr;
  // What follows is set for stages alone.
  Half half = Half::None;
  std::vector<std::string> part_names;  ///< the names of the two halves that were joined to this stage
  std::size_t after = 0;      ///< how many stages are before it: inputs without `from` come from these
  Place input_place;          ///< what messages about its inputs point at
  NodeSpec::ListedStep step;  ///< where a node is a step of a list: which one

  /// The name for messages about its inputs.
  const std::string& input_name() const { return input_name_of(*this); }
};
using DeclaredStage = Declared<StageType>;
using DeclaredSink = Declared<SinkType>;

/// The text under `key`, or null.
const YamlNode* scalar_of(const YamlNode& map, std::string_view key);
/// What an entry of a list is called: its `name`, or its type where there is none.
std::string entry_name(const YamlNode& item);
/// A word of a-z, 0-9 and _ that begins with a letter.
bool is_node_name(std::string_view name);

/// `classify` becomes {type: classify}; so does "classify", as JSON has it. Other values stay as they are.
void expand_type(YamlNode& item);
/// Expands the short forms that a file may use: `classify` becomes {type: classify}, and nodes whose type
/// occurs twice get names (images, images_2). All later steps read the long form.
void expand_shorthand(YamlNode& root);
/// The nodes that stand for steps of lists, by their names.
using ListedSteps = std::map<std::string, NodeSpec::ListedStep>;
/// Replaces each stage that has a list of steps by a stage a step, each of which takes what the one before it
/// makes: {type: contour_prep, name: prep, steps: [drop_small, measure]} becomes prep_drop_small and, since
/// the name of the list goes on to stand for what it gives, prep; as a step that is called prep_measure. A
/// list that cannot be read is left as it is: reading it as the value of a parameter says why.
ListedSteps expand_steps(YamlNode& root, const Catalog& catalog);
/// Whether `key` of stage `node` is a list of steps that is still to be expanded.
bool names_steps(YamlNode& root, const Catalog& catalog, const std::string& node, const std::string& key);
/// The keys that the file or the command line sets, as --set names them: "small.sigma", "classes.rot.level".
std::set<std::string> written_keys(const YamlNode& root);

/// A value that takes the place of one of the file: of --set, or of a camera's `set`.
struct Override {
  std::string target, key;  ///< "pipeline" and "deadline"
  YamlNode value;
  Place place;  ///< where the key stands, for messages
};
/// TARGET.KEY in two; nothing where a part is missing.
std::optional<std::pair<std::string, std::string>> target_and_key(const std::string& text);
/// Those of the command line, as far as they are settings; others are problems.
std::vector<Override> overrides_of(const LoadOptions& options, Problems& problems);
/// Sets the key of a map.
void put(YamlNode& map, const Override& given);
/// Puts the values into the tree, in place of those of the file, and expands its lists of steps: an override
/// may name a whole list, or a step by the name that reports give it. `input` sets the parameter that the
/// source type calls its input.
ListedSteps apply_overrides(YamlNode& root, const Catalog& catalog, const std::vector<Override>& overrides,
                            const std::optional<std::string>& input, Problems& problems);

/// Puts `folder` before the relative paths of what source, stages and sinks read, unless the command line
/// says them.
void place_inputs(YamlNode& root, const Catalog& catalog, const std::string& folder);

/// ParamDeclaration of the plain fields of a ClassSpec.
const ParamDeclaration& class_params();
/// No class where the list is the word kClassesOfMaps: bind_source takes them from the maps.
std::vector<ClassSpec> read_classes(const YamlNode& list, Problems& problems);

/// An entry of `sources:` with the tree of its graph, which has it as `source`.
struct CameraTree {
  CameraSpec camera;  ///< without its graph
  YamlNode root;
  std::vector<Override> set;  ///< what its graph changes
};
/// Takes a graph with `sources:` apart. Entries that cannot be read are problems, and left out.
/// `command_line` are the overrides, of which those that name a source are taken out and applied.
std::vector<CameraTree> split_cameras(const YamlNode& root, std::vector<Override>& command_line,
                                      Problems& problems);
/// Gives the sinks of a camera's graph its name: in place of {camera}, and where a type has a parameter
/// `camera`. A path without {camera} is a problem.
void name_sinks(YamlNode& root, const std::string& camera, const Catalog& catalog, Problems& problems);
/// The keys of an entry of `sources:` that are no parameters of its type.
std::vector<std::string> camera_keys();

/// Arguments of the readers of source, stages and sinks. Everything is borrowed.
struct Reading {
  const Catalog& catalog;
  const std::optional<std::string>& output_root;  ///< folder for relative paths of outputs; see LoadOptions
  const ListedSteps& steps;
  Problems& problems;
  std::string source_owner = "source";  ///< what messages call the source
  std::vector<std::string> source_keys = {
      "type"};  ///< those of the source that are no parameters of its type
};
SourceSpec read_source(const YamlNode& map, const Reading& reading);
std::vector<DeclaredStage> read_stages(const YamlNode& list, const Reading& reading);
/// Reads the sinks. Refuses one with the name of a stage, too.
std::vector<DeclaredSink> read_sinks(const YamlNode& list, const std::vector<DeclaredStage>& stages,
                                     const Reading& reading);

/// A first half has no parameters.
const ParamDeclaration& first_half_params();
/// Makes one stage of each second half and the first one that it goes on from, with the name of the second
/// one and the inputs of the first one. Halves without the other are problems.
std::vector<DeclaredStage> join_halves(std::vector<DeclaredStage> stages, Problems& problems);

/// Finds every input's producer, refuses cycles, and puts the nodes in an order in which each comes after
/// its inputs; otherwise the order of the file is kept.
void connect(std::vector<DeclaredStage> stages, std::vector<DeclaredSink> sinks, const Catalog& catalog,
             GraphSpec& graph, Problems& problems);

/// The names of things that have one, or of pointers to them.
template <class Type>
std::vector<std::string> names_of(const std::vector<Type>& list) {
  std::vector<std::string> names;
  for (const auto& item : list) {
    if constexpr (std::is_pointer_v<Type>)
      names.push_back(item->name);
    else
      names.push_back(item.name);
  }
  return names;
}

}  // namespace contorno::config
