// Chains that go from host memory over the device and back, in bands; skipped where no device answers.
#include "stages/mipmap/cuda.h"
#include "tests/device_skip.h"
#include "tests/stages/mipmap/reference.h"

using namespace contorno;
using namespace contorno::test;

namespace {

void check_upload(const ImageFormat& format, const MipmapOptions& options, int bands) {
  const Block pinned(packed_bytes(format), MemoryKind::Pinned);
  const ImageView image = packed_view(pinned.data(), format);
  Random random(3);
  for (std::size_t i = 0; i < pinned.size(); ++i)
    pinned.data()[i] = static_cast<std::byte>(random.below(256));
  const Mipmaps expected = mipmaps(image, options, 2);
  const MipmapChain chain(format, options);
  const Block back(chain.bytes(), MemoryKind::Pinned);
  MipmapUpload upload(chain, bands);
  INFO(describe(format), " in ", bands, " bands");
  for (int time = 0; time < 2; ++time) {
    std::memset(back.data(), 0, back.size());
    upload.build(image, back.data());
    int wrong = 0;
    for (int level = 1; level < chain.levels(); ++level) {
      const ImageView& wanted = expected.levels[static_cast<std::size_t>(level)];
      wrong += rows_that_differ(chain.level_in(back.data(), level), wanted);
    }
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("a chain that is uploaded in bands is the CPU's, bit for bit") {
  if (skipped_without_device("chains that are uploaded in bands")) return;
  for (const int bands : {1, 2, 5, 0}) {
    check_upload({.width = 512, .height = 1024, .channels = 4}, {}, bands);
    check_upload({.width = 1000, .height = 700, .channels = 3}, {.stop = 1}, bands);
    check_upload({.width = 333, .height = 517, .channels = 4, .type = ElementType::U16},
                 {.filter = MipmapFilter::Clamp, .width = kMostMipmapWidth, .stop = 1}, bands);
    check_upload({.width = 333, .height = 517, .channels = 4}, {.filter = MipmapFilter::Clamp, .stop = 1},
                 bands);
    check_upload({.width = 256, .height = 640, .channels = 5, .layout = Layout::Planar}, {.stop = 1}, bands);
    check_upload({.width = 517, .height = 333, .channels = 4},
                 {.stop = 1, .linear_light = true, .premultiplied = true}, bands);
  }
  check_upload({.width = 128, .height = 32, .channels = 4}, {.stop = 1}, 0);
  check_upload({.width = 4096, .height = 32, .channels = 4}, {.stop = 1}, 0);
  check_upload({.width = 8916, .height = 512, .channels = 4}, {.stop = 1}, 4);
  check_upload({.width = 257, .height = 255, .channels = 4, .type = ElementType::U16},
               {.filter = MipmapFilter::Kaiser, .stop = 1, .high_precision = true}, 3);
}
