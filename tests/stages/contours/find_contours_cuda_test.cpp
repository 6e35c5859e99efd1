#include "stages/contours/cuda/find_contours.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include "cuda/device.h"
#include "cuda/error.h"
#include "cuda/stream.h"
#include "stages/contours/cuda/engine.h"
#include "tests/stages/harness.h"

using namespace contorno;
using namespace contorno::test;

namespace {

/// Whether a test has to be left out, which is said in a line that tools/test counts.
bool skipped_without_device(const char* what) {
  if (device_report().available) return false;
  std::printf("skipped: %s (no device here)\n", what);
  return true;
}

bool same(double a, double b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0;
}

/// Whether the contours agree in every bit; says where not.
std::string difference(const FoundContours& got, const FoundContours& want) {
  if (!same(got.level, want.level)) return "levels differ";
  if (got.count() != want.count())
    return std::to_string(got.count()) + " contours, wanted " + std::to_string(want.count());
  for (std::size_t i = 0; i < want.count(); ++i) {
    if (got.offsets[i + 1] != want.offsets[i + 1] || got.closed[i] != want.closed[i])
      return "contour " + std::to_string(i) + " has another end";
    for (std::size_t k = 0; k < want.contour(i).size(); ++k)
      if (!same(got.contour(i)[k].row, want.contour(i)[k].row) ||
          !same(got.contour(i)[k].col, want.contour(i)[k].col))
        return "point " + std::to_string(k) + " of contour " + std::to_string(i) + " differs";
  }
  return {};
}

/// A field of `kind`: noise, few values with ties, checkerboard, smooth waves; some samples NaN or infinite.
TestImage field(int kind, int width, int height, ElementType type, Random& random) {
  TestImage image({width, height, 1, type, Layout::Interleaved, {}},
                  8 * static_cast<std::size_t>(random.below(3)));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      double value = random.unit();
      if (kind == 1) value = static_cast<double>(random.below(3)) / 2;
      if (kind == 2) value = (x + y) % 2;
      if (kind == 3) value = 0.5 + 0.5 * std::sin(x * 0.21) * std::cos(y * 0.17);
      const bool odd = type != ElementType::U8 && random.below(60) == 0;
      if (odd) value = random.below(2) == 0 ? NAN : HUGE_VAL;
      if (type == ElementType::U8) image.at<std::uint8_t>(x, y) = static_cast<std::uint8_t>(value * 4);
      if (type == ElementType::F32) image.at<float>(x, y) = static_cast<float>(value);
      if (type == ElementType::F64) image.at<double>(x, y) = value;
    }
  return image;
}

}  // namespace

TEST_CASE("a device finds the contours of find_contours, bit for bit") {
  if (skipped_without_device("find_contours on CUDA")) return;
  DeviceContourFinder finder;
  Random random(5);
  for (int round = 0; round < 160; ++round) {
    const int kind = round % 4;
    const bool large = round % 20 == 0;
    const int width = large ? 700 + round : 2 + static_cast<int>(random.below(90));
    const int height = large ? 500 : 2 + static_cast<int>(random.below(70));
    constexpr ElementType kTypes[] = {ElementType::F64, ElementType::F32, ElementType::U8};
    const TestImage image = field(kind, width, height, kTypes[round % 3], random);
    FindContoursOptions options;
    if (round % 5 != 0) options.level = kTypes[round % 3] == ElementType::U8 ? 1.0 + round % 2 * 0.5 : 0.5;
    if (round % 2 == 1) options.fully_connected = Connectivity::High;
    if (round % 7 < 3) options.positive_orientation = Orientation::High;
    options.threads = 1 + round % 3;
    TestImage mask({width, height, 1, ElementType::U8, Layout::Interleaved, {}}, 3);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) mask.at<std::uint8_t>(x, y) = random.below(12) != 0;
    if (round % 3 == 1) options.mask = mask.view;
    CAPTURE(round);
    CHECK(difference(finder.find(image.view, options), find_contours(image.view, options)) == "");
  }
}

TEST_CASE(
    "a device finds nothing at a level that is NaN or infinite, and refuses what find_contours refuses") {
  if (skipped_without_device("find_contours on CUDA, odd levels")) return;
  DeviceContourFinder finder;
  double samples[4] = {0, 1, 0, 1};
  ImageView image{samples, {2, 2, 1, ElementType::F64, Layout::Interleaved, {}}, 16, 0};
  for (const double level : {static_cast<double>(NAN), HUGE_VAL, -HUGE_VAL})
    CHECK(finder.find(image, {.level = level}).count() == 0);
  CHECK(finder.find(image, {.level = 0.5}).count() == 1);
  image.format.height = 1;
  CHECK_THROWS_WITH_AS(finder.find(image), "the image has 1 rows and 2 columns, allowed 2 to 65536 each",
                       Error);
}

TEST_CASE("without a device the finder says why and what to do") {
  if (device_report().available) return;
  try {
    DeviceContourFinder finder;
    FAIL("a finder was made");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::Unavailable);
    CHECK(std::string(error.what()).find(device_report().reason) != std::string::npos);
    CHECK(std::string(error.what()).find(device_report().fix) != std::string::npos);
  }
}

#if CONTORNO_HAVE_CUDA
TEST_CASE("maps that are on the device are read where they lie, at any pitch and of each type") {
  if (skipped_without_device("maps on the device")) return;
  Random random(9);
  for (const ElementType type : {ElementType::F32, ElementType::U8}) {
    const TestImage map = field(3, 317, 93, type, random);
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
#endif
