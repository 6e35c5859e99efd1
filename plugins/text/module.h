// What the module text has: text by Pango and Cairo.
#pragma once

#include <memory>

#include "pipeline/value/text.h"

namespace contorno {

struct TextModule {
  /// Text in the nearest font to `family`, which is looked for now. Used by one thread at a time.
  std::unique_ptr<TextRasteriser> (*make)(const char* family);
};

}  // namespace contorno
