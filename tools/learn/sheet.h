// A Sheet is a picture in memory that is put together from boxes, text and other pictures, as `contorno
// learn` shows to a user. It owns its pixels and is used by one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "pipeline/value/classes.h"
#include "pipeline/value/image.h"
#include "pipeline/value/text.h"

namespace contorno {

struct SheetBox {
  int x = 0, y = 0, width = 0, height = 0;  ///< px
};

class Sheet {
 public:
  Sheet(int width, int height, const Colour& back);

  void fill(const SheetBox& box, const Colour& colour);
  /// Draws a border of `thickness` px inside the box.
  void outline(const SheetBox& box, int thickness, const Colour& colour);
  /// Writes one line of `height` px; what lies beyond the sheet is cut. Returns the width of the line in px.
  int text(std::string_view line, int x, int y, int height, const Colour& colour);
  /// Draws `part` of an image (uint8, interleaved), scaled to the box.
  void picture(const SheetBox& box, const ImageView& image, const SheetBox& part);

  /// The pixels: RGB.
  const ImageView& view() const { return view_; }

 private:
  SheetBox within(const SheetBox& box) const;
  std::vector<std::byte> pixels_;
  ImageView view_;
  std::unique_ptr<TextRasteriser> rasteriser_;
};

}  // namespace contorno
