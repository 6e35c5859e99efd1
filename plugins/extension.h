// Extensions: stages, sources and sinks of others, in shared libraries of theirs that somebody names by an
// absolute path (`contorno --load FILE`, contorno.load in Python, the property `load` of the GStreamer
// element). A graph never names one, nor does the environment. They are added to the catalogue that the
// caller uses, so that help, schema, graphs and `apply` know them like those of contorno. A file that was
// opened stays open. How one is written: docs/guide/stage.md, section 7.
#pragma once

#include <string>
#include <vector>

#include "base/version.h"
#include "pipeline/graph/graph.h"

namespace contorno {

/// What a file adds. The pointers are kept, nothing is copied: they point to objects that live until the
/// process ends (a static one in a function).
struct Extension {
  std::vector<const StageType*> stages = {};
  std::vector<const SourceType*> sources = {};
  std::vector<const SinkType*> sinks = {};
};

/// What a file exports, under the name `contorno_extension`. Every version of contorno reads the three texts
/// before anything else: they are never moved, removed or retyped. What follows them may change with `abi`.
struct ExtensionEntry {
  const char* version;   ///< of the headers that it was built with: CONTORNO_VERSION_TEXT
  const char* abi;       ///< CONTORNO_ABI_TEXT; the file is refused where that of contorno differs
  const char* compiler;  ///< CONTORNO_COMPILER_TEXT
  Extension (*types)();  ///< called once the file is open, again only if that failed
};

/// `catalog` with what `files` add, in their order. A file that the catalogue has already, by whatever path,
/// adds nothing more. Throws Error(Usage) for a path that is not absolute; Error(Unavailable), with the
/// reason, for a file that is absent, cannot be opened, is no extension or has another CONTORNO_ABI_TEXT, and
/// for types that throw, are none, cannot be made, or have a bad or taken name. An exception of a static
/// object of the file comes through no C library that is known: the process then ends with a sentence that
/// names the file, and the code 69. Safe from any thread.
Catalog with_extensions(Catalog catalog, const std::vector<std::string>& files);

/// The files that have added something to `catalog`, in the order in which they were opened. Safe from any
/// thread.
std::vector<std::string> extension_files(const Catalog& catalog);

}  // namespace contorno

/// Exports what a file adds; once in each file, outside of namespaces. `types_` is a function that returns an
/// Extension.
#define CONTORNO_EXTENSION(types_)                                                                     \
  extern "C" __attribute__((visibility("default"))) const contorno::ExtensionEntry contorno_extension; \
  const contorno::ExtensionEntry contorno_extension = {CONTORNO_VERSION_TEXT, CONTORNO_ABI_TEXT,       \
                                                       CONTORNO_COMPILER_TEXT, &(types_)}
