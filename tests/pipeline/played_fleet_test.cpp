// Fleets on two devices that the host plays (played_device.h): every thread of a camera works on the camera's
// device, results are those of one device, and a device that breaks or hangs takes its own cameras alone.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "cuda/pointer.h"
#include "pipeline/run/fleet.h"
#include "tests/pipeline/fakes.h"
#include "tests/pipeline/played_device.h"

using namespace contorno;

namespace {

constexpr std::uint64_t kForEver = ~std::uint64_t{0} - 1;

/// Adds what a device would: one to the number in the frame. It also takes memory of the device, as much as
/// the test wants.
struct PlusOne final : Stage {
  static inline std::size_t bytes = 4096;
  bool on_device;
  explicit PlusOne(bool device) : on_device(device) {}
  void plan(PlanContext& context) override {
    context.set_output(0, context.input(0));
    if (on_device) context.scratch(bytes, MemoryKind::Device);
  }
  void run(const RunContext& context) const override {
    const auto work = [at = &context] {
      *at->image_out(0).row<std::uint32_t>(0) = *at->image_in(0).row<std::uint32_t>(0) + 1;
    };
    if (on_device)
      test::enqueue_on_device(work);
    else
      work();
  }
};

const StageType& plus_one() {
  static const StageType type = [] {
    StageType made = fake::copy_stage();
    made.name = "plus_one";
    made.make_cpu = [](const ParamSet&) { return std::make_unique<PlusOne>(false); };
    made.make_cuda = [](const ParamSet&) { return std::make_unique<PlusOne>(true); };
    return made;
  }();
  return type;
}

GraphSpec graph_on(const BackendRequest& backend) {
  GraphSpec graph = fake::copy_graph();
  for (NodeSpec& node : graph.nodes) node.type = &plus_one();
  graph.settings.backend = backend;
  graph.settings.slots = 3;
  return graph;
}

BackendRequest on(int device) {
  return {Backend::Cuda, device};
}

/// Cameras with names, a counting source and a collecting sink each.
struct PlayedLine {
  std::vector<std::unique_ptr<fake::CollectingSink>> sinks;
  std::vector<std::function<std::unique_ptr<Source>()>> opens;
  std::vector<fake::CountingSource*> sources;
  FleetSpec spec;
  std::unique_ptr<Fleet> fleet;

  PlayedLine() {
    test::set_free_bytes({std::size_t{1} << 30, std::size_t{1} << 30});
    PlusOne::bytes = 4096;
  }
  ~PlayedLine() { test::plant_in_waiting({}); }
  /// All begin together unless one is not required.
  void add(const std::string& name, const BackendRequest& backend, std::uint64_t frames, double weight = 1,
           bool required = true) {
    spec.cameras.push_back(
        {.name = name, .graph = graph_on(backend), .settings = {.required = required, .weight = weight}});
    sinks.push_back(std::make_unique<fake::CollectingSink>());
    sources.push_back(nullptr);
    opens.emplace_back([this, frames, number = opens.size()] {
      auto source = std::make_unique<fake::CountingSource>(frames);
      sources[number] = source.get();
      return source;
    });
  }
  Fleet& start() {
    CameraHooks hooks;
    hooks.open = [this](std::size_t camera, const GraphSpec&) { return opens[camera](); };
    hooks.set_up = [this](std::size_t camera, const GraphSpec& graph, Source&, const std::string&) {
      return CameraSetUp{.sinks = {{.name = "collect", .sink = sinks[camera].get(), .input = {1, 0}}},
                         .options = {.backend = choose_backend(graph.settings.backend, graph)}};
    };
    hooks.reopens = false;
    fleet = std::make_unique<Fleet>(spec, hooks);
    fleet->start();
    return *fleet;
  }
  bool wait_for_frames(std::size_t camera, std::uint64_t frames) const {
    for (int i = 0; i < 20'000 && fleet->camera(camera).progress().delivered < frames; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return fleet->camera(camera).progress().delivered >= frames;
  }
  bool wait_until_done(std::size_t camera) const {
    for (int i = 0; i < 20'000 && !fleet->camera(camera).is_done(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return fleet->camera(camera).is_done();
  }
};

void check_payloads(const fake::CollectingSink& sink, std::uint64_t frames) {
  REQUIRE(sink.payloads.size() == frames);
  for (std::uint32_t frame = 0; frame < frames; ++frame) CHECK(sink.payloads[frame] == frame + 2);
}

/// What became of a camera that has ended.
std::string failure_of(Fleet& fleet, std::size_t camera, ExitCode& code) {
  try {
    fleet.take(camera);
  } catch (const Error& error) {
    code = error.code();
    return error.what();
  }
  code = ExitCode::Ok;
  return {};
}

}  // namespace

TEST_CASE("all threads of a runner work on its device, and the thread that made it keeps its own") {
  for (const int device : {0, 1}) {
    GraphSpec graph = graph_on(on(device));
    fake::CountingSource source(50);
    source.change_at = 20;  // planned again by the reader
    fake::CollectingSink sink;
    test::launches();
    {
      Runner runner(graph, source, {{.name = "collect", .sink = &sink, .input = {1, 0}}},
                    {.backend = choose_backend(graph.settings.backend, graph)});
      const RunReport report = runner.run();
      CHECK(report.frames.delivered == 50);
      CHECK(report.device == device);
    }
    check_payloads(sink, 50);
    const auto launches = test::launches();
    CHECK(launches[static_cast<std::size_t>(device)] >= 50);
    CHECK(launches[static_cast<std::size_t>(1 - device)] == 0);
    CHECK(current_device() == 0);
  }
}

TEST_CASE("a device is chosen by its number, of all the one with the most room, and one too many is told") {
  const GraphSpec graph = graph_on({});
  CHECK(choose_backend(Backend::Auto, graph).device == 0);
  CHECK(choose_backend(Backend::Cuda, graph).device == 0);
  CHECK(choose_backend(on(1), graph).device == 1);
  CHECK(describe(choose_backend(on(1), graph)) == "cuda:1 (played)");
  for (const int roomy : {0, 1}) {
    test::set_free_bytes({roomy == 0 ? 2U : 1U, roomy == 1 ? 2U : 1U});
    CHECK(choose_backend(on(BackendRequest::kAll), graph).device == roomy);
  }
  test::set_free_bytes({5, 5});
  CHECK(choose_backend(on(BackendRequest::kAll), graph).device == 0);
  try {
    choose_backend(on(7), graph);
    FAIL("it was not refused");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::Unavailable);
    CHECK(std::string(error.what()) ==
          "backend cuda:7 was asked for, but this machine has 2 CUDA devices: cuda:0, cuda:1");
  }
}

TEST_CASE("cuda:all spreads cameras by weight, and each gives what it gives on one device") {
  std::vector<std::vector<std::uint32_t>> alone;
  for (const int device : {0, BackendRequest::kAll}) {
    PlayedLine line;
    for (const auto& [name, weight] : {std::pair{"a", 1.0}, {"b", 1.0}, {"c", 2.0}, {"d", 1.0}, {"e", 1.0}})
      line.add(name, on(device), 40, weight);
    Fleet& fleet = line.start();
    fleet.wait();
    std::map<int, double> weights;
    for (std::size_t i = 0; i < 5; ++i) {
      const RunReport report = fleet.take(i);
      CHECK(report.frames.delivered == 40);
      CHECK(fleet.camera(i).device() == report.device);
      weights[report.device] += line.spec.cameras[i].settings.weight;
      if (device == 0) alone.push_back(line.sinks[i]->payloads);
      CHECK(line.sinks[i]->payloads == alone[i]);
    }
    if (device == 0)
      CHECK(weights == std::map<int, double>{{0, 6.0}});
    else
      CHECK(weights == std::map<int, double>{{0, 3.0}, {1, 3.0}});
  }
}

TEST_CASE("a fleet without names spreads its copies too, and one that is refused says what devices have") {
  test::set_free_bytes({std::size_t{1} << 20, std::size_t{1} << 20});
  PlusOne::bytes = 100'000;
  FleetSpec spec;
  for (int i = 0; i < 3; ++i) spec.cameras.push_back({.graph = graph_on(on(BackendRequest::kAll))});
  std::vector<fake::CollectingSink> sinks(3);
  CameraHooks hooks;
  hooks.open = [](std::size_t, const GraphSpec&) { return std::make_unique<fake::CountingSource>(20); };
  hooks.set_up = [&](std::size_t camera, const GraphSpec& graph, Source&, const std::string&) {
    return CameraSetUp{.sinks = {{.name = "collect", .sink = &sinks[camera], .input = {1, 0}}},
                       .options = {.backend = choose_backend(graph.settings.backend, graph)}};
  };
  // Three slots of two stages take 0.57 MiB: one camera a device.
  Fleet fleet(spec, hooks);
  try {
    fleet.prepare();
    FAIL("it was not refused");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::OutOfMemory);
    CAPTURE(error.what());
    CHECK(std::string(error.what())
              .find("3 cameras take 1.7 MiB of the devices, and '' with 0.6 MiB fits on no "
                    "device: 0.6 of 1.0 MiB of device 0 are taken, 0.6 of 1.0 MiB of device "
                    "1 are taken") == 0);
  }
  spec.cameras.pop_back();
  Fleet two(spec, hooks);
  two.prepare();
  two.start();
  two.wait();
  CHECK(two.take(0).device == 0);
  CHECK(two.take(1).device == 1);
  check_payloads(sinks[0], 20);
  check_payloads(sinks[1], 20);
}

TEST_CASE("a device that breaks takes its own cameras, and the others run to their ends") {
  PlayedLine line;
  line.add("a", on(0), 3000);
  line.add("b", on(1), kForEver);
  line.add("c", on(1), kForEver);
  line.add("d", Backend::Cpu, 3000);
  Fleet& fleet = line.start();
  REQUIRE(line.wait_for_frames(1, 5));
  REQUIRE(line.wait_for_frames(2, 5));
  test::plant_in_waiting([](int device) {
    if (device == 1) throw Error(ExitCode::Internal, "CUDA: planted");
  });
  fleet.wait();
  CHECK_FALSE(fleet.has_given_up());
  REQUIRE(fleet.lost_devices().size() == 1);
  CHECK(fleet.lost_devices()[0].device == 1);
  for (const std::size_t camera : {0, 3}) {
    CHECK(fleet.camera(camera).state() == CameraState::Ended);
    CHECK(fleet.take(camera).frames.delivered == 3000);
    check_payloads(*line.sinks[camera], 3000);
  }
  for (const std::size_t camera : {1, 2}) {
    CHECK(fleet.camera(camera).state() == CameraState::Failed);
    CHECK(fleet.camera(camera).device_broke());
    ExitCode code{};
    CHECK(failure_of(fleet, camera, code).find("planted") != std::string::npos);
    CHECK(code == ExitCode::Internal);
    const FrameCounts& frames = fleet.camera(camera).runner()->report().frames;
    CHECK(frames.offered == frames.delivered + frames.failed + frames.dropped());
    CHECK(frames.dropped_aborted == 0);
    CHECK(line.sinks[camera]->finished == 1);
  }
  const auto failed = [&](std::size_t camera) {
    return fleet.camera(camera).runner()->report().frames.failed;
  };
  CHECK(failed(1) + failed(2) > 0);
}

TEST_CASE(
    "a camera that comes when its device has broken is refused, and one that may have any gets another") {
  PlayedLine line;
  std::atomic<bool> is_there = false;
  line.add("a", on(1), kForEver);
  line.add("late", on(1), 10, 1, false);
  line.add("free", on(BackendRequest::kAll), 10, 1, false);
  for (const std::size_t camera : {1, 2})
    line.opens[camera] = [&is_there, own = line.opens[camera]] {
      while (!is_there) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return own();
    };
  Fleet& fleet = line.start();
  REQUIRE(line.wait_for_frames(0, 5));
  test::plant_in_waiting([](int device) {
    if (device == 1) throw Error(ExitCode::Internal, "CUDA: planted");
  });
  REQUIRE(line.wait_until_done(0));
  is_there = true;
  fleet.wait();
  ExitCode code{};
  CHECK(failure_of(fleet, 1, code) == "device 1 (played) broke under camera 'a': CUDA: planted");
  CHECK(code == ExitCode::Internal);
  CHECK(fleet.take(2).device == 0);
  check_payloads(*line.sinks[2], 10);
}

TEST_CASE("a device that hangs is given up with its own cameras, and the process waits for the others") {
  // Its threads never end, so that what they use stays.
  struct Hung {
    std::mutex mutex;
    std::condition_variable never;
  };
  auto& hung = *new Hung;
  auto& line = *new PlayedLine;
  line.add("a", on(0), kForEver);
  line.add("b", on(1), kForEver);
  line.add("c", on(1), kForEver);
  Fleet& fleet = line.start();
  for (const std::size_t camera : {0, 1, 2}) REQUIRE(line.wait_for_frames(camera, 5));
  test::plant_in_waiting([&](int device) {
    if (device != 1) return;
    std::unique_lock lock(hung.mutex);
    hung.never.wait(lock, [] { return false; });
  });
  const auto limit = std::chrono::milliseconds(50);
  for (int i = 0; i < 20'000 && !(fleet.camera(1).is_done() && fleet.camera(2).is_done()); ++i) {
    CHECK_FALSE(fleet.give_up_on_device(limit));  // camera a goes on
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (const std::size_t camera : {1, 2}) {
    CHECK(fleet.camera(camera).state() == CameraState::Failed);
    const FrameCounts& frames = fleet.camera(camera).runner()->report().frames;
    CHECK(frames.offered == frames.delivered + frames.failed + frames.dropped());
    ExitCode code{};
    CHECK(failure_of(fleet, camera, code) ==
          "device 1 (played) was at work on one frame for too long, and was given up");
    CHECK(code == ExitCode::Internal);
    CHECK(line.sinks[camera]->finished == 1);
  }
  CHECK(fleet.has_given_up());
  CHECK_FALSE(fleet.done());
  const std::uint64_t before = fleet.camera(0).progress().delivered;
  CHECK(line.wait_for_frames(0, before + 100));
  fleet.request_stop();
  CHECK(line.wait_until_done(0));
  CHECK(fleet.done());
  CHECK(fleet.give_up_on_device(limit));  // nothing else is left to wait for
  CHECK(fleet.take(0).frames.failed == 0);
  test::plant_in_waiting({});
}
