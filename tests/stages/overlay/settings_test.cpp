// What each setting of an overlay does, looked up in the picture: widths and fills of the stage and of a
// class, dots at points, how many contours carry labels, and where the legend stands.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "stages/overlay/stage.h"
#include "tests/stages/harness.h"

using namespace contorno;
using namespace contorno::test;

namespace {

constexpr int kWidth = 200, kHeight = 150;

/// Draws every character as a full box of half the height, so that its place can be seen.
class BoxText final : public TextRasteriser {
 public:
  TextBitmap rasterise(std::string_view text, int height) const override {
    const int width = static_cast<int>(text.size()) * height / 2;
    return {width, height, std::vector<std::uint8_t>(static_cast<std::size_t>(width * height), 255)};
  }
};

struct DrawnPicture {
  BoxText text;
  StageHarness harness;
  DrawnPicture(const Settings& settings, const std::vector<ClassSpec>& classes,
               const std::vector<TestContour>& contours)
      : harness(overlay_stage(), settings, classes) {
    const TestImage in = filled_image<std::uint8_t>({.width = kWidth, .height = kHeight, .channels = 3},
                                                    [](int, int, int) { return 0; });
    const TestContours given(kWidth, kHeight, static_cast<int>(classes.size()), contours);
    harness.text(&text).run({in.view, given.view});
  }
  int at(int x, int y, int channel = 0) { return harness.at<std::uint8_t>(x, y, channel); }
  bool drawn(int x, int y) { return at(x, y, 0) + at(x, y, 1) + at(x, y, 2) > 0; }
  /// First and last column and row of what was drawn.
  std::array<int, 4> box() {
    std::array<int, 4> found{kWidth, -1, kHeight, -1};
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        if (drawn(x, y))
          found = {std::min(found[0], x), std::max(found[1], x), std::min(found[2], y),
                   std::max(found[3], y)};
    return found;
  }
  int white() {
    int count = 0;
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x) count += at(x, y, 0) > 230 && at(x, y, 1) > 230 ? 1 : 0;
    return count;
  }
};

TestContour square(int of_class, double x, double y, double side) {
  return {of_class, true, {{x, y}, {x + side, y}, {x + side, y + side}, {x, y + side}, {x, y}}};
}

TestContour line(int of_class, double y) {
  return {of_class, false, {{20, y}, {180, y}}};
}

/// Rows above and below row `y` that are drawn at column 100, the row itself included.
int thickness(DrawnPicture& picture, int y) {
  int rows = 0;
  for (int i = -9; i <= 9; ++i) rows += picture.drawn(100, y + i) ? 1 : 0;
  return rows;
}

}  // namespace

TEST_CASE("a class has its own width and fill, else those of the stage, else the frame's width and no fill") {
  const std::vector<ClassSpec> classes{
      {.name = "own", .colour = {255, 255, 255}, .line_width = 3, .fill = 0.8},
      {.name = "other", .colour = {255, 255, 255}}};
  const auto picture = [&](const Settings& settings) {
    Settings all = settings;
    all.emplace_back("halo", 0.0);
    return DrawnPicture(all, classes,
                        {line(0, 10), square(0, 20, 80, 50), line(1, 40), square(1, 120, 80, 50)});
  };
  DrawnPicture wide = picture({{"line_width", 7.0}, {"fill", 0.4}});
  CHECK(thickness(wide, 10) == 3);
  CHECK(thickness(wide, 40) == 7);
  CHECK(wide.at(45, 105) == 204);
  CHECK(wide.at(145, 105) == 102);
  DrawnPicture plain = picture({});
  CHECK(thickness(plain, 10) == 3);
  CHECK(thickness(plain, 40) == 3);  // 1.5 px: the middle, and a quarter of its neighbours
  CHECK(plain.at(100, 40) == 255);
  CHECK(plain.at(100, 41) == 64);
  CHECK(plain.at(45, 105) == 204);
  CHECK_FALSE(plain.drawn(145, 105));
}

TEST_CASE("a halo lies on either side of a line, and on no other class's line that comes later") {
  DrawnPicture picture({{"line_width", 3.0}, {"halo", 2.0}, {"halo_colour", std::string("#0000ffff")}},
                       {{.name = "a", .colour = {255, 0, 0}}}, {line(0, 50)});
  CHECK(thickness(picture, 50) == 7);
  for (int i = -3; i <= 3; ++i) {
    CAPTURE(i);
    CHECK(picture.at(100, 50 + i, 0) == (std::abs(i) <= 1 ? 255 : 0));
    CHECK(picture.at(100, 50 + i, 2) == (std::abs(i) <= 1 ? 0 : 255));
  }
}

TEST_CASE("markers are dots of their radius at the points of contours, and nowhere else") {
  const std::vector<ClassSpec> classes{{.name = "a", .colour = {255, 255, 255}}};
  DrawnPicture picture({{"line_width", 1.0}, {"halo", 0.0}, {"markers", 5.0}}, classes, {line(0, 60)});
  for (int x : {20, 180})
    for (int dx = -8; dx <= 8; ++dx)
      for (int dy = -8; dy <= 8; ++dy) {
        if (std::abs(dy) <= 1) continue;  // the line itself
        const double distance = std::hypot(dx, dy);
        CAPTURE(dx);
        CAPTURE(dy);
        if (distance <= 4.4) CHECK(picture.at(x + dx, 60 + dy) == 255);
        if (distance >= 5.6) CHECK(picture.at(x + dx, 60 + dy) == 0);
      }
  CHECK(thickness(picture, 60) == 1);
}

TEST_CASE("as many of a class's largest contours carry labels as are asked for") {
  const std::vector<ClassSpec> classes{{.name = "a", .colour = {0, 0, 255}}};
  const std::vector<TestContour> contours{square(0, 10, 60, 20), square(0, 60, 60, 40),
                                          square(0, 140, 60, 30)};
  for (const int labels : {0, 1, 2, 3}) {
    CAPTURE(labels);
    DrawnPicture picture({{"labels", std::int64_t{labels}}, {"text_height", std::int64_t{16}}, {"halo", 0.0}},
                         classes, contours);
    const auto labelled = [&](int x) { return picture.drawn(x, 52) && picture.drawn(x, 49); };
    CHECK(labelled(80) == (labels >= 1));
    CHECK(labelled(155) == (labels >= 2));
    CHECK(labelled(20) == (labels >= 3));
  }
}

TEST_CASE("the legend stands as far from its corner in each of them, and lists what is not hidden") {
  const std::vector<ClassSpec> classes{{.name = "apple", .colour = {255, 0, 0}},
                                       {.name = "floor", .hidden = true},
                                       {.name = "pear", .colour = {0, 255, 0}}};
  const auto box_at = [&](const char* corner, const std::vector<ClassSpec>& of) {
    return DrawnPicture({{"legend", std::string(corner)}, {"text_height", std::int64_t{20}}}, of, {}).box();
  };
  // Margins are half a line: around the panel and inside it.
  const int margin = 10, width = 2 * margin + 13 + 7 + 50, height = 2 * margin + 25 + 20;
  CHECK(box_at("top_left", classes) ==
        std::array<int, 4>{margin, margin + width - 1, margin, margin + height - 1});
  CHECK(box_at("top_right", classes) ==
        std::array<int, 4>{kWidth - margin - width, kWidth - margin - 1, margin, margin + height - 1});
  CHECK(box_at("bottom_left", classes) ==
        std::array<int, 4>{margin, margin + width - 1, kHeight - margin - height, kHeight - margin - 1});
  CHECK(box_at("bottom_right", classes) == std::array<int, 4>{kWidth - margin - width, kWidth - margin - 1,
                                                              kHeight - margin - height,
                                                              kHeight - margin - 1});
  CHECK(box_at("none", classes)[1] == -1);
  CHECK(box_at("top_left", {{.name = "floor", .hidden = true}})[1] == -1);
}

TEST_CASE(
    "the counts in a legend have a digit for each of their number's, with their right ends in one line") {
  const std::vector<ClassSpec> classes{{.name = "a", .colour = {255, 0, 0}},
                                       {.name = "b", .colour = {0, 255, 0}}};
  constexpr int kDigit = 10 * 20;  // white pixels of a box of this text
  const auto white = [&](int of_a, int of_b, bool counts) {
    std::vector<TestContour> contours;
    for (int i = 0; i < of_a + of_b; ++i)
      contours.push_back({i < of_a ? 0 : 1, false, {{100.0 + i % 90, 140}, {100.0 + i % 90, 141}}});
    return DrawnPicture({{"legend", std::string("top_left")},
                         {"counts", counts},
                         {"text_height", std::int64_t{20}},
                         {"halo", 0.0}},
                        classes, contours)
        .white();
  };
  const int names = white(3, 4, false);
  CHECK(names == 2 * kDigit);
  CHECK(white(0, 9, true) - names == 2 * kDigit);
  CHECK(white(10, 9, true) - names == 3 * kDigit);
  CHECK(white(10, 104, true) - names == 5 * kDigit);
}
