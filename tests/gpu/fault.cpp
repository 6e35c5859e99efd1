// contorno_fault: kernels with planted faults, which tests/gpu/run must see found.
//   contorno_fault                a run whose sixth frame makes a kernel write far out of bounds. The
//                                 device is then unusable for the process; the run must end by itself, with
//                                 its accounts in order, its sinks finished and exit code 70
//   contorno_fault hang           a run whose sixth frame's kernel does not end; it must be given up with its
//                                 accounts in order, its sinks finished and exit code 70
//   contorno_fault one-hang       two cameras on two devices, the second of which hangs at its camera's sixth
//                                 frame: the other camera goes on, and a third that comes then gets the first
//                                 device; exit code 70, or 77 with fewer devices
//   contorno_fault one            the same with a kernel that writes where it must not. CUDA may then refuse
//                                 the other devices to this process, too: all cameras end
//   contorno_fault race           two warps write and read shared memory without a barrier between them
//   contorno_fault uninitialised  reads device memory that nobody wrote
//   contorno_fault barrier        a barrier that some threads of the block do not reach
// The last three exit with 0: only compute-sanitizer sees what is wrong.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>

#include "base/memory.h"
#include "cuda/device.h"
#include "cuda/stream.h"
#include "pipeline/run/fleet.h"
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
bool accounts_add_up(const FrameCounts& frames, const fake::CollectingSink& sink) {
  std::printf("in %llu out %llu failed %llu: ", static_cast<unsigned long long>(frames.offered),
              static_cast<unsigned long long>(frames.delivered),
              static_cast<unsigned long long>(frames.failed));
  return frames.offered == frames.delivered + frames.failed + frames.dropped() && frames.failed > 0 &&
         sink.finished == 1 && sink.frames.size() == frames.delivered;
}

/// The sixth frame is the one that breaks the device.
bool first_five_came(const FrameCounts& frames, const fake::CollectingSink& sink) {
  return accounts_add_up(frames, sink) && frames.delivered == 5;
}

/// Gives the device up after 0.3 s, which must not take longer than a second then.
[[noreturn]] void give_up(Runner& runner, const fake::CollectingSink& sink) {
  std::thread([&] { runner.run(); }).detach();
  const std::int64_t start = now_ns();
  while (!runner.give_up_on_device(std::chrono::milliseconds(300)) && now_ns() - start < 10'000'000'000)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const double seconds = static_cast<double>(now_ns() - start) * 1e-9;
  const bool good = first_five_came(runner.report().frames, sink) && seconds < 1.3;
  std::printf("given up after %.2f s, cases 1 %s\n", seconds, good ? "passed" : "FAILED");
  std::fflush(stdout);
  std::_Exit(good ? static_cast<int>(ExitCode::Internal) : 1);
}

void copy_well(const unsigned* in, unsigned* out, void* stream) {
  copy_async(out, in, sizeof(unsigned), stream);
}

template <fault::Copy kCopy>
GraphSpec graph_that(const BackendRequest& backend) {
  static StageType type = fake::copy_stage();
  type.make_cuda = [](const ParamSet&) -> std::unique_ptr<Stage> {
    return std::make_unique<FaultStage>(kCopy);
  };
  GraphSpec graph = fake::copy_graph();
  for (NodeSpec& node : graph.nodes) node.type = &type;
  graph.settings.backend = backend;
  return graph;
}

/// Three cameras: a healthy one on the first device, the one that breaks or hangs on the second, and one that
/// may have any and comes when that is over.
class TwoDevices {
 public:
  TwoDevices(const GraphSpec& broken, bool may_all_be_lost) : may_all_be_lost_(may_all_be_lost) {
    FleetSpec spec;
    const auto add = [&](const char* name, const GraphSpec& graph, bool required) {
      spec.cameras.push_back({.name = name, .graph = graph, .settings = {.required = required}});
    };
    add("healthy", graph_that<copy_well>({Backend::Cuda, 0}), true);
    add("broken", broken, true);
    add("late", graph_that<copy_well>({Backend::Cuda, BackendRequest::kAll}), false);
    CameraHooks hooks;
    hooks.reopens = false;
    hooks.open = [this](std::size_t camera, const GraphSpec&) -> std::unique_ptr<Source> {
      while (camera == kLate && !is_over_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return std::make_unique<fake::CountingSource>(camera == kLate ? kLateFrames : 1'000'000'000);
    };
    hooks.set_up = [this](std::size_t camera, const GraphSpec& graph, Source&, const std::string&) {
      return CameraSetUp{.sinks = {{.name = "collect", .sink = &sinks_[camera], .input = {1, 0}}},
                         .options = {.backend = choose_backend(graph.settings.backend, graph)}};
    };
    fleet_.emplace(std::move(spec), std::move(hooks));
  }

  bool go_on_without_the_second() {
    fleet_->start();
    bool good = watch([&] { return fleet_->camera(kBroken).is_done(); });
    const double seconds = static_cast<double>(now_ns() - broke_ns_) * 1e-9;
    is_over_ = true;
    good = good && seconds < 1.3 && fleet_->camera(kBroken).state() == CameraState::Failed &&
           first_five_came(fleet_->camera(kBroken).runner()->report().frames, sinks_[kBroken]);
    const bool late = watch([&] { return fleet_->camera(kLate).is_done(); }) &&
                      fleet_->camera(kLate).progress().delivered == kLateFrames;
    const std::uint64_t before = fleet_->camera(kHealthy).progress().delivered;
    good = good && watch([&] {
             return fleet_->camera(kHealthy).is_done() ||
                    fleet_->camera(kHealthy).progress().delivered > before + 1000;
           });
    const bool all_lost = fleet_->camera(kHealthy).is_done();
    good = good && (all_lost ? may_all_be_lost_ && all_are_lost() : late && first_goes_on());
    std::printf(
        "%s; over after %.2f s; %s; cases 1 %s\n",
        fleet_->lost_devices().empty() ? "nothing was lost" : fleet_->lost_devices()[0].reason.c_str(),
        seconds, all_lost ? "the first device was lost with it" : "a camera that came then ran",
        good ? "passed" : "FAILED");
    return good;
  }

 private:
  enum Number : std::size_t { kHealthy, kBroken, kLate };

  bool first_goes_on() {
    fleet_->request_stop();
    bool good = watch([&] { return fleet_->camera(kHealthy).is_done(); }) &&
                fleet_->camera(kHealthy).state() == CameraState::Ended && fleet_->lost_devices().size() == 1;
    for (std::size_t i = 0; good && i < sinks_[kHealthy].payloads.size(); ++i)
      good = sinks_[kHealthy].payloads[i] == static_cast<std::uint32_t>(sinks_[kHealthy].frames[i]);
    return good;
  }
  /// Nothing that a device gives afterwards may be delivered, and whoever comes then is refused.
  bool all_are_lost() {
    return fleet_->camera(kHealthy).state() == CameraState::Failed && fleet_->lost_devices().size() == 2 &&
           accounts_add_up(fleet_->camera(kHealthy).runner()->report().frames, sinks_[kHealthy]) &&
           fleet_->camera(kLate).state() == CameraState::Failed &&
           fleet_->camera(kLate).progress().delivered == 0;
  }
  /// Looks at the device as the program does, until something has come about; false: it has not in 20 s.
  template <class Until>
  bool watch(const Until& until) {
    for (const std::int64_t start = now_ns(); !until() && now_ns() - start < 20'000'000'000;) {
      fleet_->give_up_on_device(std::chrono::milliseconds(300));
      if (broke_ns_ == 0 && sinks_[kBroken].frames.size() >= 5) broke_ns_ = now_ns();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return until();
  }
  static constexpr std::uint64_t kLateFrames = 200;
  const bool may_all_be_lost_;
  std::int64_t broke_ns_ = 0;
  std::atomic<bool> is_over_ = false;
  fake::CollectingSink sinks_[3];
  std::optional<Fleet> fleet_;
};

/// Ends without destructors, as the program does where a device hangs.
[[noreturn]] void lose_one_device(bool hangs) {
  if (device_report().devices.size() < 2) {
    std::puts("skipped: one of two devices that is lost (fewer than 2 devices here)");
    std::exit(77);
  }
  const BackendRequest second(Backend::Cuda, device_report().devices[1].index);
  TwoDevices cameras(
      hangs ? graph_that<fault::copy_or_hang>(second) : graph_that<fault::copy_or_write_far>(second), !hangs);
  const bool good = cameras.go_on_without_the_second();
  std::fflush(stdout);
  std::_Exit(good ? static_cast<int>(ExitCode::Internal) : 1);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view planted = argc > 1 ? argv[1] : "";
  if (planted == "one" || planted == "one-hang") lose_one_device(planted == "one-hang");
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
        first_five_came(runner.report().frames, sink) && in_time && error.code() == ExitCode::Internal;
    std::printf("%s, %.1f ms, cases 1 %s\n", error.what(), static_cast<double>(now_ns() - start) * 1e-6,
                good ? "passed" : "FAILED");
    return good ? static_cast<int>(error.code()) : 1;
  }
  std::puts("the planted fault was not noticed");
  return 1;
}
