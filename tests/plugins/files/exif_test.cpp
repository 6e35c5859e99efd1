#include "plugins/files/pictures/exif.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/plugins/files/exif_segment.h"

using namespace contorno;
using namespace contorno::test;
using namespace std::string_literals;

TEST_CASE("the orientation of a JPEG is read in both byte orders, behind other segments and tags") {
  for (const bool big_endian : {false, true})
    for (int value = 1; value <= 8; ++value) {
      CAPTURE(big_endian);
      CAPTURE(value);
      const std::string exif = exif_segment(value, big_endian);
      CHECK(exif_orientation("\xFF\xD8"s + exif) == static_cast<ExifOrientation>(value));
      const std::string jfif = "\xFF\xE0\x00\x04xx\xFF\xFF\xE1\x00\x05XMP"s;  // with a fill byte between them
      CHECK(exif_orientation("\xFF\xD8"s + jfif + exif) == static_cast<ExifOrientation>(value));
    }
}

TEST_CASE("an Exif segment that is absent, cut off or nonsense leaves the picture as it is") {
  CHECK(exif_orientation("") == ExifOrientation::Upright);
  CHECK(exif_orientation("\xFF\xD8\xFF\xDA"s) == ExifOrientation::Upright);
  for (const int value : {0, 9, 255, 65535})
    CHECK(exif_orientation("\xFF\xD8"s + exif_segment(value, true)) == ExifOrientation::Upright);
  const std::string whole = "\xFF\xD8"s + exif_segment(6, true);
  for (std::size_t size = 0; size < whole.size() - 6; ++size)
    CHECK(exif_orientation(whole.substr(0, size)) == ExifOrientation::Upright);
  // No value of any single byte may lead outside of the file.
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = whole;
      changed[at] = static_cast<char>(byte);
      const auto found = static_cast<int>(exif_orientation(changed));
      CHECK_MESSAGE((found >= 1 && found <= 8), at, " ", byte);
    }
  // A segment behind the start of the scan is picture data.
  CHECK(exif_orientation("\xFF\xD8\xFF\xDA\x00\x04xx"s + exif_segment(6, true)) == ExifOrientation::Upright);
}
