#include "pipeline/shared/module.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <string_view>
#include <system_error>

#include "pipeline/shared/resource_limits.h"

namespace contorno {
namespace {
namespace fs = std::filesystem;

constexpr const char* kVariable = "CONTORNO_MODULES";

fs::path own_folder() {
  return fs::path(library_folder()) / CONTORNO_MODULE_FOLDER;
}

/// Absolute: a module is code, and the current folder may be anybody's. Throws ModuleError.
fs::path module_folder() {
  // Null in a program that runs with the rights of another user.
  if (const char* named = ::secure_getenv(kVariable); named != nullptr && *named != '\0') {
    if (*named == '/') return named;
    throw ModuleError(fmt::format("{} is '{}', allowed is the absolute path of a folder", kVariable, named));
  }
  return own_folder();
}

/// What the dynamic linker says where a limit leaves too little for a file.
bool is_want_of_memory(std::string_view reason) {
  for (const std::string_view words : {"failed to map", "cannot map", "allocate", "out of memory"})
    if (reason.find(words) != std::string_view::npos) return true;
  return false;
}

const void* opened(const ModuleSpec& spec) {
  const fs::path folder = module_folder();
  const fs::path path = folder / (std::string(spec.name) + ".so");
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    throw ModuleError(fmt::format(
        "the module {}, which {}, is not installed: there is no file {}; install the package {}, which lies "
        "beside contorno's, or a contorno that was built with it{}",
        spec.name, spec.does, path.lexically_normal().string(), spec.comes_with,
        folder == own_folder() ? std::string()
                               : fmt::format("; or unset {}, which names that folder", kVariable)));
  require_addresses(spec.addresses, spec.purpose);
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const said = ::dlerror();
    const std::string reason = said != nullptr ? said : "no reason given";
    if (is_want_of_memory(reason))
      throw Error(ExitCode::OutOfMemory, fmt::format("out of memory {}: {}", spec.purpose, reason));
    throw ModuleError(
        fmt::format("the module {}, which {}, cannot be opened: {}; it needs the packages {} "
                    "(apt-get install {})",
                    spec.name, spec.does, reason, spec.packages, spec.packages));
  }
  const auto* const entry = static_cast<const ModuleEntry*>(::dlsym(library, "contorno_module"));
  if (entry == nullptr || std::strcmp(entry->version, CONTORNO_VERSION) != 0)
    throw ModuleError(
        fmt::format("{} is no module of contorno {}{}; install the one that came with this program",
                    path.lexically_normal().string(), CONTORNO_VERSION,
                    entry != nullptr ? fmt::format(", but of {}", entry->version) : std::string()));
  return entry->table;
}

}  // namespace

std::string library_folder() {
  Dl_info library{};
  if (::dladdr(reinterpret_cast<const void*>(&open_module), &library) == 0 || library.dli_fname == nullptr ||
      *library.dli_fname != '/')
    throw ModuleError(fmt::format(
        "the folder of libcontorno is not known, and so that of its modules; name it in {}", kVariable));
  return fs::path(library.dli_fname).parent_path().lexically_normal().string();
}

const void* open_module(const ModuleSpec& spec) {
  static std::mutex mutex;
  static std::map<std::string_view, const void*> tables;
  const std::lock_guard lock(mutex);
  const auto known = tables.find(spec.name);
  if (known != tables.end()) return known->second;
  return tables[spec.name] = opened(spec);
}

}  // namespace contorno
