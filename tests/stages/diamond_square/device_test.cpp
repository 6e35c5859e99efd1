// Diamond-Square on the device against the CPU, on fields that no emulator gets through.
#include <doctest/doctest.h>

#include <cstdlib>

#include "base/memory.h"
#include "cuda/stream.h"
#include "stages/diamond_square/cuda.h"
#include "stages/diamond_square/field.h"
#include "tests/device_skip.h"
#include "tests/stages/compare_images.h"
#include "tests/stages/harness.h"

using namespace contorno;
using namespace contorno::test;

TEST_CASE("fields of millions of cells are the same on the device") {
  if (skipped_without_device("fields of millions of cells")) return;
  for (const ElementType type : {ElementType::U8, ElementType::U16, ElementType::F32})
    for (const DiamondSquareDomain domain : {DiamondSquareDomain::Finite, DiamondSquareDomain::Endless}) {
      INFO(name_of(type), " domain ", static_cast<int>(domain));
      const bool small = std::getenv("CONTORNO_TEST_SMALL") != nullptr;
      const int side = small ? 1025 : type == ElementType::U8 ? 8193 : 2049;
      const ImageFormat format{.width = side, .height = side, .channels = 1, .type = type};
      const DiamondSquareParams params{.seed = 99, .exponent = small ? 10 : 13, .domain = domain};
      const Block expected(packed_bytes(format), MemoryKind::Host),
          made(packed_bytes(format), MemoryKind::Pinned), memory(packed_bytes(format), MemoryKind::Device);
      const ImageView host = packed_view(expected.data(), format), copy = packed_view(made.data(), format);
      DiamondSquare(params, format, 2).generate(99, host);
      const Stream stream = Stream::create();
      fill_async(memory.data(), 0, memory.size(),
                 stream.get());  // also what lies between rows, which is copied
      DiamondSquareOnDevice(params, format).generate(99, packed_view(memory.data(), format), stream.get());
      copy_async(made.data(), memory.data(), memory.size(), stream.get());
      stream.synchronize();
      CHECK(same_image(host, copy));
    }
}
