#include "tools/learn/sheet.h"

#include <algorithm>

#include "pipeline/graph/applied.h"
#include "plugins/text/pango.h"
#include "stages/overlay/stage.h"
#include "stages/preprocess/stage.h"

namespace contorno {

Sheet::Sheet(int width, int height, const Colour& back) : rasteriser_(make_pango_text()) {
  const ImageFormat format{.width = width, .height = height, .channels = 3};
  pixels_.resize(packed_bytes(format));
  view_ = packed_view(pixels_.data(), format);
  fill({0, 0, width, height}, back);
}

SheetBox Sheet::within(const SheetBox& box) const {
  const int left = std::clamp(box.x, 0, view_.format.width), top = std::clamp(box.y, 0, view_.format.height);
  return {left, top, std::clamp(box.x + box.width, left, view_.format.width) - left,
          std::clamp(box.y + box.height, top, view_.format.height) - top};
}

void Sheet::fill(const SheetBox& box, const Colour& colour) {
  const SheetBox inside = within(box);
  for (int y = inside.y; y < inside.y + inside.height; ++y)
    for (int x = inside.x; x < inside.x + inside.width; ++x)
      blend_pixel(view_.row<std::uint8_t>(y) + 3 * static_cast<std::ptrdiff_t>(x), colour, colour.alpha);
}

void Sheet::outline(const SheetBox& box, int thickness, const Colour& colour) {
  const int right = box.x + box.width - thickness, bottom = box.y + box.height - thickness;
  fill({box.x, box.y, box.width, thickness}, colour);
  fill({box.x, bottom, box.width, thickness}, colour);
  fill({box.x, box.y + thickness, thickness, box.height - 2 * thickness}, colour);
  fill({right, box.y + thickness, thickness, box.height - 2 * thickness}, colour);
}

int Sheet::text(std::string_view line, int x, int y, int height, const Colour& colour) {
  const TextBitmap bitmap = rasteriser_->rasterise(line, height);
  const SheetBox inside = within({x, y, bitmap.width, bitmap.height});
  for (int row = inside.y; row < inside.y + inside.height; ++row)
    for (int column = inside.x; column < inside.x + inside.width; ++column)
      blend_pixel(view_.row<std::uint8_t>(row) + 3 * static_cast<std::ptrdiff_t>(column), colour,
                  bitmap.coverage[static_cast<std::size_t>((row - y) * bitmap.width + column - x)]);
  return bitmap.width;
}

void Sheet::picture(const SheetBox& box, const ImageView& image, const SheetBox& part) {
  ParamSet params(preprocess_stage().params);
  params.set("crop", std::vector<double>{static_cast<double>(part.x), static_cast<double>(part.y),
                                         static_cast<double>(part.width), static_cast<double>(part.height)});
  params.set("size", std::vector<double>{static_cast<double>(box.width), static_cast<double>(box.height)});
  params.set("colour", std::string("rgb"));
  AppliedStage stage(preprocess_stage(), params, Backend::Cpu, 0);
  const Format format = image.format;
  stage.plan(std::span(&format, 1));
  copy_image(image, stage.image_input(0));
  stage.run();
  const auto& scaled = std::get<ImageView>(stage.output(0));
  const SheetBox inside = within(box);
  for (int y = inside.y; y < inside.y + inside.height; ++y)
    std::copy_n(scaled.row<const std::uint8_t>(y - box.y) + 3 * static_cast<std::ptrdiff_t>(inside.x - box.x),
                3 * static_cast<std::ptrdiff_t>(inside.width),
                view_.row<std::uint8_t>(y) + 3 * static_cast<std::ptrdiff_t>(inside.x));
}

}  // namespace contorno
