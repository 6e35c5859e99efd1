// The steps of loading a graph, one for each section of the file. Each adds the mistakes that it finds to one
// Problems and continues with the rest. Internal to config/.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/load.h"
#include "config/problems.h"
#include "config/values.h"
#include "config/yaml_document.h"

namespace contorno::config {

inline constexpr std::size_t kMaxNodes = 1000;

/// Of a stage with two parts (StageType::parts), which of them an entry names as its type: the second one
/// goes on from the first one, and has the parameters.
enum class Half : std::uint8_t { None, First, Second };
/// What the second half calls what it takes.
inline constexpr std::string_view kBetweenHalves = "crossings";

/// One entry of `stages:` or `sinks:`, before its inputs are connected. `type` is null where it is unknown:
/// the entry then still has a name, so that one mistake does not cause ten.
template <class Type>
struct Declared {
  std::string name;
  Place place;  ///< of its name, or of its type where the name follows from it
  const Type* type = nullptr;
  ParamSet params;
  ParamSet settings;  ///< the parameters that all sinks have (sink_params); empty for stages
  const YamlEntry* from = nullptr;
  // Of stages:
  Half half = Half::None;
  std::vector<std::string> part_names;  ///< of two halves that have been joined: what they were called
  std::size_t after = 0;                ///< stages before it, of which it takes one that it does not name
  Place taker_place;                    ///< the place where its inputs are meant
  NodeSpec::ListedStep step;

  /// What messages call it where its inputs are meant.
  const std::string& taker() const {
    return !part_names.empty() ? part_names.front() : step.name.empty() ? name : step.name;
  }
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
/// Writes out each stage that has a list of steps: {type: contour_prep, name: prep, steps: [drop_small,
/// measure]} becomes the stages prep_drop_small and prep (the step prep_measure), each of which takes what
/// the one before it makes. So the name of the list still stands for what it gives, in references and in
/// results. A list that cannot be read stays, and is refused as a value.
void expand_steps(YamlNode& root, const Catalog& catalog);
/// What expand_steps has noted of a stage that stands for a step; the key is none that a file may have.
inline constexpr const char* kListedStep = "step of a list";
NodeSpec::ListedStep listed_step(const YamlNode& item, const std::vector<const StageType*>& stages);
/// The name of such a step, or nothing.
std::string step_name(const YamlNode& item);
/// Whether `key` of the node is such a list.
bool names_steps(YamlNode& root, const Catalog& catalog, const std::string& node, const std::string& key);
/// The keys that the file or the command line sets, as --set names them: "small.sigma", "classes.rot.level".
std::set<std::string> written_keys(const YamlNode& root);

/// Puts --set values into the tree, in place of those of the file, and writes its lists of steps out: a --set
/// may name a whole list, or a step.
void apply_overrides(YamlNode& root, const Catalog& catalog, const LoadOptions& options, Problems& problems);

/// The stage that makes class maps by the references and ranges of the classes, which mean nothing without
/// it.
inline bool looks_at_colours(const StageType& type) {
  return type.name == "classify";
}

/// Puts `folder` before the relative paths of what the source and the stages read, unless the command line
/// says them.
void place_inputs(YamlNode& root, const Catalog& catalog, const std::string& folder);

/// ParamDeclaration of the plain fields of a ClassSpec.
const ParamDeclaration& class_params();
/// None where the list is the word kClassesOfMaps: bind_source takes them from the maps.
std::vector<ClassSpec> read_classes(const YamlNode& list, Problems& problems);
inline constexpr std::string_view kClassesOfMaps = "auto";
/// A class of the defaults for each channel: class0, class1 and so on.
std::vector<ClassSpec> classes_of_maps(const ImageFormat& maps);

/// Arguments of the readers of source, stages and sinks. Everything is borrowed.
struct Reading {
  const Catalog& catalog;
  const std::optional<std::string>& output_root;  ///< as in LoadOptions
  Problems& problems;
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
