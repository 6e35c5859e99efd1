// `contorno latency` with a stage of known delays, for the tests of the tool itself (latency_test.py): a
// constant delay, one of every so many frames slower, one frame that stalls, one that fails, allocations. How
// long it really slept, which is more on a busy machine, goes into the file that CONTORNO_TEST_DELAYS names,
// a line a frame in ms, by a clock of its own.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "base/error.h"
#include "plugins/catalog.h"
#include "tools/commands/command_line.h"

namespace {

using namespace contorno;

struct DelayParams {
  double constant_ms = 0, slow_ms = 0, stall_ms = 0;
  std::int64_t slow_every = 0, stall_at = -1, fail_every = 0, allocations = 0;
};

/// Frames that a stage of this program has worked on, warm-up included.
std::atomic<std::int64_t> worked_on = 0;

constexpr std::size_t kMostDelays = 100'000;
std::vector<double> delays_ms(kMostDelays);

void write_delays() {
  const char* path = std::getenv("CONTORNO_TEST_DELAYS");
  if (path == nullptr) return;
  std::ofstream file(path);
  for (std::int64_t i = 0; i < worked_on; ++i) file << delays_ms.at(static_cast<std::size_t>(i)) << "\n";
}

/// Copies its input and sleeps.
class DelayStage final : public Stage {
 public:
  explicit DelayStage(const ParamSet& params) : params_(params.as<DelayParams>()) {}
  void plan(PlanContext& context) override { context.set_output(0, context.input(0)); }
  void run(const RunContext& context) const override {
    const std::int64_t frame = worked_on++;
    double ms = params_.constant_ms;
    if (params_.slow_every > 0 && frame % params_.slow_every == 0) ms = params_.slow_ms;
    if (frame == params_.stall_at) ms = params_.stall_ms;
    timespec begin{}, end{};
    clock_gettime(CLOCK_MONOTONIC_RAW, &begin);
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms));
    clock_gettime(CLOCK_MONOTONIC_RAW, &end);
    delays_ms.at(static_cast<std::size_t>(frame)) = static_cast<double>(end.tv_sec - begin.tv_sec) * 1e3 +
                                                    static_cast<double>(end.tv_nsec - begin.tv_nsec) * 1e-6;
    for (std::int64_t i = 0; i < params_.allocations; ++i) ::operator delete(::operator new(8));
    const ImageView &in = context.image_in(0), &out = context.image_out(0);
    std::memcpy(out.data, in.data, packed_bytes(in.format));
    if (params_.fail_every > 0 && frame % params_.fail_every == 0)
      throw Error(ExitCode::BadData, "planted failure");
  }

 private:
  DelayParams params_;
};

const StageType& delay_stage() {
  constexpr double kMost = 10'000;
  static const StageType type{
      .name = "delay",
      .summary = "Copies an image after a time.",
      .inputs = {{.name = "image", .type = PortType::Image, .from = From::MapsOrFrame}},
      .outputs = {{.name = "image", .type = PortType::Image}},
      .params = declare(
          ParamList<DelayParams>()
              .number("constant", &DelayParams::constant_ms, 0, kMost, Unit::None, "Of every frame, in ms.")
              .number("slow", &DelayParams::slow_ms, 0, kMost, Unit::None,
                      "Of every slow_every-th frame, in ms.")
              .integer("slow_every", &DelayParams::slow_every, 0, kUnbounded, Unit::None, "0: none is slow.")
              .number("stall", &DelayParams::stall_ms, 0, kMost, Unit::None, "Of the frame stall_at, in ms.")
              .integer("stall_at", &DelayParams::stall_at, -1, kUnbounded, Unit::None, "-1: none stalls.")
              .integer("fail_every", &DelayParams::fail_every, 0, kUnbounded, Unit::None, "0: none fails.")
              .integer("allocations", &DelayParams::allocations, 0, kUnbounded, Unit::None,
                       "Of every frame.")),
      .example = "- type: delay\n",
      .make_cpu = [](const ParamSet& params) { return std::make_unique<DelayStage>(params); }};
  return type;
}

int run(int argc, char** argv) {
  Catalog catalog = full_catalog();
  catalog.stages.push_back(&delay_stage());
  const int code = run_command_line(argc, argv, catalog);
  write_delays();
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    return report(error);
  }
}
