// Modules: the parts of contorno that bring libraries which most graphs do without; plugins/modules.h lists
// them. Each is a file NAME.so in the folder `contorno` beside libcontorno, or in the folder whose
// absolute path the environment variable CONTORNO_MODULES holds. It is opened when it is first needed, and
// stays open. Its stages, sources and sinks are declared in libcontorno, so that help and schemas open no
// module, and a check only those of its graph.
#pragma once

#include <cstddef>
#include <string>

#include "base/error.h"

namespace contorno {

/// A module is absent, cannot be opened, or belongs to another version; what() names the remedy.
class ModuleError : public Error {
 public:
  explicit ModuleError(const std::string& sentence) : Error(ExitCode::Unavailable, sentence) {}
};

struct ModuleSpec {
  const char* name;        ///< of the file, without .so
  const char* does;        ///< completes "the module NAME, which ..."
  const char* comes_with;  ///< the package of contorno's that has it, where contorno comes in several
  const char* packages;    ///< Debian's, with the libraries that it needs
  const char* purpose;     ///< what the module is loaded for, for messages: "to draw text"
  std::size_t addresses;   ///< bytes of address space that loading needs; with less its libraries may abort
};

/// What a module's file shows, under the name `contorno_module`.
struct ModuleEntry {
  const char* version;  ///< of contorno; the module is refused where libcontorno has another one
  const void* table;    ///< of functions; who opens the module knows its type
};

/// The table of a module, which the first call that succeeds opens; a call after a failure tries again.
/// Throws ModuleError, or Error(OutOfMemory) where limits leave too little for it. Safe from any thread.
const void* open_module(const ModuleSpec& spec);

/// The folder of libcontorno, absolute. Throws ModuleError where it is not known.
std::string library_folder();

}  // namespace contorno

/// Shows a module's table; once in each module. The build defines CONTORNO_VERSION.
#define CONTORNO_MODULE(table_)                                                                  \
  extern "C" __attribute__((visibility("default"))) const contorno::ModuleEntry contorno_module; \
  const contorno::ModuleEntry contorno_module = {CONTORNO_VERSION, &(table_)}
