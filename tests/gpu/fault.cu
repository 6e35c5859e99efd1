// contorno_fault: kernels with planted faults, which tests/gpu/run must see found.
//   contorno_fault                a run whose sixth frame makes a kernel write far out of bounds. The device
//   is then
//                                 unusable for the process; the run must end by itself, with its accounts in
//                                 order, its sinks finished and exit code 70
//   contorno_fault race           two warps write and read shared memory without a barrier between them
//   contorno_fault uninitialised  reads device memory that nobody wrote
//   contorno_fault barrier        a barrier that some threads of the block do not reach
// The last three exit with 0: only compute-sanitizer sees what is wrong.
#include <cstdio>
#include <string_view>

#include "cuda/check.h"
#include "cuda/memory.h"
#include "cuda/stream.h"
#include "pipeline/clock.h"
#include "pipeline/runner.h"
#include "tests/fakes.h"

namespace {

using namespace contorno;

__global__ void copy_or_fault(const unsigned* in, unsigned* out) {
  // Far outside of every allocation; a null pointer would be undefined behaviour that the compiler may
  // optimise away.
  const unsigned long long offset = in[0] == 5 ? 1ULL << 44 : 0;
  out[offset] = in[0];
}

__global__ void race(unsigned* out) {
  __shared__ unsigned shared[64];
  shared[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = shared[63 - threadIdx.x];  // written by the other warp, perhaps later
}

__global__ void read_uninitialised(const unsigned* in, unsigned* out) {
  out[threadIdx.x] = in[threadIdx.x] + 1;
}

__global__ void divergent_barrier(unsigned* out) {
  if (threadIdx.x < 20) __syncthreads();  // the rest of the warp passes by
  out[threadIdx.x] = threadIdx.x;
}

int plant(std::string_view fault) {
  const Stream stream = Stream::create();
  const Block in(64 * sizeof(unsigned), MemoryKind::Device), out(64 * sizeof(unsigned), MemoryKind::Device);
  auto* const from = reinterpret_cast<const unsigned*>(in.data());
  auto* const to = reinterpret_cast<unsigned*>(out.data());
  auto* const queue = static_cast<cudaStream_t>(stream.get());
  if (fault == "race")
    race<<<1, 64, 0, queue>>>(to);
  else if (fault == "uninitialised")
    read_uninitialised<<<1, 64, 0, queue>>>(from, to);
  else if (fault == "barrier")
    divergent_barrier<<<1, 64, 0, queue>>>(to);
  else
    return 2;
  check_launch("planted fault");
  stream.synchronize();
  return 0;
}

class FaultStage final : public Stage {
 public:
  void plan(PlanContext& context) override { context.set_output(0, context.input(0)); }
  void run(const RunContext& context) const override {
    copy_or_fault<<<1, 1, 0, static_cast<cudaStream_t>(context.stream)>>>(
        context.image_in(0).row<unsigned>(0), context.image_out(0).row<unsigned>(0));
    check_launch("copy_or_fault");
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return plant(argv[1]);
  static StageType type = fake::copy_stage();
  type.make_cuda = [](const ParamSet&) -> std::unique_ptr<Stage> { return std::make_unique<FaultStage>(); };
  GraphSpec graph = fake::copy_graph();
  for (NodeSpec& node : graph.nodes) node.type = &type;
  fake::CountingSource source(100000);
  fake::CollectingSink sink;
  Runner runner(graph, source, {{.name = "collect", .sink = &sink, .input = {1, 0}}},
                {.backend = Backend::Cuda});
  const std::int64_t start = now_ns();
  try {
    runner.run();
  } catch (const Error& error) {
    const FrameCounts& frames = runner.report().frames;
    const bool adds_up = frames.offered == frames.delivered + frames.failed + frames.dropped();
    const bool in_time = now_ns() - start < 1'000'000'000;
    const bool good = adds_up && in_time && frames.delivered == 5 && frames.failed > 0 &&
                      sink.finished == 1 && sink.frames.size() == 5 && error.code() == ExitCode::Internal;
    std::printf("cases 1 %s: %s (in %llu out %llu failed %llu, %.1f ms)\n", good ? "passed" : "FAILED",
                error.what(), static_cast<unsigned long long>(frames.offered),
                static_cast<unsigned long long>(frames.delivered),
                static_cast<unsigned long long>(frames.failed), static_cast<double>(now_ns() - start) * 1e-6);
    return good ? static_cast<int>(error.code()) : 1;
  }
  std::puts("the planted fault was not noticed");
  return 1;
}
