// The interface through which stages get text drawn, so that they need no text library: the program passes an
// implementation to the graph.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace contorno {

/// Coverage of a line of text, 0..255, row-major, `width` x `height` px.
struct TextBitmap {
  int width = 0, height = 0;
  std::vector<std::uint8_t> coverage;
};

/// Only called while a graph is planned, never per frame.
class TextRasteriser {
 public:
  virtual ~TextRasteriser() = default;
  /// One line of UTF-8 `text` at `height_px` px line height. Never throws for odd text: what has no glyph is
  /// drawn as a box.
  virtual TextBitmap rasterise(std::string_view text, int height_px) const = 0;
};

}  // namespace contorno
