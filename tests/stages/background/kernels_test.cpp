// The kernel of background, run on the host by the emulator, against the CPU: the same bits, of the state
// too. Needs no device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include <doctest/doctest.h>

#include "stages/background/kernels.cuh"
#include "stages/background/plan.h"
#include "tests/stages/background/reference.h"

using namespace contorno;
using namespace contorno::test;

namespace {

/// Frames wider than a block, whose last one is not full.
constexpr int kWide = 300, kLow = 3;

struct Trial {
  int channels = 1;
  bool has_reference = false, paints = false;
  double rate = 0.5;
};

/// Runs frames on both, and compares outputs and states.
void compare(const Trial& trial) {
  const PictureSamples empty = scene_frame(-200, 3, kWide, kLow);
  Settings settings{{"rate", trial.rate},
                    {"lightness", 0.6},
                    {"output", std::string(trial.paints ? "frame" : "maps")},
                    {"paint", std::string("#0a141e80")}};
  if (trial.has_reference) settings.emplace_back("reference", picture_of(empty, kWide, kLow));
  StageHarness cpu(background_stage(), settings), planner(background_stage(), settings);
  std::vector<std::byte> before, after;
  for (int number = 0; number < 5; ++number) {
    INFO("channels ", trial.channels, ", reference ", trial.has_reference, ", paints ", trial.paints,
         ", rate ", trial.rate, ", frame ", number);
    const TestImage image =
        image_of(scene_frame(number, trial.channels, kWide, kLow), trial.channels, 4, kWide, kLow);
    cpu.run({image.view});
    planner.run({image.view});
    const BackgroundPlan plan = make_background_plan(planner.params().as<BackgroundParams>(), planner);
    const TestImage out(cpu.image().format);
    background_cuda::Job job{.pixel = plan.pixel,
                             .paint = plan.paint,
                             .paints = plan.paints,
                             .least_step = plan.least_step,
                             .shape = plan.shape,
                             .width = kWide,
                             .channels = trial.channels,
                             .tiles_x = 2,
                             .in = static_cast<const std::uint8_t*>(image.view.data),
                             .out = static_cast<unsigned char*>(out.view.data),
                             .in_pitch = image.view.row_pitch,
                             .out_pitch = out.view.row_pitch};
    if (trial.has_reference) job.reference = plan.reference.data();
    CHECK(plan.state.has_value() == (!trial.has_reference || trial.rate > 0));
    if (plan.state) {
      after.assign(cpu.states().after.size(), std::byte{77});
      if (before.empty()) before.assign(after.size(), std::byte{0});
      job.before = reinterpret_cast<const SceneHeader*>(before.data());
      job.after = reinterpret_cast<SceneHeader*>(after.data());
    }
    emulated::run_grid(2 * kLow, background_cuda::kThreads, 0, false,
                       [&] { background_cuda::background_pixels(job); });
    for (int y = 0; y < kLow; ++y)
      CHECK(std::memcmp(out.view.row<std::byte>(y), cpu.image().row<std::byte>(y),
                        out.view.format.row_bytes()) == 0);
    const std::size_t scene =
        static_cast<std::size_t>(kWide * kLow * plan.pixel.colours) * sizeof(SceneColour);
    if (plan.state)
      CHECK(std::memcmp(after.data(), cpu.states().after.data(), sizeof(SceneHeader) + scene) == 0);
    before = after;
    cpu.next_frame(static_cast<std::uint64_t>(number) + 1);
  }
}

}  // namespace

TEST_CASE("the kernel of background gives the maps, frames and states of its CPU") {
  for (const int channels : {1, 3, 4})
    for (const bool has_reference : {false, true})
      for (const bool paints : {false, true})
        for (const double rate : {0.0, 0.5, 40.0}) compare({channels, has_reference, paints, rate});
}
