// The contour engine on maps that are on the device already.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>

#include "cuda/stream.h"
#include "stages/contours/cuda/engine.h"
#include "stages/contours/find_contours.h"
#include "tests/device_skip.h"
#include "tests/stages/harness.h"

using namespace contorno;
using namespace contorno::test;

namespace {

/// Smooth waves from 0 to `top`, in rows with room behind them.
template <class T>
TestImage waves(int width, int height, ElementType type, double top) {
  const auto value = [&](int x, int y, int) {
    return top * (0.5 + 0.5 * std::sin(x * 0.21) * std::cos(y * 0.17));
  };
  return filled_image<T>({width, height, 1, type, Layout::Interleaved, {}}, value, 16);
}

}  // namespace

TEST_CASE("maps that are on the device are read where they lie, at any pitch and of each type") {
  if (skipped_without_device("maps on the device")) return;
  for (const ElementType type : {ElementType::F32, ElementType::U8}) {
    const TestImage map =
        type == ElementType::U8 ? waves<std::uint8_t>(317, 93, type, 5) : waves<float>(317, 93, type, 1);
    const std::size_t bytes = static_cast<std::size_t>(map.view.row_pitch) * 93;
    const Stream stream = Stream::create();
    const Block on_device(bytes, MemoryKind::Device);
    copy_async(on_device.data(), map.view.data, bytes, stream.get());

    ContourEngineSpec spec;
    spec.map = map.view.format;
    spec.map.layout = Layout::Planar;
    spec.levels = {type == ElementType::U8 ? 2.5 : 0.5};
    spec.points = ContourEngineSpec::Points::Float32;
    spec.point_capacity = 40000, spec.contour_capacity = 4000;
    CudaContourEngine engine;
    const Block workspace(engine.plan(spec), MemoryKind::Device);
    const ContoursFormat format{.width = 317,
                                .height = 93,
                                .classes = 1,
                                .point_capacity = spec.point_capacity,
                                .contour_capacity = spec.contour_capacity};
    const Block result(packed_bytes(format), MemoryKind::Device);
    const Block mirror(packed_bytes(format), MemoryKind::Pinned);
    engine.prepare(workspace.data(), stream.get());
    ImageView view = map.view;
    view.data = on_device.data();
    view.format = spec.map;
    const ContoursView host = packed_view(mirror.data(), format);
    engine.enqueue(view, nullptr, {}, workspace.data(), packed_view(result.data(), format), &host,
                   stream.get());
    stream.synchronize();

    const FoundContours want = find_contours(map.view, {.level = spec.levels[0]});
    REQUIRE(host.counts->contours == want.count());
    for (std::uint32_t i = 0; i < want.count(); ++i) {
      REQUIRE(host.contour(i).size() == want.contour(i).size());
      for (std::size_t k = 0; k < want.contour(i).size(); ++k) {
        const Point rounded{static_cast<float>(want.contour(i)[k].row),
                            static_cast<float>(want.contour(i)[k].col)};
        CHECK(std::memcmp(&host.contour(i)[k], &rounded, sizeof(rounded)) == 0);
      }
    }
  }
}
