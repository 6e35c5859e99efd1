#include <algorithm>
#include <filesystem>

#include "config/sections.h"

namespace contorno::config {
namespace {

namespace fs = std::filesystem;

/// The parameters of sources whose value may be a path, and that of stages.
constexpr std::string_view kLocation = "location", kLogin = "credentials", kModel = "model";
/// How the parameters of sinks end that are files which are read.
constexpr std::string_view kIssuers = "_ca", kCredentials = "_credentials";

bool is_path(const std::string& text) {
  return !text.empty() && text != "-" && text.find("://") == std::string::npos;
}

bool is_relative_path(const YamlNode& value) {
  return value.kind == YamlKind::Scalar && value.style != ScalarStyle::CommandLine && is_path(value.text) &&
         !value.text.starts_with('/');
}

/// What has no '/' is a name in the folder of credentials, not beside the graph.
bool is_credentials_path(const YamlNode& value) {
  return value.text.find('/') != std::string::npos;
}

template <class Type>
const Type* type_of(const YamlNode& item, const std::vector<const Type*>& types) {
  const YamlNode* name = item.kind == YamlKind::Map ? scalar_of(item, "type") : nullptr;
  if (name == nullptr) return nullptr;
  const auto found =
      std::find_if(types.begin(), types.end(), [&](const Type* type) { return type->name == name->text; });
  return found == types.end() ? nullptr : *found;
}

class Placing {
 public:
  explicit Placing(std::string folder) : folder_(std::move(folder)) {}

  void source(YamlNode& map, const SourceType& type) const {
    YamlEntry* entry = map.find(type.input_param);
    if (entry != nullptr && type.input_param == kLocation) place(entry->value);
    YamlEntry* const login = map.find(kLogin);
    if (login != nullptr && is_credentials_path(login->value)) place(login->value);
  }
  /// The masks and models of a list, or of one alone.
  void stages(YamlNode& list, const std::vector<const StageType*>& types) const {
    masks(list, types);
    for (YamlNode& item : list.items) masks(item, types);
  }
  /// The files that sinks read: of issuers, and of logins.
  void sinks(YamlNode& list) const {
    for (YamlNode& item : list.items)
      for (YamlEntry& entry : item.entries)
        if (entry.key.ends_with(kIssuers) ||
            (entry.key.ends_with(kCredentials) && is_credentials_path(entry.value)))
          place(entry.value);
  }

 private:
  void masks(YamlNode& item, const std::vector<const StageType*>& types) const {
    const StageType* type = type_of(item, types);
    if (type == nullptr) return;
    for (YamlEntry& entry : item.entries) {
      const ParamSpec* spec = type->params.find(entry.key);
      if (spec != nullptr && (spec->kind == ParamKind::Mask || spec->name == kModel)) place(entry.value);
      if (spec != nullptr && spec->kind == ParamKind::Steps) stages(entry.value, spec->step_types());
    }
  }
  void place(YamlNode& value) const {
    if (is_relative_path(value)) value.text = (fs::path(folder_) / value.text).lexically_normal().string();
  }

  std::string folder_;
};

}  // namespace

bool reads_files(const SourceSpec& source) {
  if (source.type->input_param != kLocation) return false;
  const std::string location = std::get<std::string>(source.params.get(kLocation));
  return is_path(location) || location.starts_with("file://");
}

std::string input_root_of(const std::string& path) {
  // A pipe or file that the shell opens for the program has no folder to be relative to.
  const bool opened = path == "-" || path.starts_with("/dev/") || path.starts_with("/proc/");
  return opened ? std::string() : fs::path(path).parent_path().string();
}

void place_inputs(YamlNode& root, const Catalog& catalog, const std::string& folder) {
  if (folder.empty()) return;
  const Placing placing(folder);
  if (YamlEntry* source = root.find("source"))
    if (const SourceType* type = type_of(source->value, catalog.sources))
      placing.source(source->value, *type);
  if (YamlEntry* stages = root.find("stages")) placing.stages(stages->value, catalog.stages);
  if (YamlEntry* sinks = root.find("sinks")) placing.sinks(sinks->value);
}

}  // namespace contorno::config
