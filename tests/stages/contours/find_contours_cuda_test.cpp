#include "stages/contours/cuda/find_contours.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <optional>
#include <string>

#include "base/error.h"
#include "cuda/device.h"
#include "tests/device_skip.h"
#include "tests/stages/harness.h"

using namespace contorno;
using namespace contorno::test;

namespace {

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
