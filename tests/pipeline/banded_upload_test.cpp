// How uploads are cut. That what is made of the bands is right is tested with those who take them.
#include <algorithm>

#include "pipeline/graph/banded_upload.h"

#include <doctest/doctest.h>

using namespace contorno;

namespace {

std::size_t bytes_of(const ImageBand& band, const ImageFormat& format) {
  return format.row_bytes() * static_cast<std::size_t>(band.planes) *
         static_cast<std::size_t>(band.end - band.begin);
}

/// Every row once and in order; a band is rows of one plane or whole planes.
void check_cover(const std::vector<ImageBand>& bands, const ImageFormat& format) {
  int plane = 0, row = 0;
  for (const ImageBand& band : bands) {
    CHECK(band.plane == plane);
    CHECK(band.begin == row);
    CHECK(band.end > band.begin);
    CHECK(band.end <= format.height);
    CHECK((band.planes == 1 || (band.begin == 0 && band.end == format.height)));
    row = band.end == format.height ? 0 : band.end;
    if (row == 0) plane += band.planes;
  }
  CHECK(plane == format.planes());
  CHECK(row == 0);
}

}  // namespace

TEST_CASE("an upload is cut into bands that cover the image in order") {
  for (const Layout layout : {Layout::Planar, Layout::Interleaved})
    for (const int channels : {1, 2, 3, 8})
      for (const int height : {1, 2, 33, 500})
        for (const std::size_t last : {std::size_t{1}, std::size_t{1000}, std::size_t{20000}}) {
          const ImageFormat format{.width = 70,
                                   .height = height,
                                   .channels = channels,
                                   .type = ElementType::F32,
                                   .layout = layout};
          CAPTURE(describe(format));
          CAPTURE(last);
          const std::vector<ImageBand> bands = upload_bands(format, last);
          check_cover(bands, format);
          if (bands.size() == 1) continue;
          // The last band is what counts: never more than asked for, but for a single row.
          CHECK(bytes_of(bands.back(), format) <= std::max(2 * last, format.row_bytes()));
        }
}

TEST_CASE("small maps are uploaded at once and large ones in few bands") {
  const auto bands = [](int width, int height, int channels, ElementType type, Layout layout) {
    return upload_bands(
        {.width = width, .height = height, .channels = channels, .type = type, .layout = layout});
  };
  CHECK(bands(511, 95, 8, ElementType::F32, Layout::Planar).size() == 1);
  CHECK(bands(1920, 1080, 2, ElementType::U8, Layout::Interleaved).size() == 1);
  CHECK(bands(1920, 1080, 4, ElementType::F32, Layout::Planar) ==
        std::vector<ImageBand>{{0, 3, 0, 1080}, {3, 1, 0, 944}, {3, 1, 944, 1080}});
  CHECK(bands(1920, 1080, 4, ElementType::F32, Layout::Interleaved).size() == 3);
  CHECK(bands(4096, 4096, 1, ElementType::F32, Layout::Planar).size() == 3);
  CHECK(bands(511, 95, 64, ElementType::F32, Layout::Planar).back() == ImageBand{59, 5, 0, 95});
}
