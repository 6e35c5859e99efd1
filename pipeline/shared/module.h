// Modules: the parts of contorno that bring libraries which most graphs do without (GStreamer, Pango,
// libtiff). Each is a file NAME.so in the folder `contorno` beside libcontorno, or in the folder that the
// environment variable CONTORNO_MODULES names. It is opened when something of it is needed first, and stays
// open. What it has is declared in the library, so that help, schemas and checks of other parts need no
// module.
#pragma once

#include <cstddef>
#include <string>

#include "cuda/error.h"

namespace contorno {

/// A module is absent, cannot be opened, or belongs to another version; the sentence has the remedy.
class ModuleError : public Error {
 public:
  explicit ModuleError(const std::string& sentence) : Error(ExitCode::Unavailable, sentence) {}
};

struct ModuleSpec {
  const char* name;       ///< of the file, without .so
  const char* does;       ///< completes "the module NAME, which ..."
  const char* packages;   ///< Debian's, with the libraries that it needs
  const char* purpose;    ///< for require_addresses: "to draw text"
  std::size_t addresses;  ///< that its libraries take when they are loaded, and without which they may end
                          ///< the process
};

/// What a module's file shows, under the name `contorno_module`.
struct ModuleEntry {
  const char* version;  ///< of contorno; that of the library, or it is not used
  const void* table;    ///< of the type that the one who opens it knows
};

/// The table of a module, which is opened by the first call that can. Throws ModuleError, or
/// Error(OutOfMemory) where limits leave too little for it. Any thread.
const void* open_module(const ModuleSpec& spec);

}  // namespace contorno

/// Shows the table of the module whose only entry this is.
#define CONTORNO_MODULE(table_)                                                                  \
  extern "C" __attribute__((visibility("default"))) const contorno::ModuleEntry contorno_module; \
  const contorno::ModuleEntry contorno_module = {CONTORNO_VERSION, &(table_)}
