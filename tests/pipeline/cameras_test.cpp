// Fleets of cameras that are opened by the fleet: absent, required, garbage, openings that block.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "pipeline/run/fleet.h"
#include "pipeline/run/opening.h"
#include "pipeline/shared/clock.h"
#include "tests/pipeline/fakes.h"

using namespace contorno;

namespace {

constexpr std::uint64_t kForEver = ~std::uint64_t{0} - 1;

/// Cameras with a counting source and a collecting sink each.
class CamerasOnTest {
 public:
  using Open = std::function<std::unique_ptr<Source>()>;

  void add(const std::string& name, Open open, const CameraSettings& settings = {}) {
    CameraSpec camera{.name = name, .graph = fake::copy_graph(), .settings = settings};
    spec_.cameras.push_back(std::move(camera));
    opens_.push_back(std::move(open));
    sinks_.push_back(std::make_unique<fake::CollectingSink>());
    absences_.push_back(std::make_unique<std::atomic<int>>(0));
  }
  Fleet& start() {
    spec_.live.reconnect_ms = {5, 20};
    CameraHooks hooks;
    hooks.open = [this](std::size_t camera, const GraphSpec&) { return opens_[camera](); };
    hooks.set_up = [this](std::size_t camera, const GraphSpec&, Source&, const std::string&) {
      return CameraSetUp{.sinks = {{.name = "collect", .sink = sinks_[camera].get(), .input = {1, 0}}},
                         .options = {}};
    };
    hooks.on_absent = [this](std::size_t camera, const std::string&) { ++*absences_[camera]; };
    fleet_.emplace(spec_, hooks);
    fleet_->start();
    return *fleet_;
  }
  bool wait_for_state(std::size_t camera, CameraState state) const {
    for (int i = 0; i < 20'000 && fleet_->camera(camera).state() != state; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return fleet_->camera(camera).state() == state;
  }
  bool wait_for_frames(std::size_t camera, std::uint64_t frames) const {
    for (int i = 0; i < 20'000 && fleet_->camera(camera).progress().delivered < frames; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return fleet_->camera(camera).progress().delivered >= frames;
  }
  int absences(std::size_t camera) const { return *absences_[camera]; }
  const fake::CollectingSink& sink(std::size_t camera) const { return *sinks_[camera]; }

 private:
  FleetSpec spec_;
  std::vector<Open> opens_;
  std::vector<std::unique_ptr<fake::CollectingSink>> sinks_;
  std::vector<std::unique_ptr<std::atomic<int>>> absences_;
  std::optional<Fleet> fleet_;  // last: its threads use the others
};

CamerasOnTest::Open counting(std::uint64_t frames, bool live = false) {
  return [=] { return std::make_unique<fake::CountingSource>(frames, live); };
}
std::unique_ptr<Source> refused() {
  throw Error(ExitCode::MissingInput, "planted: no such camera");
}

void check_accounts(const FrameCounts& frames) {
  CHECK(frames.offered == frames.delivered + frames.failed + frames.dropped());
}

}  // namespace

TEST_CASE("an absent camera connects while the others run, and joins them when it comes") {
  CamerasOnTest line;
  std::atomic<bool> is_there = false;
  line.add("north", counting(200));
  line.add("south", [&] {
    if (!is_there) return refused();
    return counting(40)();
  });
  Fleet& fleet = line.start();
  CHECK(line.wait_for_state(0, CameraState::Ended));
  CHECK(fleet.camera(1).state() == CameraState::Connecting);
  CHECK_FALSE(fleet.done());
  for (int i = 0; i < 20'000 && line.absences(1) < 3; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(line.absences(1) >= 3);
  is_there = true;
  fleet.wait();
  CHECK(fleet.camera(1).state() == CameraState::Ended);
  CHECK(line.sink(0).frames.size() == 200);
  CHECK(line.sink(1).frames.size() == 40);
  CHECK(fleet.progress().offered == 240);
  CHECK(fleet.missing() == nullptr);
}

TEST_CASE("frames wait for a camera that is required, and the fleet tells when it never came") {
  CamerasOnTest line;
  std::atomic<bool> is_there = false;
  line.add("north", counting(30));
  line.add("south",
           [&] {
             if (!is_there) return refused();
             return counting(20)();
           },
           {.required = true});
  Fleet& fleet = line.start();
  for (int i = 0; i < 20'000 && line.absences(1) < 5; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(fleet.camera(0).state() == CameraState::Connecting);
  CHECK(fleet.progress().offered == 0);
  SUBCASE("it comes") {
    is_there = true;
    fleet.wait();
    CHECK(fleet.progress().delivered == 50);
    CHECK(fleet.missing() == nullptr);
  }
  SUBCASE("it does not") {
    fleet.request_stop();
    fleet.wait();
    CHECK(fleet.progress().offered == 0);
    REQUIRE(fleet.missing() != nullptr);
    CHECK(fleet.missing()->spec().name == "south");
    CHECK(fleet.take(0).frames.offered == 0);
  }
}

TEST_CASE("those that are there wait up to a second for one that has not answered") {
  CamerasOnTest line;
  std::atomic<std::int64_t> first_frame_ns = 0, bound_ns = 0, answered_ns = 0;
  line.add("north", [&] {
    auto source = std::make_unique<fake::CountingSource>(5);
    source->warns = [&](std::uint64_t frame) {
      if (frame == 0) first_frame_ns = now_ns();
      return false;
    };
    bound_ns = now_ns();
    return source;
  });
  line.add("south", [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    answered_ns = now_ns();
    return counting(5)();
  });
  line.start().wait();
  // A machine that is busy may delay either of them, by more than a second, too.
  CHECK((first_frame_ns > answered_ns || first_frame_ns - bound_ns > 1'000'000'000));
}

TEST_CASE("a required camera that can never come ends the wait of the others") {
  CamerasOnTest line;
  line.add("north", counting(kForEver));
  line.add("south", []() -> std::unique_ptr<Source> { throw Error(ExitCode::BadConfig, "planted"); },
           {.required = true});
  Fleet& fleet = line.start();
  fleet.wait();
  CHECK(fleet.progress().offered == 0);
  CHECK_THROWS_WITH_AS(fleet.take(1), "planted", Error);
}

TEST_CASE("garbage of one camera fails frame by frame, and the others do not notice") {
  CamerasOnTest line;
  for (const char* name : {"a", "b", "c"}) {
    const bool is_bad = std::string(name) == "b";
    line.add(name, [is_bad] {
      auto source = std::make_unique<fake::CountingSource>(300);
      source->announce(300);
      if (is_bad) source->bad = [](std::uint64_t) { return true; };
      return source;
    });
  }
  Fleet& fleet = line.start();
  fleet.wait();
  FrameCounts sum;
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(fleet.camera(i).state() == CameraState::Ended);
    const RunReport report = fleet.take(i);
    check_accounts(report.frames);
    CHECK((i == 1 ? report.frames.failed : report.frames.delivered) == 300);
    sum += report.frames;
  }
  check_accounts(sum);
  CHECK(fleet.progress().offered == sum.offered);
  for (const std::size_t healthy : {0, 2}) CHECK(line.sink(healthy).frames.size() == 300);
}

TEST_CASE("a live camera that is lost is opened again, and its frame numbers go on") {
  CamerasOnTest line;
  std::atomic<int> opened = 0;
  line.add("north", [&] {
    ++opened;
    return counting(10, true)();
  });
  Fleet& fleet = line.start();
  CHECK(line.wait_for_frames(0, 35));
  fleet.request_stop();
  fleet.wait();
  CHECK(opened >= 4);
  const RunReport report = fleet.take(0);
  CHECK(report.source_reconnections >= 3);
  check_accounts(report.frames);
  const std::vector<std::uint64_t>& frames = line.sink(0).frames;
  for (std::size_t i = 1; i < frames.size(); ++i) CHECK(frames[i] > frames[i - 1]);
  CHECK(frames.back() < report.frames.offered);
}

TEST_CASE("a stop ends an opening that blocks, and what is left to its thread ends when it can") {
  struct Gate {
    std::mutex mutex;
    std::condition_variable changed;
    bool is_open = false;
  };
  const auto gate = std::make_shared<Gate>();
  {
    CamerasOnTest line;
    line.add("north", counting(50));
    line.add("stuck", [gate]() -> std::unique_ptr<Source> {
      std::unique_lock lock(gate->mutex);
      gate->changed.wait(lock, [&] { return gate->is_open; });
      return counting(1)();
    });
    Fleet& fleet = line.start();
    CHECK(line.wait_for_state(0, CameraState::Ended));  // it did not wait for the other
    CHECK(fleet.camera(1).state() == CameraState::Connecting);
    fleet.request_stop();
    fleet.wait();
    CHECK(openings_left() == 1);
    CHECK(fleet.take(1).frames.offered == 0);
    {
      const std::lock_guard lock(gate->mutex);
      gate->is_open = true;
    }
    gate->changed.notify_all();
    for (int i = 0; i < 20'000 && openings_left() > 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(openings_left() == 0);
}

TEST_CASE("cameras share the processors, and each still gives what it gives alone") {
  CamerasOnTest line;
  constexpr int kCameras = 6;
  for (int i = 0; i < kCameras; ++i)
    line.add("camera" + std::to_string(i), counting(100), {.weight = 1.0 + i});
  Fleet& fleet = line.start();
  fleet.wait();
  for (std::size_t i = 0; i < kCameras; ++i) {
    CHECK(fleet.take(i).frames.delivered == 100);
    REQUIRE(line.sink(i).payloads.size() == 100);
    for (std::uint32_t frame = 0; frame < 100; ++frame) CHECK(line.sink(i).payloads[frame] == frame);
  }
}

TEST_CASE("memory is admitted for all cameras together, and later for each alone") {
  MemoryAdmission admission({.host = 100 << 20, .devices = {{.device = 0, .bytes = 50 << 20}}});
  const auto need = [](const char* camera, std::size_t host, std::size_t device) {
    return MemoryAdmission::Need{.camera = camera,
                                 .slots = 4,
                                 .slot = {.host = host << 20, .pinned = 1 << 20, .device = device << 20},
                                 .device = 0};
  };
  const auto admit = [&](std::vector<MemoryAdmission::Need> needs) { return admission.admit(needs); };
  const auto refused = admit({need("north", 9, 0), need("south", 20, 0)});
  REQUIRE(refused);
  CHECK(*refused ==
        "2 cameras take 124.0 MiB of the host, and 100.0 are left; the most takes 'south': 4 slots of 21.0 "
        "MiB; "
        "set fewer slots in the pipeline section, or run fewer cameras");
  CHECK_FALSE(admit({need("north", 9, 5), need("south", 9, 5)}));
  CHECK(admit({need("west", 9, 0)})->find("3 cameras take 120.0 MiB of the host") == 0);
  CHECK(admit({need("west", 1, 3)})
            ->find("3 cameras take 52.0 MiB of the device, and 50.0 are left; the most "
                   "takes 'west'") == 0);
  CHECK_FALSE(admit({need("west", 1, 2)}));
  const MemoryLeft left = memory_left({});
  CHECK(left.host > 0);
  CHECK(left.devices.empty());
}

TEST_CASE("cameras that may have any device get one, and are refused with what each device has") {
  MemoryAdmission admission(
      {.devices = {{.device = 0, .bytes = 50 << 20}, {.device = 1, .bytes = 40 << 20}}});
  const auto need = [](const char* camera, std::optional<int> device, std::size_t mebibytes) {
    return MemoryAdmission::Need{
        .camera = camera, .slots = 2, .slot = {.device = mebibytes << 20}, .device = device};
  };
  constexpr int kAny = BackendRequest::kAll;
  std::vector<MemoryAdmission::Need> needs{need("a", kAny, 10), need("b", std::nullopt, 0),
                                           need("c", kAny, 10), need("d", 0, 10)};
  CHECK_FALSE(admission.admit(needs));
  CHECK(needs[0].device == 1);
  CHECK(needs[1].device == std::nullopt);
  CHECK(needs[2].device == 0);
  CHECK(needs[3].device == 0);
  std::vector<MemoryAdmission::Need> late{need("e", kAny, 11)};
  CHECK(
      admission.admit(late) ==
      "5 cameras take 82.0 MiB of the devices, and 'e' with 22.0 MiB fits on no device: 40.0 of 50.0 MiB of "
      "device 0 are taken, 20.0 of 40.0 MiB of device 1 are taken; the most takes 'e': 2 slots of 11.0 MiB; "
      "set fewer slots in the pipeline section, or run fewer cameras");
  CHECK(late[0].device == kAny);
  late = {need("e", 0, 6)};
  CHECK(admission.admit(late)->find(
            "5 cameras take 72.0 MiB of the devices, and 'e' with 12.0 MiB does not fit "
            "on device 0: ") == 0);
  late = {need("e", kAny, 10)};
  CHECK_FALSE(admission.admit(late));
  CHECK(late[0].device == 1);
  // A device that broke gets no more cameras.
  admission.lose(0);
  late = {need("f", kAny, 1)};
  CHECK(admission.admit(late).has_value());
}

TEST_CASE("the limit of any control group around the process counts, and cached files do not") {
  const std::filesystem::path mount = std::filesystem::temp_directory_path() / "contorno-groups";
  std::filesystem::remove_all(mount);
  const auto write = [&](const std::filesystem::path& file, const char* text) {
    std::filesystem::create_directories((mount / file).parent_path());
    std::ofstream(mount / file) << text;
  };
  CHECK(memory_left_of_groups(mount.string(), "/line.slice/contorno.service") == MemoryLeft::kUnlimited);
  write("line.slice/contorno.service/memory.max", "max\n");
  write("line.slice/contorno.service/memory.current", "500\n");
  CHECK(memory_left_of_groups(mount.string(), "/line.slice/contorno.service") == MemoryLeft::kUnlimited);
  write("line.slice/contorno.service/memory.max", "2000\n");
  CHECK(memory_left_of_groups(mount.string(), "/line.slice/contorno.service") == 1500);
  write("line.slice/memory.max", "1200\n");
  write("line.slice/memory.current", "900\n");
  CHECK(memory_left_of_groups(mount.string(), "/line.slice/contorno.service") == 300);
  write("line.slice/memory.stat", "anon 100\ninactive_file 400\nactive_file 50\n");
  CHECK(memory_left_of_groups(mount.string(), "/line.slice/contorno.service") == 700);
  CHECK(memory_left_of_groups(mount.string(), "/") == MemoryLeft::kUnlimited);
  std::filesystem::remove_all(mount);
}
