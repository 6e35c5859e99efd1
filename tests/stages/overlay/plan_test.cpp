// Where the parts of legends and labels lie, to the pixel, for texts of several heights; and what heights
// texts and widths lines have where nothing is set.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "stages/overlay/stage.h"
#include "tests/stages/harness.h"

using namespace contorno;
using namespace contorno::test;

namespace {

/// Every character is a full box of half its height; notes what it is asked for.
class NotedText final : public TextRasteriser {
 public:
  TextBitmap rasterise(std::string_view text, int height) const override {
    {
      const std::lock_guard lock(mutex_);
      asked_.emplace_back(text, height);
    }
    const int width = static_cast<int>(text.size()) * height / 2;
    return {width, height, std::vector<std::uint8_t>(static_cast<std::size_t>(width * height), 255)};
  }
  int height_of(std::string_view text) const {
    for (const auto& [word, height] : asked_)
      if (word == text) return height;
    return -1;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::vector<std::pair<std::string, int>> asked_;
};

struct OnWhite {
  NotedText text;
  StageHarness harness;
  int width, height;
  OnWhite(int width, int height, const Settings& settings, const std::vector<ClassSpec>& classes,
          const std::vector<TestContour>& contours = {})
      : harness(overlay_stage(), settings, classes), width(width), height(height) {
    const TestImage in = filled_image<std::uint8_t>({.width = width, .height = height, .channels = 3},
                                                    [](int, int, int) { return 255; });
    const TestContours given(width, height, static_cast<int>(classes.size()), contours);
    harness.text(&text).run({in.view, given.view});
  }
  int at(int x, int y, int channel = 0) { return harness.at<std::uint8_t>(x, y, channel); }
  bool is(int x, int y, const Colour& colour) {
    return std::abs(at(x, y, 0) - colour.red) <= 1 && std::abs(at(x, y, 1) - colour.green) <= 1 &&
           std::abs(at(x, y, 2) - colour.blue) <= 1;
  }
  /// First and last column of `colour` in a row, -1 where there is none.
  std::pair<int, int> columns(int y, const Colour& colour) {
    std::pair<int, int> found{-1, -1};
    for (int x = 0; x < width; ++x)
      if (is(x, y, colour)) found = {found.first < 0 ? x : found.first, x};
    return found;
  }
  std::pair<int, int> rows(int x, const Colour& colour) {
    std::pair<int, int> found{-1, -1};
    for (int y = 0; y < height; ++y)
      if (is(x, y, colour)) found = {found.first < 0 ? y : found.first, y};
    return found;
  }
};

using Range = std::pair<int, int>;
// The panel lets a fifth of what is below through.
constexpr Colour kPanelOnWhite{66, 68, 72, 255}, kInk{245, 246, 248, 255}, kRed{255, 0, 0, 255},
    kBlue{0, 0, 255, 255};

}  // namespace

TEST_CASE("the parts of a legend lie where its measures say, for every height of text") {
  struct Case {
    int line, margin, step, swatch, gap;
  };
  for (const Case& one :
       {Case{20, 10, 25, 13, 7}, {14, 7, 17, 9, 5}, {9, 4, 11, 6, 3}, {30, 15, 37, 20, 11}}) {
    CAPTURE(one.line);
    OnWhite picture(300, 200, {{"legend", std::string("top_left")}, {"text_height", std::int64_t{one.line}}},
                    {{.name = "ab", .colour = kRed}, {.name = "c", .colour = kBlue, .fill = 0.5}});
    const int left = one.margin, inside = 2 * one.margin, name = inside + one.swatch + one.gap;
    const int width = 2 * one.margin + one.swatch + one.gap + one.line,
              height = 2 * one.margin + one.step + one.line;
    // The panel, between its round corners.
    const int middle_x = left + width / 2, between = left + one.margin + one.line + (one.step - one.line) / 2;
    CHECK(picture.rows(middle_x, kPanelOnWhite) == Range{left, left + height - 1});
    CHECK(picture.columns(between, kPanelOnWhite) == Range{left, left + width - 1});
    CHECK_FALSE(picture.is(left, left, kPanelOnWhite));
    CHECK_FALSE(picture.is(left + width - 1, left + height - 1, kPanelOnWhite));
    CHECK(picture.is(middle_x, left, kPanelOnWhite));
    // Names.
    const int first = left + one.margin, second = first + one.step;
    CHECK(picture.columns(first + one.line / 2, kInk) ==
          Range{name, name + 2 * (one.line / 2) + one.line % 2 - 1});
    CHECK(picture.rows(name, kInk) == Range{first, second + one.line - 1});
    // The square of the first class, and that of the second, which is filled.
    const int top = first + (one.line - one.swatch) / 2, half = one.swatch / 2;
    CHECK(picture.columns(top + half, kRed) == Range{inside, inside + one.swatch - 1});
    const double line = std::max(2.0, one.swatch / 6.0);
    const Colour tinted{64, 64, 192, 255};
    CHECK(picture.is(inside + half, second + one.line / 2, tinted));
    CHECK(picture.columns(second + one.line / 2, kBlue).first == inside);
    const auto inner = picture.columns(second + one.line / 2, tinted);
    CHECK(inner.first == inside + static_cast<int>(std::ceil(line - 1e-9)));
    CHECK(inner.second == inside + one.swatch - 1 - static_cast<int>(std::ceil(line - 1e-9)));
  }
}

TEST_CASE("counts end a margin before the end of the panel, which has room for five digits") {
  std::vector<TestContour> contours;
  for (int i = 0; i < 12; ++i) contours.push_back({0, false, {{250.0, 150.0 + i}, {251.0, 150.0 + i}}});
  OnWhite picture(300, 200,
                  {{"legend", std::string("top_left")}, {"text_height", std::int64_t{20}}, {"counts", true}},
                  {{.name = "ab", .colour = kRed}}, contours);
  // Margin, square, gap, two letters, margin, five digits, margin.
  const int width = 10 + 13 + 7 + 20 + 10 + 5 * 10 + 10;
  CHECK(picture.columns(18, kPanelOnWhite) == Range{10, 10 + width - 1});
  CHECK(picture.columns(30, kInk) == Range{10 + 10 + 13 + 7, 10 + width - 10 - 1});
  CHECK(picture.is(10 + width - 10 - 20, 30, kInk));
  CHECK_FALSE(picture.is(10 + width - 10 - 21, 30, kInk));
}

TEST_CASE("a legend without a rasteriser of text has its panel and squares, with and without counts") {
  const auto drawn = [](bool counts) {
    StageHarness harness(
        overlay_stage(),
        {{"legend", std::string("top_left")}, {"text_height", std::int64_t{20}}, {"counts", counts}},
        {{.name = "ab", .colour = kRed}});
    const TestImage in = filled_image<std::uint8_t>({.width = 300, .height = 200, .channels = 3},
                                                    [](int, int, int) { return 255; });
    const TestContours given(300, 200, 1, {{0, false, {{250.0, 150.0}, {251.0, 150.0}}}});
    harness.run({in.view, given.view});
    std::vector<int> samples;
    for (int y = 0; y < 200; ++y)
      for (int x = 0; x < 300; ++x) samples.push_back(harness.at<std::uint8_t>(x, y, 1));
    return samples;
  };
  const std::vector<int> without = drawn(false);
  CHECK(without == drawn(true));
  CHECK(std::count(without.begin(), without.end(), 0) > 100);  // the square of the class, and its contour
}

TEST_CASE("texts are a 36th of the frame's height, from 14 to 64 px, and those of labels four fifths of it") {
  struct Case {
    int height, line, label;
  };
  for (const Case& one : {Case{100, 14, 12},
                          {539, 14, 12},
                          {540, 15, 12},
                          {720, 20, 16},
                          {2303, 63, 50},
                          {2340, 64, 51},
                          {3000, 64, 51}}) {
    CAPTURE(one.height);
    OnWhite picture(
        80, one.height,
        {{"legend", std::string("top_left")}, {"labels", std::int64_t{1}}, {"label", std::string("it")}},
        {{.name = "name"}});
    CHECK(picture.text.height_of("name") == one.line);
    CHECK(picture.text.height_of("it") == one.label);
  }
  OnWhite set(80, 3000, {{"legend", std::string("top_left")}, {"text_height", std::int64_t{17}}},
              {{.name = "name"}});
  CHECK(set.text.height_of("name") == 17);
}

TEST_CASE("lines are a 450th of the shorter side wide, 1.5 px at least, where no width is set") {
  const auto column = [](int width, int height, Settings settings) {
    settings.emplace_back("halo", 0.0);
    OnWhite picture(width, height, settings, {{.name = "a", .colour = {0, 0, 0}}},
                    {{0, false, {{20, 100}, {180, 100}}}});
    std::vector<int> values;
    for (int y = 90; y <= 110; ++y) values.push_back(picture.at(100, y));
    return values;
  };
  for (const auto& [width, height, wanted] :
       {std::tuple{200, 300, 1.5}, {675, 900, 1.5}, {720, 900, 1.6}, {1350, 1400, 3.0}, {1400, 1350, 3.0}}) {
    CAPTURE(width);
    CHECK(column(width, height, {}) == column(width, height, {{"line_width", wanted}}));
    CHECK(column(width, height, {}) != column(width, height, {{"line_width", wanted + 0.1}}));
  }
}

TEST_CASE(
    "a label is a box with a margin of a third of its text on both sides, over the top of its contour") {
  OnWhite picture(
      300, 200,
      {{"labels", std::int64_t{1}}, {"text_height", std::int64_t{20}}, {"halo", 0.0}, {"line_width", 1.0}},
      {{.name = "abc", .colour = kBlue}},
      {{0, true, {{100, 100}, {180, 100}, {180, 150}, {100, 150}, {100, 100}}}});
  // 16 px of text in a box of 18: three letters of 8 px and 5 px on each side.
  Range rows{-1, -1};
  for (int y = 0; y < 200; ++y)
    if (picture.columns(y, kInk).first >= 0) rows = {rows.first < 0 ? y : rows.first, y};
  CHECK(rows.second - rows.first + 1 == 16);
  const Range letters = picture.columns(rows.first + 8, kInk);
  CHECK(letters.second - letters.first + 1 == 24);
  int left = letters.first, right = letters.second;
  while (left > 0 && picture.at(left - 1, rows.first + 8) < 255) --left;
  while (right < 299 && picture.at(right + 1, rows.first + 8) < 255) ++right;
  CHECK(letters.first - left == 5);
  CHECK(right - letters.second == 5);
  CHECK(picture.at(letters.first, rows.first - 1) < 255);
  CHECK(picture.at(letters.first, rows.first - 2) == 255);
}
