// Cameras of one process on several devices: the same bits wherever a camera works, and a runner that works
// on another device than its thread. What needs more devices than there are is left out, and counted.
#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cuda/device.h"
#include "cuda/pointer.h"
#include "pipeline/run/fleet.h"
#include "stages/catalog.h"
#include "tests/device_skip.h"

using namespace contorno;

namespace {

constexpr int kTilesWidth = 203, kTilesHeight = 117, kTilesClasses = 2;
constexpr std::uint64_t kTilesFrames = 30;

/// Frames with maps of squares whose sizes, places and heights are those of the frame and the camera.
class TilesSource final : public Source {
 public:
  explicit TilesSource(unsigned camera) : camera_(camera) {
    format_.frame = ImageFormat{.width = kTilesWidth, .height = kTilesHeight, .channels = 4};
    format_.maps = ImageFormat{.width = kTilesWidth,
                               .height = kTilesHeight,
                               .channels = kTilesClasses,
                               .type = ElementType::F32,
                               .layout = Layout::Planar};
    format_.description = "tiles";
  }
  const StreamFormat& format() const override { return format_; }
  ReadResult read(FrameInput& input) override {
    if (next_ == kTilesFrames) return ReadResult::End;
    const unsigned side = 3 + (static_cast<unsigned>(next_) + camera_) % 11;
    for (unsigned y = 0; y < kTilesHeight; ++y)
      for (unsigned x = 0; x < kTilesWidth; ++x) {
        const unsigned tile = x / side * 7 + y / side * 5 + static_cast<unsigned>(next_) * 3 + camera_ * 13;
        for (int plane = 0; plane < kTilesClasses; ++plane)
          input.maps.row<float>(static_cast<int>(y), plane)[x] =
              static_cast<float>((tile * (3 + static_cast<unsigned>(plane)) + x % 3) % 17) / 16;
        for (unsigned c = 0; c < 4; ++c)
          input.frame.row<std::uint8_t>(static_cast<int>(y))[4 * x + c] =
              static_cast<std::uint8_t>(tile * 19 + x * 3 + y + c * 31);
      }
    ++next_;
    return ReadResult::Frame;
  }
  void cancel() override {}

 private:
  StreamFormat format_;
  unsigned camera_;
  std::uint64_t next_ = 0;
};

/// All that a sink may read, frame after frame.
struct TilesSink final : Sink {
  std::vector<std::byte> bits;
  void open(const SinkContext&) override {}
  void write(const FrameInfo&, const Value& value) override {
    const auto add = [&](const void* data, std::size_t bytes) {
      const auto* first = static_cast<const std::byte*>(data);
      bits.insert(bits.end(), first, first + bytes);
    };
    if (const auto* image = std::get_if<ImageView>(&value)) {
      for (int y = 0; y < image->format.height; ++y) add(image->row<std::byte>(y), image->format.row_bytes());
      return;
    }
    const auto& contours = std::get<ContoursView>(value);
    const std::uint64_t count = contours.counts->contours;
    add(contours.counts, sizeof(ContourCounts));
    add(contours.offsets, (count + 1) * sizeof(std::uint32_t));
    add(contours.points, contours.counts->points * sizeof(Point));
  }
  void finish() override {}
};

/// contours of the maps, and their overlay on the frame.
GraphSpec tiles_graph(const BackendRequest& backend) {
  GraphSpec graph;
  graph.settings.backend = backend;
  graph.settings.threads = 1;
  graph.classes = {{.name = "one"}, {.name = "two"}};
  const auto add = [&](const char* name, std::vector<Origin> inputs) {
    const StageType& type = stage_called(stage_catalog(), "stage", name);
    graph.nodes.push_back(
        {.name = name, .type = &type, .params = ParamSet(type.params), .inputs = std::move(inputs)});
  };
  add("contours", {{Origin::kSource, Origin::kMaps}});
  add("overlay", {{Origin::kSource, Origin::kFrame}, {0, 0}});
  return graph;
}

struct TilesCameras {
  std::vector<std::vector<std::byte>> bits;
  std::set<int> devices;
};

/// Four cameras with names in one fleet.
TilesCameras run_tiles(const BackendRequest& backend) {
  constexpr std::size_t kCameras = 4;
  std::vector<TilesSink> sinks(2 * kCameras);
  FleetSpec spec;
  for (const char* name : {"a", "b", "c", "d"})
    spec.cameras.push_back({.name = name, .graph = tiles_graph(backend), .settings = {.required = true}});
  CameraHooks hooks;
  hooks.reopens = false;
  hooks.open = [](std::size_t camera, const GraphSpec&) {
    return std::make_unique<TilesSource>(static_cast<unsigned>(camera));
  };
  hooks.set_up = [&](std::size_t camera, const GraphSpec& graph, Source&, const std::string&) {
    return CameraSetUp{.sinks = {{.name = "contours", .sink = &sinks[2 * camera], .input = {0, 0}},
                                 {.name = "overlay", .sink = &sinks[2 * camera + 1], .input = {1, 0}}},
                       .options = {.backend = choose_backend(graph.settings.backend, graph)}};
  };
  Fleet fleet(spec, hooks);
  fleet.start();
  fleet.wait();
  TilesCameras result;
  for (std::size_t camera = 0; camera < kCameras; ++camera) {
    const RunReport report = fleet.take(camera);
    CHECK(report.frames.delivered == kTilesFrames);
    if (report.backend == Backend::Cuda) result.devices.insert(report.device);
  }
  for (TilesSink& sink : sinks) result.bits.push_back(std::move(sink.bits));
  return result;
}

}  // namespace

TEST_CASE("cameras of one fleet give the same bits on the CPU, on each device, and spread over all") {
  const TilesCameras reference = run_tiles(Backend::Cpu);
  CHECK(reference.devices.empty());
  for (const std::vector<std::byte>& bits : reference.bits) CHECK(bits.size() > 100'000);
  if (test::skipped_without_device("fleets on a device")) return;
  const auto check = [&](const BackendRequest& backend, const std::set<int>& devices) {
    INFO("backend ", to_text(backend));
    const TilesCameras result = run_tiles(backend);
    CHECK(result.devices == devices);
    for (std::size_t i = 0; i < reference.bits.size(); ++i) CHECK(result.bits[i] == reference.bits[i]);
  };
  std::set<int> all;
  for (const DeviceInfo& one : device_report().devices) {
    check({Backend::Cuda, one.index}, {one.index});
    if (all.size() < 4) all.insert(one.index);  // a device for each camera
  }
  if (test::skipped_without_devices("a fleet on several devices", 2)) return;
  check({Backend::Cuda, BackendRequest::kAll}, all);
}

TEST_CASE("a runner works on the device that it is told, and leaves that of its caller alone") {
  if (test::skipped_without_devices("a runner on the second device", 2)) return;
  const int before = current_device();
  std::vector<std::byte> reference;
  for (const DeviceInfo& one : device_report().devices) {
    const GraphSpec graph = tiles_graph({Backend::Cuda, one.index});
    TilesSource source(5);
    TilesSink sink;
    {
      Runner runner(graph, source, {{.name = "overlay", .sink = &sink, .input = {1, 0}}},
                    {.backend = choose_backend(graph.settings.backend, graph)});
      CHECK(runner.run().device == one.index);
    }
    if (reference.empty()) reference = sink.bits;
    CHECK(sink.bits == reference);
    CHECK(current_device() == before);
  }
}
