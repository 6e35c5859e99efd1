// The kernel of colour_map, run on the host by the emulator, against the CPU. Needs no device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include "stages/colour_map/kernels.cuh"

#include <doctest/doctest.h>

#include <cstring>

#include "stages/colour_map/plan.h"
#include "tests/stages/compare_images.h"
#include "tests/stages/harness.h"

using namespace contorno;

TEST_CASE("the kernel of colour_map colours as the CPU does, every number type and layout") {
  const auto colour = [](const test::TestImage& given, const test::Settings& settings, auto sample) {
    test::StageHarness cpu(colour_map_stage(), settings, {});
    cpu.run({given.view});
    const auto params = cpu.params().as<ColourMapParams>();
    const ColourMapPlan plan = make_colour_map_plan(params, cpu);
    Block memory(packed_bytes(plan.out), MemoryKind::Host);
    const ImageView out = packed_view(memory.data(), plan.out);
    const unsigned blocks_x =
        (static_cast<unsigned>(plan.out.width) + colour_map_cuda::kThreads - 1) / colour_map_cuda::kThreads;
    const colour_map_cuda::Job job{
        .plane = plane_of(given.view, params.channel, probability_scale(given.view.format.type)),
        .out = static_cast<unsigned char*>(out.data),
        .out_pitch = out.row_pitch,
        .table = plan.table(params, plan.stops.data()),
        .blocks_x = blocks_x};
    emulated::run_grid(blocks_x * static_cast<unsigned>(plan.out.height), colour_map_cuda::kThreads, 0, false,
                       [&] { colour_map_cuda::colour_pixels<decltype(sample)>(job); });
    CHECK(test::same_image(out, cpu.image()));
  };
  test::Random random(3);
  const auto any = [&](int, int, int) { return random.bits() % 65536; };
  for (const bool blend : {true, false}) {
    const test::Settings settings{{"blend", blend}, {"channel", std::int64_t{1}}};
    colour(test::filled_image<std::uint8_t>({.width = 300, .height = 7, .channels = 3}, any, 5), settings,
           std::uint8_t{});
    colour(test::filled_image<std::uint16_t>(
               {.width = 70, .height = 9, .channels = 2, .type = ElementType::U16, .layout = Layout::Planar},
               any),
           settings, std::uint16_t{});
    colour(test::filled_image<float>({.width = 257, .height = 5, .channels = 2, .type = ElementType::F32},
                                     [&](int x, int y, int) {
                                       return x == 3 && y == 2 ? std::nanf("") : random.unit() * 1.2 - 0.1;
                                     }),
           settings, float{});
  }
}

TEST_CASE("a table of colours that cannot be read is refused with the place in it") {
  for (const auto& [text, sentence] : {std::pair{"", "a point is empty"},
                                       {"0 #000000,", "a point is empty"},
                                       {"x #000000", "does not begin with a number"},
                                       {"0.5", "has no colour behind its value"},
                                       {"0.5#000000", "has no space between its value and its colour"},
                                       {"0 #00000g", "#00000g"},
                                       {"nan #000000", "does not begin with a number"},
                                       {"0.5 #000000, 0.4 #ffffff", "0.4 comes behind 0.5"}}) {
    INFO(text);
    CHECK_THROWS_WITH_AS(parse_colour_stops(text), doctest::Contains(sentence), Error);
  }
  CHECK(parse_colour_stops(" 0 #000000 ,0 #ffffff").size() == 2);
}
