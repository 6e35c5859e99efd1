// Text through Pango and Cairo: the TextRasteriser that the programs hand to the core. One object may be used
// by one thread at a time; it keeps its own font map, so that several objects do not share state. Pango comes
// with the module text, which is opened when the first text is drawn.
#pragma once

#include <memory>

#include "pipeline/value/text.h"

namespace contorno {

/// `family` as fontconfig knows it, which has to live on; the nearest font that is installed is taken. Fonts
/// are looked for when the first text is drawn; that throws ModuleError where there is no module for it.
std::unique_ptr<TextRasteriser> make_pango_text(const char* family = "DejaVu Sans, Sans");

}  // namespace contorno
