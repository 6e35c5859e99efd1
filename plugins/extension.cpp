#include "plugins/extension.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <new>
#include <string_view>
#include <type_traits>

#include "base/error.h"
#include "plugins/extension_file.h"
#include "plugins/network.h"

namespace contorno {
namespace {

static_assert(std::string_view(CONTORNO_VERSION_TEXT) == CONTORNO_VERSION,
              "base/version.h and the project in CMakeLists.txt have different versions");

struct OpenedFile {
  void* library;  ///< what dlopen returned: the same for every path of a file
  std::string path;
  Extension types;
  std::unique_ptr<const StageType> network;  ///< `network` with the engine of the file; null: it has none
};

/// The files that are open, in their order; guarded by open_mutex().
std::list<OpenedFile>& opened_files() {
  static std::list<OpenedFile> files;
  return files;
}
std::mutex& open_mutex() {
  static std::mutex mutex;
  return mutex;
}

constexpr std::string_view kNetwork = "network";

/// Null: the file has none.
const contorno_engine* engine_of(void* library, const std::string& path) {
  const auto* const table =
      static_cast<const contorno_engine* const*>(::dlsym(library, "contorno_engine_table"));
  if (table == nullptr) return nullptr;
  if (*table == nullptr || (*table)->version != CONTORNO_ENGINE_VERSION)
    refuse_extension(path, fmt::format("its engine is of version {}, needed is {}",
                                       *table == nullptr ? 0 : (*table)->version, CONTORNO_ENGINE_VERSION));
  return *table;
}

const ExtensionEntry& entry_of(void* library, const std::string& path) {
  const auto* const entry = static_cast<const ExtensionEntry*>(::dlsym(library, "contorno_extension"));
  if (entry == nullptr)
    refuse_extension(path,
                     "it is no extension of contorno: it has no contorno_extension, which the macro "
                     "CONTORNO_EXTENSION of plugins/extension.h makes");
  if (std::strcmp(entry->abi, CONTORNO_ABI_TEXT) != 0)
    refuse_extension(
        path, fmt::format("it was built with contorno {} and {} ({}), needed are contorno {} and {} ({})",
                          entry->version, entry->compiler, entry->abi, CONTORNO_VERSION_TEXT,
                          CONTORNO_COMPILER_TEXT, CONTORNO_ABI_TEXT));
  return *entry;
}

Extension types_of(const ExtensionEntry& entry, const std::string& path) {
  try {
    return entry.types();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (...) {
    refuse_extension(path, "it threw an exception when it was asked what it has: " + what_is_thrown());
  }
}

/// Opens a file, or finds it among those that are open, by its path or as the same file. The lock is held.
const OpenedFile& opened(const std::string& path) {
  std::list<OpenedFile>& files = opened_files();
  // What became of the file on the disk since then does not matter.
  if (const auto same = std::ranges::find(files, path, &OpenedFile::path); same != files.end()) return *same;
  void* const library = open_extension_file(path);
  const auto known = std::ranges::find(files, library, &OpenedFile::library);
  if (known != files.end()) return *known;
  const contorno_engine* const engine = engine_of(library, path);
  const bool engine_alone = engine != nullptr && ::dlsym(library, "contorno_extension") == nullptr;
  Extension types = engine_alone ? Extension{} : types_of(entry_of(library, path), path);
  auto network = engine != nullptr ? std::make_unique<const StageType>(network_stage_with(engine)) : nullptr;
  return files.emplace_back(OpenedFile{library, path, std::move(types), std::move(network)});
}

const std::vector<const StageType*>& list_of(const Extension& types, const StageType*) {
  return types.stages;
}
const std::vector<const SourceType*>& list_of(const Extension& types, const SourceType*) {
  return types.sources;
}
const std::vector<const SinkType*>& list_of(const Extension& types, const SinkType*) {
  return types.sinks;
}

template <class Type>
bool is_of(const OpenedFile& file, const Type* type) {
  return std::ranges::find(list_of(file.types, type), type) != list_of(file.types, type).end();
}

/// "contorno", or the file that has added the type.
template <class Type>
std::string owner_of(const Type* type) {
  for (const OpenedFile& file : opened_files())
    if (is_of(file, type)) return file.path;
  return "contorno";
}

/// What a graph may write for a type.
std::vector<std::string> names_of(const StageType& type) {
  std::vector<std::string> names{type.name};
  for (const PartSpec& part : type.parts) names.push_back(part.name);
  return names;
}
template <class Type>
std::vector<std::string> names_of(const Type& type) {
  return {type.name};
}

/// The first name of `type` that is one of `other`, too; empty: none.
template <class Type>
std::string shared_name(const Type& type, const Type& other) {
  const std::vector<std::string> others = names_of(other);
  for (const std::string& name : names_of(type))
    if (std::ranges::find(others, name) != others.end()) return name;
  return {};
}

bool can_be_made(const StageType& type) {
  return type.make_cpu || type.make_cuda;
}
bool can_be_made(const SourceType& type) {
  return static_cast<bool>(type.make);
}
bool can_be_made(const SinkType& type) {
  return static_cast<bool>(type.make);
}

bool is_name(std::string_view name) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && name.front() >= 'a' && name.front() <= 'z' && std::ranges::all_of(name, fits);
}

/// Adds the types of one kind ("stage") of a file to those of the catalogue.
template <class Type>
void add(const OpenedFile& file, std::string_view kind, std::vector<const Type*>& all,
         const std::vector<LeftOut>& left_out) {
  for (const Type* type : list_of(file.types, static_cast<const Type*>(nullptr))) {
    if (type == nullptr) refuse_extension(file.path, fmt::format("one of its {}s is a null pointer", kind));
    if (std::ranges::find(all, type) != all.end()) continue;
    const std::string& name = type->name;
    const std::vector<std::string> names = names_of(*type);
    for (const std::string& one : names)
      if (!is_name(one))
        refuse_extension(file.path,
                         fmt::format("its {} is called '{}', allowed are a lower-case letter and then "
                                     "lower-case letters, digits and _",
                                     kind, one));
    if (names.size() == 2 || names.size() > 3)
      refuse_extension(file.path, fmt::format("its {} '{}' has {} parts, allowed are none or two", kind, name,
                                              names.size() - 1));
    if (!can_be_made(*type))
      refuse_extension(file.path, fmt::format("its {} '{}' has no function that makes it", kind, name));
    for (const Type* other : all)
      if (const std::string taken = shared_name(*type, *other); !taken.empty())
        refuse_extension(file.path,
                         fmt::format("its {} '{}' has a name that exists already, in {}; rename it", kind,
                                     taken, owner_of(other)));
    if (!std::is_same_v<Type, StageType> &&
        std::ranges::find(left_out, name, &LeftOut::name) != left_out.end())
      refuse_extension(file.path,
                       fmt::format("its {} '{}' has a name of contorno, which was left out of this build; "
                                   "rename it",
                                   kind, name));
    all.push_back(type);
  }
}

/// Puts the stage `network` that has the engine in the place of the one without.
void add_engine(const OpenedFile& file, Catalog& catalog) {
  for (const StageType*& stage : catalog.stages) {
    if (stage->name != kNetwork || stage == file.network.get()) continue;
    for (const OpenedFile& other : opened_files())
      if (stage == other.network.get())
        refuse_extension(file.path,
                         fmt::format("it has an engine, and so has {}; load one of them", other.path));
    stage = file.network.get();
  }
}

void add(const OpenedFile& file, Catalog& catalog) {
  const Extension& types = file.types;
  if (types.stages.empty() && types.sources.empty() && types.sinks.empty() && !file.network)
    refuse_extension(file.path, "it has no stage, source, sink or engine");
  if (file.network) add_engine(file, catalog);
  add(file, "stage", catalog.stages, catalog.left_out);
  add(file, "source", catalog.sources, catalog.left_out);
  add(file, "sink", catalog.sinks, catalog.left_out);
}

}  // namespace

Catalog with_extensions(Catalog catalog, const std::vector<std::string>& files) {
  for (const std::string& path : files) {
    const std::lock_guard lock(open_mutex());
    add(opened(path), catalog);
  }
  return catalog;
}

std::vector<std::string> extension_files(const Catalog& catalog) {
  const auto added = [](const OpenedFile& file, const auto& all) {
    return std::ranges::any_of(all, [&](const auto* type) { return is_of(file, type); });
  };
  const std::lock_guard lock(open_mutex());
  std::vector<std::string> paths;
  for (const OpenedFile& file : opened_files())
    if (added(file, catalog.stages) || added(file, catalog.sources) || added(file, catalog.sinks) ||
        (file.network && std::ranges::find(catalog.stages, file.network.get()) != catalog.stages.end()))
      paths.push_back(file.path);
  return paths;
}

}  // namespace contorno
