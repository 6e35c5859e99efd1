// contorno_fault: kernels with planted faults, which tests/gpu/run must see found.
//   contorno_fault                a run whose sixth frame makes a kernel write far out of bounds. The
//                                 device is then unusable for the process; the run must end by itself, with
//                                 its accounts in order, its sinks finished and exit code 70
//   contorno_fault hang           a run whose sixth frame's kernel does not end; it must be given up with its
//                                 accounts in order, its sinks finished and exit code 70
//   contorno_fault race           two warps write and read shared memory without a barrier between them
//   contorno_fault uninitialised  reads device memory that nobody wrote
//   contorno_fault barrier        a barrier that some threads of the block do not reach
// The last three exit with 0: only compute-sanitizer sees what is wrong.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>

#include "base/memory.h"
#include "cuda/stream.h"
#include "pipeline/run/runner.h"
#include "pipeline/shared/clock.h"
#include "tests/gpu/fault_kernels.h"
#include "tests/pipeline/fakes.h"

namespace {

using namespace contorno;

int plant(std::string_view planted) {
  const Stream stream = Stream::create();
  const Block in(64 * sizeof(unsigned), MemoryKind::Device), out(64 * sizeof(unsigned), MemoryKind::Device);
  auto* const from = reinterpret_cast<const unsigned*>(in.data());
  auto* const to = reinterpret_cast<unsigned*>(out.data());
  if (planted == "race")
    fault::race(to, stream.get());
  else if (planted == "uninitialised")
    fault::read_uninitialised(from, to, stream.get());
  else if (planted == "barrier")
    fault::divergent_barrier(to, stream.get());
  else
    return 2;
  stream.synchronize();
  return 0;
}

class FaultStage final : public Stage {
 public:
  explicit FaultStage(fault::Copy copy) : copy_(copy) {}
  void plan(PlanContext& context) override { context.set_output(0, context.input(0)); }
  void run(const RunContext& context) const override {
    copy_(context.image_in(0).row<unsigned>(0), context.image_out(0).row<unsigned>(0), context.stream);
  }

 private:
  fault::Copy copy_;
};
fault::Copy planted_copy = fault::copy_or_write_far;

/// What a run must look like whose sixth frame broke the device.
bool accounts_are_good(const FrameCounts& frames, const fake::CollectingSink& sink) {
  std::printf("in %llu out %llu failed %llu: ", static_cast<unsigned long long>(frames.offered),
              static_cast<unsigned long long>(frames.delivered),
              static_cast<unsigned long long>(frames.failed));
  return frames.offered == frames.delivered + frames.failed + frames.dropped() && frames.delivered == 5 &&
         frames.failed > 0 && sink.finished == 1 && sink.frames.size() == 5;
}

/// Gives the device up after 0.3 s, which must not take longer than a second then.
[[noreturn]] void give_up(Runner& runner, const fake::CollectingSink& sink) {
  std::thread([&] { runner.run(); }).detach();
  const std::int64_t start = now_ns();
  while (!runner.give_up_on_device(std::chrono::milliseconds(300)) && now_ns() - start < 10'000'000'000)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const double seconds = static_cast<double>(now_ns() - start) * 1e-9;
  const bool good = accounts_are_good(runner.report().frames, sink) && seconds < 1.3;
  std::printf("given up after %.2f s, cases 1 %s\n", seconds, good ? "passed" : "FAILED");
  std::fflush(stdout);
  std::_Exit(good ? static_cast<int>(ExitCode::Internal) : 1);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view planted = argc > 1 ? argv[1] : "";
  if (planted == "hang")
    planted_copy = fault::copy_or_hang;
  else if (!planted.empty())
    return plant(planted);
  static StageType type = fake::copy_stage();
  type.make_cuda = [](const ParamSet&) -> std::unique_ptr<Stage> {
    return std::make_unique<FaultStage>(planted_copy);
  };
  GraphSpec graph = fake::copy_graph();
  for (NodeSpec& node : graph.nodes) node.type = &type;
  fake::CountingSource source(100000);
  fake::CollectingSink sink;
  Runner runner(graph, source, {{.name = "collect", .sink = &sink, .input = {1, 0}}},
                {.backend = Backend::Cuda});
  if (planted == "hang") give_up(runner, sink);
  const std::int64_t start = now_ns();
  try {
    runner.run();
  } catch (const Error& error) {
    const bool in_time = now_ns() - start < 1'000'000'000;
    const bool good =
        accounts_are_good(runner.report().frames, sink) && in_time && error.code() == ExitCode::Internal;
    std::printf("%s, %.1f ms, cases 1 %s\n", error.what(), static_cast<double>(now_ns() - start) * 1e-6,
                good ? "passed" : "FAILED");
    return good ? static_cast<int>(error.code()) : 1;
  }
  std::puts("the planted fault was not noticed");
  return 1;
}
