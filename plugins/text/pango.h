// Text through Pango and Cairo: the TextRasteriser that the programs hand to the core. One object may be used
// by one thread at a time; it keeps its own font map, so that several objects do not share state. Pango comes
// with the module text, which is opened when the first text is drawn.
#pragma once

#include <memory>

#include "pipeline/value/text.h"

namespace contorno {

/// `family` is a name as fontconfig knows it, and must outlive the result; the nearest font that is installed
/// is taken. Fonts are looked for when the first text is drawn, which throws ModuleError where the module is
/// missing.
std::unique_ptr<TextRasteriser> make_pango_text(const char* family = "DejaVu Sans, Sans");

}  // namespace contorno
