// What scores and records are made of: regions of contours, distances between their pixels, which frames are
// taken, and the names of files.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/pipeline/fakes.h"
#include "tests/stages/harness.h"
#include "tools/replay/frames.h"
#include "tools/replay/limited_source.h"
#include "tools/replay/record.h"
#include "tools/replay/region.h"

namespace contorno {
namespace {

using test::TestContour;

PixelRegion region_from(const std::vector<std::string>& rows) {
  PixelRegion region{static_cast<int>(rows[0].size()), static_cast<int>(rows.size()), {}};
  for (const std::string& row : rows)
    for (const char pixel : row) region.in.push_back(pixel == '#' ? 1 : 0);
  return region;
}

std::vector<std::string> rows_of(const PixelRegion& region) {
  std::vector<std::string> rows;
  for (int y = 0; y < region.height; ++y) {
    rows.emplace_back();
    for (int x = 0; x < region.width; ++x) rows.back() += region.in[region.index(x, y)] != 0 ? '#' : '.';
  }
  return rows;
}

using Rows = std::vector<std::string>;

TEST_CASE("the edge of a region is what has a neighbour outside, the border of the image too") {
  CHECK(rows_of(edge_of(region_from({".......", ".#####.", ".#####.", ".#####.", "......."}))) ==
        Rows{".......", ".#####.", ".#...#.", ".#####.", "......."});
  CHECK(rows_of(edge_of(region_from({"####", "####", "####"}))) == Rows{"####", "#..#", "####"});
  CHECK(rows_of(edge_of(region_from({"#####", "#####", "##.##", "#####", "#####"}))) ==
        Rows{"#####", "#.#.#", "##.##", "#.#.#", "#####"});
  CHECK(rows_of(edge_of(region_from({"..", "#.", ".."}))) == Rows{"..", "#.", ".."});
}

TEST_CASE("squared distances are those to the nearest of all pixels of a region") {
  std::uint32_t state = 7;
  const auto random = [&](std::uint32_t below) {
    state = state * 1664525 + 1013904223;
    return (state >> 16) % below;
  };
  for (const auto& [width, height, pixels] :
       {std::tuple{1, 1, 1}, {9, 1, 2}, {1, 9, 2}, {12, 7, 1}, {13, 17, 3}, {20, 20, 40}, {31, 5, 4}}) {
    CAPTURE(width);
    CAPTURE(height);
    PixelRegion region{width, height, std::vector<std::uint8_t>(static_cast<std::size_t>(width * height))};
    for (int i = 0; i < pixels; ++i) region.in[random(static_cast<std::uint32_t>(width * height))] = 1;
    const std::vector<std::int64_t> found = squared_distances(region);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        std::int64_t wanted = std::numeric_limits<std::int64_t>::max();
        for (int v = 0; v < height; ++v)
          for (int u = 0; u < width; ++u)
            if (region.in[region.index(u, v)] != 0)
              wanted = std::min<std::int64_t>(wanted, (u - x) * (u - x) + (v - y) * (v - y));
        CHECK(found[region.index(x, y)] == wanted);
      }
  }
}

/// A polygon, clockwise on screen.
TestContour ring(double x, double y, double radius, int points, bool turned = false) {
  TestContour one{0, true, {}};
  for (int i = 0; i <= points; ++i) {
    const double angle = 2 * std::numbers::pi * (turned ? -i : i) / points;
    one.points.emplace_back(x + radius * std::cos(angle), y + radius * std::sin(angle));
  }
  return one;
}

TEST_CASE("the region of a class is what its closed contours wind around, holes left out, at any size") {
  const std::vector<TestContour> contours{ring(15.3, 12.1, 9.2, 40),
                                          ring(15.3, 12.1, 4.1, 30, true),
                                          ring(32.7, 20.4, 5.3, 5),
                                          {0, false, {{2, 2}, {8, 2}, {8, 8}}}};
  const test::TestContours given(40, 30, 1, contours);
  for (const auto& [width, height] : {std::pair{40, 30}, {80, 60}, {57, 31}, {10, 10}}) {
    CAPTURE(width);
    const PixelRegion high = region_of_class(given.view, 0, Orientation::Low, width, height);
    int wrong = 0;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const double map_x = (x + 0.5) * 40 / width - 0.5, map_y = (y + 0.5) * 30 / height - 0.5;
        // Crossings of a line to the right, of all rings: the parity is that of the winding here.
        bool inside = false;
        for (const TestContour& one : contours)
          for (std::size_t i = 1; one.closed && i < one.points.size(); ++i) {
            const auto [ax, ay] = one.points[i - 1];
            const auto [bx, by] = one.points[i];
            if ((ay > map_y) != (by > map_y) && map_x < ax + (map_y - ay) * (bx - ax) / (by - ay))
              inside = !inside;
          }
        wrong += (high.in[high.index(x, y)] != 0) != inside ? 1 : 0;
      }
    CHECK(wrong == 0);
    // In the other orientation these rings are holes: all around them is high.
    const PixelRegion low = region_of_class(given.view, 0, Orientation::High, width, height);
    CHECK(low.in[low.index(0, 0)] == 1);
  }
  const test::TestContours none(4, 4, 1, {});
  CHECK(rows_of(region_of_class(none.view, 0, Orientation::Low, 3, 2)) == Rows{"...", "..."});
}

TEST_CASE("contours along the border of the map take in the pixels at the border of the image") {
  const test::TestContours given(4, 4, 1, {{0, true, {{0, 0}, {3, 0}, {3, 3}, {0, 3}, {0, 0}}}});
  CHECK(rows_of(region_of_class(given.view, 0, Orientation::Low, 4, 4)) == Rows(4, "####"));
  CHECK(rows_of(region_of_class(given.view, 0, Orientation::Low, 8, 8)) == Rows(8, "########"));
  const test::TestContours corner(4, 4, 1, {{0, true, {{0, 0}, {1.5, 0}, {1.5, 1.5}, {0, 1.5}, {0, 0}}}});
  CHECK(rows_of(region_of_class(corner.view, 0, Orientation::Low, 4, 4)) ==
        Rows{"##..", "##..", "....", "...."});
}

TEST_CASE("parts of a dataset are read as PART/PARTS and nothing else") {
  CHECK(shard_of("0/1").count == 1);
  CHECK(shard_of("7/8").index == 7);
  CHECK(shard_of("999999/1000000").count == 1'000'000);
  for (const char* text : {"", "1", "/", "1/", "/2", "8/8", "9/8", "-1/8", "1/8x", "1/8/9", "1 /8", "0/0",
                           "0/1000001", "1x8", "99999999999999999999/8"})
    CHECK_THROWS_WITH_AS(shard_of(text), doctest::Contains("allowed PART/PARTS with up to 1000000 parts"),
                         Error);
}

TEST_CASE("a selection takes each step-th place from its first to the one before its stop") {
  const FrameSelection some{.first = 5, .step = 3, .stop = 12};
  std::vector<std::uint64_t> places;
  for (std::uint64_t place = 0; place < 20; ++place)
    if (some.takes(place)) places.push_back(place);
  CHECK(places == std::vector<std::uint64_t>{5, 8, 11});
  CHECK(some.count() == 3);
  CHECK(some.place_of(2) == 11);
  CHECK(FrameSelection{.first = 5, .step = 3, .stop = 11}.count() == 2);
  CHECK(FrameSelection{.first = 5, .step = 3, .stop = 5}.count() == 0);
  CHECK(FrameSelection{.first = 5, .step = 3, .stop = 3}.count() == 0);
  CHECK(FrameSelection{}.count() == 0);
  CHECK(FrameSelection{.first = 2}.takes(1'000'000));
}

TEST_CASE("names of files of a record are places of eight digits and a value, or a failure") {
  const auto name = [](std::string_view text) {
    const auto result = result_name(text);
    return result ? std::to_string(result->place) + ":" + result->value : "none";
  };
  CHECK(name("00000017.overlay.image.crc") == "17:overlay.image");
  CHECK(name("00000000.a.jsonl") == "0:a");
  CHECK(name("123456789.a.jsonl") == "123456789:a");
  CHECK(name("00000017.failed") == "17:");
  for (const char* text :
       {"", "17.a.crc", "0000017.a.crc", "000000017.a.crc", "00000017", "00000017.", "00000017.crc",
        "00000017..crc", "00000017a.crc", "00000017.a.txt", "00000017xfailed", "00000017.failed2",
        "a0000017.a.crc", "99999999999999999999999.a.crc"})
    CHECK_MESSAGE(name(text) == "none", text);
}

/// Delivers frames of these times.
class TimesSource final : public Source {
 public:
  TimesSource(std::vector<std::int64_t> times, std::vector<ReadResult> results)
      : times_(std::move(times)), results_(std::move(results)) {}
  const StreamFormat& format() const override { return format_; }
  ReadResult read(FrameInput& input) override {
    if (next_ == times_.size()) return ReadResult::End;
    input.info.pts_ns = times_[next_];
    return results_[next_++];
  }
  void cancel() override {}

 private:
  StreamFormat format_;
  std::vector<std::int64_t> times_;
  std::vector<ReadResult> results_;
  std::size_t next_ = 0;
};

TEST_CASE("a limited source ends before the first frame that is as late as its duration") {
  using enum ReadResult;
  const auto taken = [](std::vector<std::int64_t> times, std::vector<ReadResult> results,
                        std::int64_t duration) {
    const auto limited =
        make_limited(std::make_unique<TimesSource>(std::move(times), std::move(results)), duration);
    std::vector<ReadResult> read;
    FrameInput input;
    do read.push_back(limited->read(input));
    while (read.back() != End);
    return read;
  };
  CHECK(taken({500, 590, 599, 600, 610}, {Frame, Frame, Frame, Frame, Frame}, 100) ==
        std::vector<ReadResult>{Frame, Frame, Frame, End});
  // Frames that are not usable have their times too, and a change of format has none.
  CHECK(taken({7, 500, 550, 600}, {FormatChanged, Bad, Bad, Frame}, 100) ==
        std::vector<ReadResult>{FormatChanged, Bad, Bad, End});
  CHECK(taken({0, 1}, {Frame, Frame}, 1'000'000) == std::vector<ReadResult>{Frame, Frame, End});
}

}  // namespace
}  // namespace contorno
