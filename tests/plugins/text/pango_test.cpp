#include "plugins/text/pango.h"

#include <doctest/doctest.h>

#include <numeric>
#include <string>

using namespace contorno;

namespace {
long ink(const TextBitmap& bitmap) {
  return std::accumulate(bitmap.coverage.begin(), bitmap.coverage.end(), 0L);
}
}  // namespace

TEST_CASE("text has the height that was asked for and grows with its letters") {
  const auto text = make_pango_text();
  for (const int height : {8, 14, 20, 48}) {
    const TextBitmap one = text->rasterise("rot", height), two = text->rasterise("rot rot", height);
    CHECK(one.height == height);
    CHECK(one.coverage.size() == static_cast<std::size_t>(one.width) * static_cast<std::size_t>(height));
    CHECK(two.width > one.width);
    CHECK(ink(one) > 0);
    CHECK(ink(two) == doctest::Approx(2.0 * static_cast<double>(ink(one))).epsilon(0.1));
  }
}

TEST_CASE("letters are not cut: the first and last rows of a line are nearly empty") {
  const TextBitmap bitmap = make_pango_text()->rasterise("Agjpqy", 40);
  long top = 0, bottom = 0;
  for (int x = 0; x < bitmap.width; ++x) {
    top += bitmap.coverage[static_cast<std::size_t>(x)];
    bottom += bitmap.coverage[static_cast<std::size_t>((bitmap.height - 1) * bitmap.width + x)];
  }
  CHECK(top == 0);
  CHECK(bottom < ink(bitmap) / 40);
}

TEST_CASE("odd text never throws") {
  const auto text = make_pango_text();
  CHECK(text->rasterise("", 20).coverage.empty());
  for (const std::string& odd :
       {std::string("\xff\xfe broken"), std::string("two\nlines"), std::string("\0zero", 5),
        std::string("<b>markup</b> & more"), std::string("\xF3\xBF\xBF\xBF"), std::string(5000, 'w')}) {
    const TextBitmap bitmap = text->rasterise(odd, 20);
    CHECK(bitmap.height == 20);
    CHECK(bitmap.width <= 2048);
  }
}

TEST_CASE("the same text gives the same bytes") {
  CHECK(make_pango_text()->rasterise("lemon", 18).coverage ==
        make_pango_text()->rasterise("lemon", 18).coverage);
}

// fontconfig keeps a global configuration until the process ends; the leak checker knows nothing of it.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libfontconfig\n";
}
