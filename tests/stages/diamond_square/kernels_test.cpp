// The CUDA kernel of Diamond-Square, run on the host by an emulator of blocks, against the CPU's: no device
// and no CUDA compiler needed.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include <array>
#include <limits>

#include "base/memory.h"
#include "stages/diamond_square/strip.cuh"
#include "stages/diamond_square/tile.cuh"
// After the kernels: the passes are made of its types.
#include "stages/diamond_square/passes.h"
#include "tests/stages/compare_images.h"
#include "tests/stages/harness.h"

using namespace contorno;
using namespace contorno::diamond_square_cuda;
using namespace contorno::test;

namespace {

/// By tiles alone, as small images are made, or by strips wherever they can be: tall ones, or a few short
/// ones.
constexpr StripRule kWays[] = {{.cells = std::numeric_limits<std::int64_t>::max()},
                               {.cells = 0, .shorts = 0},
                               {.cells = 0, .shorts = 12}};

template <class T>
void run_emulated(const DiamondSquarePlan& plan, const StripRule& way, const ImageView& out) {
  PassPlan passes = plan_passes(plan, way);
  const Block workspace(std::max<std::size_t>(passes.workspace_bytes, 1), MemoryKind::Host);
  place_passes(passes, workspace.data());
  for (std::size_t i = 0; i < passes.passes.size(); ++i) {
    const Pass pass =
        with_seed(i + 1 == passes.passes.size() ? with_image(passes.passes[i], out) : passes.passes[i],
                  plan.params.seed);
    const unsigned tiles = pass.tiles * pass.channels;
    if (pass.strips)
      emulated::run_grid((tiles + kStripWarps - 1) / kStripWarps, 32 * kStripWarps, sizeof(StripShared),
                         false, [&] { refine_strips<T>(pass); });
    else
      emulated::run_grid(tiles, kThreads, sizeof(TileShared<T>), false, [&] { refine_tiles<T>(pass); });
  }
}

template <class T>
int different_rows(const DiamondSquarePlan& plan, const StripRule& way, const ImageView& expected,
                   std::size_t row_extra) {
  const ImageFormat& format = plan.format;
  const TestImage made(format, row_extra, row_extra);
  run_emulated<T>(plan, way, made.view);
  CHECK(made.memory.intact());
  return rows_that_differ(expected, made.view);
}

/// Rows that differ between the emulated kernels, each way, and the CPU.
int different_rows(const DiamondSquareParams& params, const ImageFormat& format, std::size_t row_extra = 0) {
  const TestImage expected(format, row_extra, row_extra);
  diamond_square(params, expected.view);
  const DiamondSquarePlan plan = plan_diamond_square(params, format);
  int wrong = 0;
  for (const StripRule& way : kWays)
    wrong +=
        format.type == ElementType::U8    ? different_rows<std::uint8_t>(plan, way, expected.view, row_extra)
        : format.type == ElementType::U16 ? different_rows<std::uint16_t>(plan, way, expected.view, row_extra)
                                          : different_rows<float>(plan, way, expected.view, row_extra);
  return wrong;
}

ImageFormat grey(int width, int height, ElementType type = ElementType::U8) {
  return {.width = width, .height = height, .channels = 1, .type = type};
}

}  // namespace

TEST_CASE("the emulated Diamond-Square kernel gives the bits of the CPU for every size and type") {
  for (const ElementType type : {ElementType::U8, ElementType::U16, ElementType::F32})
    for (const int side : {2, 3, 5, 9, 33, 65, 129, 200}) {
      INFO(name_of(type), ", side ", side);
      CHECK(different_rows({.seed = 3}, grey(side, side, type), side == 33 ? 3 * element_size(type) : 0) ==
            0);
    }
}

TEST_CASE("the emulated Diamond-Square kernel stores rows that begin anywhere") {
  using Domain = DiamondSquareDomain;
  for (const ElementType type : {ElementType::U8, ElementType::U16, ElementType::F32})
    for (const std::int64_t place : {0, 1, 6, 7})
      for (const std::size_t extra : {0, 1, 2}) {
        INFO(name_of(type), ", from ", place, ", ", extra, " cells more a row");
        CHECK(different_rows(
                  {.seed = 9, .exponent = 9, .domain = Domain::Endless, .row = place, .col = 64 + place},
                  grey(304, 80, type), extra * element_size(type)) == 0);
      }
}

TEST_CASE("the emulated Diamond-Square kernel knows windows, domains, channels and corners") {
  using Domain = DiamondSquareDomain;
  for (const Domain domain : {Domain::Finite, Domain::Cyclic, Domain::Endless}) {
    INFO("domain ", static_cast<int>(domain));
    CHECK(different_rows({.seed = 1, .exponent = 8, .domain = domain, .row = 100, .col = 61}, grey(90, 70)) ==
          0);
    CHECK(different_rows({.seed = 1, .exponent = 13, .domain = domain, .row = 4000, .col = 8190},
                         grey(3, 67, ElementType::F32)) == 0);
    CHECK(different_rows({.seed = 1,
                          .exponent = 4,
                          .domain = domain,
                          .range = DiamondSquareRange::Unbiased,
                          .roughness = 0.4},
                         grey(17, 17, ElementType::U16)) == 0);
  }
  for (const std::int64_t place : {-1, -64, -1000000})
    CHECK(
        different_rows({.seed = 1, .exponent = 7, .domain = Domain::Endless, .row = place, .col = 3 * place},
                       grey(70, 66)) == 0);
  CHECK(different_rows({.seed = 4, .corners = {0, 1, 0.5, 0.25}}, grey(65, 65)) == 0);
  CHECK(different_rows({.seed = 4, .corners = {0, 1, 0.5, 0.25}}, grey(65, 65, ElementType::F32)) == 0);
  for (const Layout layout : {Layout::Planar, Layout::Interleaved})
    CHECK(
        different_rows({.seed = 4},
                       {.width = 130, .height = 40, .channels = 3, .type = ElementType::U8, .layout = layout},
                       5) == 0);
}
