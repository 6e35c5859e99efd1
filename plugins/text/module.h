// The table of functions that the module text gives the library: text by Pango and Cairo.
#pragma once

#include <memory>

#include "pipeline/value/text.h"

namespace contorno {

struct TextModule {
  /// A rasteriser with the installed font that is nearest to `family`; looks for fonts at once. It may be
  /// used by one thread at a time.
  std::unique_ptr<TextRasteriser> (*make)(const char* family);
};

}  // namespace contorno
