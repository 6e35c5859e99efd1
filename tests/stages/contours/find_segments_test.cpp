#include "stages/contours/find_segments.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "base/error.h"
#include "tests/stages/harness.h"

using namespace contorno;
using namespace contorno::test;

namespace {

template <class T>
ImageView view_of(const std::vector<T>& samples, int width, ElementType type) {
  return {const_cast<T*>(samples.data()),
          {width, static_cast<int>(samples.size()) / width, 1, type, Layout::Interleaved, {}},
          static_cast<std::ptrdiff_t>(sizeof(T)) * width,
          0};
}

}  // namespace

TEST_CASE("find_segments gives as many segments as contours have, for any number of threads") {
  Random random(3);
  for (int round = 0; round < 40; ++round) {
    const int width = 2 + static_cast<int>(random.below(150)),
              height = 2 + static_cast<int>(random.below(20));
    std::vector<float> samples(static_cast<std::size_t>(width * height));
    for (float& sample : samples)
      sample = random.below(40) == 0 ? NAN : static_cast<float>(random.below(9)) / 8;
    const ImageView image = view_of(samples, width, ElementType::F32);
    const FindContoursOptions options{
        .level = 0.5, .fully_connected = round % 2 == 0 ? Connectivity::Low : Connectivity::High};
    const FoundSegments found = find_segments(image, options);
    const FoundContours contours = find_contours(image, options);
    CHECK(found.level == 0.5);
    CHECK(found.count() == contours.points.size() - contours.count());
    FindContoursOptions shared = options;
    shared.threads = 3;
    const FoundSegments again = find_segments(image, shared);
    REQUIRE(again.count() == found.count());
    for (std::size_t i = 0; i < found.count(); ++i) {
      CHECK(again.points[2 * i] == found.points[2 * i]);
      CHECK(again.points[2 * i + 1] == found.points[2 * i + 1]);
      const CellPlace cell = found.cells[i];
      CHECK((i == 0 || found.cells[i - 1].row < cell.row ||
             (found.cells[i - 1].row == cell.row && found.cells[i - 1].col <= cell.col)));
      for (const PointD& point : {found.points[2 * i], found.points[2 * i + 1]}) {
        CHECK((point.row >= cell.row && point.row <= cell.row + 1));
        CHECK((point.col >= cell.col && point.col <= cell.col + 1));
      }
    }
  }
}

TEST_CASE("the segments of a saddle are in the order of the table, and scaled samples are read as numbers") {
  const std::vector<std::uint8_t> samples{255, 0, 0, 255};
  const ImageView image = view_of(samples, 2, ElementType::U8);
  const FoundSegments low = find_segments(image, {.level = 0.5, .scale = probability_scale(ElementType::U8)});
  REQUIRE(low.count() == 2);
  CHECK(low.points[0] == PointD{0, 0.5});
  CHECK(low.points[1] == PointD{0.5, 0});
  CHECK(low.points[2] == PointD{1, 0.5});
  CHECK(low.points[3] == PointD{0.5, 1});
  const FoundSegments high = find_segments(image, {.level = 127.5, .fully_connected = Connectivity::High});
  REQUIRE(high.count() == 2);
  CHECK(high.points[0] == PointD{0, 0.5});
  CHECK(high.points[1] == PointD{0.5, 1});
}

TEST_CASE("find_segments refuses what find_contours refuses") {
  const std::vector<float> samples(5);
  CHECK_THROWS_WITH_AS(find_segments(view_of(samples, 5, ElementType::F32)),
                       "the image has 1 rows and 5 columns, allowed 2 to 65536 each", Error);
}
