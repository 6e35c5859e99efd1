#include "plugins/text/pango.h"

#include "plugins/modules.h"
#include "plugins/text/module.h"

namespace contorno {
namespace {

const TextModule& text_module() {
  return *static_cast<const TextModule*>(open_module(kTextModule));
}

/// Finding the machine's fonts takes a thread, tens of MiB of addresses and time: only who draws text pays
/// for it.
class TextWhenNeeded final : public TextRasteriser {
 public:
  explicit TextWhenNeeded(const char* family) : family_(family) {}
  TextBitmap rasterise(std::string_view text, int height_px) const override {
    if (!text_) text_ = text_module().make(family_);
    return text_->rasterise(text, height_px);
  }

 private:
  const char* family_;
  mutable std::unique_ptr<TextRasteriser> text_;
};

}  // namespace

std::unique_ptr<TextRasteriser> make_pango_text(const char* family) {
  return std::make_unique<TextWhenNeeded>(family);
}

}  // namespace contorno
