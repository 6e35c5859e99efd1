// Maps that are pushed from memory of a device, which the host plays (played_device.h): they are copied
// there, never uploaded, and what is made of them has the bytes of the CPU.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "pipeline/graph/planned.h"
#include "pipeline/run/push_source.h"
#include "pipeline/run/runner.h"
#include "tests/pipeline/played_graph.h"

using namespace contorno;
using namespace contorno::test;

namespace {

constexpr int kPushed = 12;

/// A frame and maps of a StreamFormat in memory with gaps between the rows.
struct Pictures {
  std::vector<std::byte> frame_bytes, maps_bytes;
  ImageView frame, maps;

  explicit Pictures(const StreamFormat& stream) {
    const auto place = [](ImageView& view, const ImageFormat& format, std::vector<std::byte>& bytes) {
      view.format = format;
      view.row_pitch = static_cast<std::ptrdiff_t>(format.row_bytes()) + 12;
      view.plane_pitch = view.row_pitch * format.height + 20;
      bytes.resize(static_cast<std::size_t>(view.plane_pitch * format.planes()));
      view.data = bytes.data();
    };
    place(frame, *stream.frame, frame_bytes);
    place(maps, *stream.maps, maps_bytes);
  }
  void paint(int number) {
    for (std::size_t i = 0; i < frame_bytes.size(); ++i)
      frame_bytes[i] = static_cast<std::byte>((i * 7 + static_cast<unsigned>(number) * 31) % 251);
    for (int plane = 0; plane < maps.format.channels; ++plane)
      for (int y = 0; y < maps.format.height; ++y)
        for (int x = 0; x < maps.format.width; ++x)
          maps.row<float>(y, plane)[x] = static_cast<float>((x * 3 + y * (plane + 1) + number) % 17) / 16;
  }
};

/// The sums that a run makes of frames that are pushed; `on_device` says where the maps of each lie.
std::vector<std::string> sums_of(Backend backend, int slots, bool maps_on_device, bool (*on_device)(int)) {
  Four four;
  four.graph.settings.slots = slots;
  PushSource source(four.stream, maps_on_device);
  Bytes sums, maps;
  const std::vector<SinkBinding> bindings{
      {.name = "sums", .sink = &sums, .input = {Four::Sum, 0}},
      {.name = "maps", .sink = &maps, .input = {Origin::kSource, Origin::kMaps}}};
  Runner runner(four.graph, source, bindings, {.backend = backend, .maps_on_device = maps_on_device});
  std::thread pusher([&] {
    Pictures pictures(four.stream);
    for (int number = 0; number < kPushed; ++number) {
      pictures.paint(number);
      source.offer(pictures.frame, pictures.maps, {.on_device = on_device(number)});
      while (source.wait(1000) == PushSource::Answer::Waiting) {
      }
    }
    source.finish();
  });
  const RunReport report = runner.run();
  pusher.join();
  CHECK(report.frames.delivered == kPushed);
  sums.frames.insert(sums.frames.end(), maps.frames.begin(), maps.frames.end());
  return sums.frames;
}

}  // namespace

TEST_CASE("maps that come on a device are not uploaded, and downloaded where a sink takes them") {
  const Four four;
  const std::size_t maps = packed_bytes(*four.stream.maps), frame = packed_bytes(*four.stream.frame);
  for (const bool taken : {false, true}) {
    std::vector<Origin> exports{{Four::Sum, 0}};
    if (taken) exports.push_back({Origin::kSource, Origin::kMaps});
    Capacities capacities(4);
    PlannedGraph graph({.graph = &four.graph,
                        .backend = Backend::Cuda,
                        .capacities = &capacities,
                        .exports = exports,
                        .maps_on_device = true});
    graph.plan(four.stream);
    const ImageView& input = graph.input().maps;
    std::memset(input.data, 0x3D, maps);
    copied_bytes();
    graph.launch();
    graph.wait();
    // What the host made of the frame, its maps, and the sum, which comes back.
    const std::size_t all = frame + (taken ? 3 : 2) * maps, copied = copied_bytes();
    CHECK(copied <= all);
    CHECK(copied > all - 1024);
    const auto& found = std::get<ImageView>(graph.value({Origin::kSource, Origin::kMaps}));
    CHECK((found.data == input.data) == !taken);
    CHECK(std::memcmp(found.data, input.data, maps) == 0);
  }
}

TEST_CASE("frames whose maps are pushed from a device give the bytes of the CPU, on any number of slots") {
  const auto nowhere = [](int) { return false; };
  const std::vector<std::string> reference = sums_of(Backend::Cpu, 2, false, nowhere);
  REQUIRE(reference.size() == 2 * kPushed);
  for (const int slots : {1, 2, 3, 7}) {
    CHECK(sums_of(Backend::Cuda, slots, true, [](int) { return true; }) == reference);
    // A program may push an array of the host now and then.
    CHECK(sums_of(Backend::Cuda, slots, true, [](int number) { return number % 3 != 1; }) == reference);
    CHECK(sums_of(Backend::Cuda, slots, false, nowhere) == reference);
  }
}

TEST_CASE("a program that waits for a stream does not keep a run from ending, nor loses its memory to it") {
  Four four;
  Pictures pictures(four.stream), slot(four.stream);
  PushSource source(pushed_format(pictures.frame, pictures.maps), true);
  FrameInput input{.frame = slot.frame, .maps = slot.maps};
  std::promise<void> begun, over;
  plant_in_waiting([&, done = over.get_future().share()](int) {
    begun.set_value();
    done.wait();
  });
  std::thread reader([&] { CHECK(source.read(input) == ReadResult::Frame); });
  source.offer(pictures.frame, pictures.maps, {.on_device = true});
  begun.get_future().wait();
  CHECK(source.wait(5) == PushSource::Answer::Waiting);
  source.cancel();
  CHECK(source.wait(5) == PushSource::Answer::Waiting);  // the memory is still read
  over.set_value();
  reader.join();
  plant_in_waiting({});
  CHECK(source.wait(5) == PushSource::Answer::Ended);
  CHECK(source.read(input) == ReadResult::End);
}

TEST_CASE("maps on a device are refused by what computes on the host") {
  Four four;
  four.graph.nodes[Four::Maps].inputs = {{Origin::kSource, Origin::kMaps}};
  Capacities capacities(4);
  PlannedGraph graph(
      {.graph = &four.graph, .backend = Backend::Cuda, .capacities = &capacities, .maps_on_device = true});
  CHECK_THROWS_WITH_AS(graph.plan(four.stream),
                       doctest::Contains("node 'maps' runs on the host, while class maps come on the device"),
                       Error);
  PushSource source(four.stream);
  CHECK_THROWS_AS(source.offer({}, {}, {.on_device = true}), InternalError);
}
