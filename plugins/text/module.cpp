#include "plugins/text/module.h"

#include <pango/pangocairo.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "pipeline/shared/module.h"
#include "pipeline/shared/resource_limits.h"
#include "plugins/shared/glib_writer.h"

namespace contorno {
namespace {

/// Longer lines end in an ellipsis.
constexpr int kMaxWidth = 2048;
constexpr int kMaxHeight = 1024;
/// What Pango and fontconfig take; they end the process where they do not get it.
constexpr std::size_t kAddressesForFonts = std::size_t{64} << 20;
constexpr int kThreadsForFonts = 2;

template <auto kFree>
struct FreeWith {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};
template <class T>
using Object = std::unique_ptr<T, FreeWith<g_object_unref>>;
using Surface = std::unique_ptr<cairo_surface_t, FreeWith<cairo_surface_destroy>>;
using Pen = std::unique_ptr<cairo_t, FreeWith<cairo_destroy>>;
using Font = std::unique_ptr<PangoFontDescription, FreeWith<pango_font_description_free>>;
using Metrics = std::unique_ptr<PangoFontMetrics, FreeWith<pango_font_metrics_unref>>;
using Characters = std::unique_ptr<char, FreeWith<g_free>>;

class PangoText final : public TextRasteriser {
 public:
  explicit PangoText(const char* family)
      : fonts_(pango_cairo_font_map_new()),
        context_(pango_font_map_create_context(fonts_.get())),
        font_(pango_font_description_from_string(family)) {
    pango_font_description_set_weight(font_.get(), PANGO_WEIGHT_MEDIUM);
    // Grey coverage at whole pixels: what a stamp on a video frame needs.
    const std::unique_ptr<cairo_font_options_t, FreeWith<cairo_font_options_destroy>> options(
        cairo_font_options_create());
    cairo_font_options_set_antialias(options.get(), CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_SLIGHT);
    cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_ON);
    pango_cairo_context_set_font_options(context_.get(), options.get());
  }

  TextBitmap rasterise(std::string_view text, int height_px) const override {
    const int height = std::clamp(height_px, 1, kMaxHeight);
    const Object<PangoLayout> layout(pango_layout_new(context_.get()));
    // Pango wants valid UTF-8, and one line of it.
    const Characters valid(g_utf8_make_valid(text.data(), static_cast<gssize>(text.size())));
    pango_layout_set_single_paragraph_mode(layout.get(), TRUE);
    pango_layout_set_text(layout.get(), valid.get(), -1);
    pango_layout_set_width(layout.get(), kMaxWidth * PANGO_SCALE);
    pango_layout_set_ellipsize(layout.get(), PANGO_ELLIPSIZE_END);
    pango_layout_set_font_description(layout.get(), sized(height).get());
    int width = 0;
    pango_layout_get_pixel_size(layout.get(), &width, nullptr);
    return text.empty() ? TextBitmap{} : drawn(layout.get(), std::clamp(width, 1, kMaxWidth), height);
  }

 private:
  /// The font at a size whose ascent and descent together are `height`.
  Font sized(int height) const {
    Font font(pango_font_description_copy(font_.get()));
    pango_font_description_set_absolute_size(font.get(), static_cast<double>(height) * PANGO_SCALE);
    const Metrics metrics(pango_context_get_metrics(context_.get(), font.get(), nullptr));
    const int line =
        pango_font_metrics_get_ascent(metrics.get()) + pango_font_metrics_get_descent(metrics.get());
    const double whole = static_cast<double>(height) * PANGO_SCALE;
    if (line > 0) pango_font_description_set_absolute_size(font.get(), whole * whole / line);
    return font;
  }

  TextBitmap drawn(PangoLayout* layout, int width, int height) const {
    const Surface surface(cairo_image_surface_create(CAIRO_FORMAT_A8, width, height));
    const Pen pen(cairo_create(surface.get()));
    int line = 0;
    pango_layout_get_pixel_size(layout, nullptr, &line);
    // A fallback font may be taller than the line: it is centred and cut.
    cairo_move_to(pen.get(), 0, 0.5 * (height - line));
    pango_cairo_show_layout(pen.get(), layout);
    if (cairo_status(pen.get()) != CAIRO_STATUS_SUCCESS)
      throw Error(ExitCode::OutOfMemory,
                  std::string("text cannot be drawn: ") + cairo_status_to_string(cairo_status(pen.get())));
    cairo_surface_flush(surface.get());
    TextBitmap bitmap{width, height, {}};
    const unsigned char* data = cairo_image_surface_get_data(surface.get());
    const int stride = cairo_image_surface_get_stride(surface.get());
    for (int y = 0; y < height; ++y)
      bitmap.coverage.insert(bitmap.coverage.end(), data + y * stride, data + y * stride + width);
    return bitmap;
  }

  Object<PangoFontMap> fonts_;
  Object<PangoContext> context_;
  Font font_;
};

std::unique_ptr<TextRasteriser> make_text(const char* family) {
  install_glib_writer();
  require_addresses(kAddressesForFonts, "to draw text");
  require_threads(kThreadsForFonts, "to draw text");
  return std::make_unique<PangoText>(family);
}

constexpr TextModule kTable{.make = make_text};

}  // namespace
}  // namespace contorno

CONTORNO_MODULE(contorno::kTable);
