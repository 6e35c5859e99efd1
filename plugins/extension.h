// Extensions: stages, sources and sinks of others, in shared libraries of theirs that somebody names by an
// absolute path (`contorno --load FILE`, contorno.load in Python, the property `load` of the GStreamer
// element). A graph never names one, nor does the environment. They are added to the catalogue that the
// caller uses, so that help, schema, graphs and `apply` know them like those of contorno. A file that was
// opened stays open.
#pragma once

#include <string>
#include <vector>

#include "base/version.h"
#include "pipeline/graph/graph.h"

namespace contorno {

/// What a file adds. The declarations live as long as the file is open, which is as long as the process.
struct Extension {
  std::vector<const StageType*> stages = {};
  std::vector<const SourceType*> sources = {};
  std::vector<const SinkType*> sinks = {};
};

/// What a file shows, under the name `contorno_extension`. The texts are read first, by every version.
struct ExtensionEntry {
  const char* version;   ///< of the headers that it was built with: CONTORNO_VERSION_TEXT
  const char* abi;       ///< CONTORNO_ABI_TEXT; the file is refused where that of contorno differs
  const char* compiler;  ///< CONTORNO_COMPILER_TEXT
  Extension (*types)();  ///< called when the file was opened, once; what it throws is reported
};

/// `catalog` with what `files` add, in their order. A file that is in it already adds nothing more. Throws
/// Error(Usage) for a path that is not absolute, Error(Unavailable) for a file that is absent, no extension,
/// of another version or compiler, that throws, or has a name that exists. An exception of one of its static
/// objects cannot be caught where the C library lets none through: the process then ends with that sentence
/// and the code 69. Safe from any thread.
Catalog with_extensions(Catalog catalog, const std::vector<std::string>& files);

/// The files that have added something to `catalog`, in the order in which they were opened.
std::vector<std::string> extension_files(const Catalog& catalog);

}  // namespace contorno

/// Shows what a file adds; once in each file, outside of namespaces. `types_` is a function that returns an
/// Extension.
#define CONTORNO_EXTENSION(types_)                                                                     \
  extern "C" __attribute__((visibility("default"))) const contorno::ExtensionEntry contorno_extension; \
  const contorno::ExtensionEntry contorno_extension = {CONTORNO_VERSION_TEXT, CONTORNO_ABI_TEXT,       \
                                                       CONTORNO_COMPILER_TEXT, &(types_)}
