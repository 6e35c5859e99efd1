#include "stages/overlay/stage.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "stages/overlay/label_text.h"
#include "tests/stages/harness.h"

using namespace contorno;
using namespace contorno::test;

namespace {

/// Draws every text as a full box, so that its place can be seen.
class BoxText final : public TextRasteriser {
 public:
  TextBitmap rasterise(std::string_view text, int height) const override {
    const int width = static_cast<int>(text.size()) * height / 2;
    return {width, height, std::vector<std::uint8_t>(static_cast<std::size_t>(width * height), 255)};
  }
};

const Settings kPlain{{"line_width", 2.0}, {"halo", 0.0}};

TestImage noise_frame(int width, int height, int channels, std::size_t row_extra = 0) {
  Random random(31);
  return filled_image<std::uint8_t>(
      {.width = width, .height = height, .channels = channels},
      [&](int, int, int) { return random.below(256); }, row_extra);
}

TestImage black_frame(int width, int height) {
  return filled_image<std::uint8_t>({.width = width, .height = height, .channels = 3},
                                    [](int, int, int) { return 0; });
}

TestContour blob(int class_index, double x, double y, double radius, int points, std::uint64_t seed) {
  Random random(seed);
  TestContour contour{class_index, true, {}};
  for (int i = 0; i < points; ++i) {
    const double angle = 2 * 3.14159265358979 * i / points, r = radius * (0.8 + 0.4 * random.unit());
    contour.points.emplace_back(x + r * std::cos(angle), y + r * std::sin(angle));
  }
  contour.points.push_back(contour.points.front());
  return contour;
}

double distance_to_segment(double px, double py, std::pair<double, double> a, std::pair<double, double> b) {
  const double dx = b.first - a.first, dy = b.second - a.second, squared = dx * dx + dy * dy;
  const double t =
      squared > 0 ? std::clamp(((px - a.first) * dx + (py - a.second) * dy) / squared, 0.0, 1.0) : 0;
  return std::hypot(px - a.first - t * dx, py - a.second - t * dy);
}

bool is_inside(double px, double py, const TestContour& contour) {
  bool inside = false;
  for (std::size_t i = 0; i + 1 < contour.points.size(); ++i) {
    const auto [ax, ay] = contour.points[i];
    const auto [bx, by] = contour.points[i + 1];
    if ((ay <= py) != (by <= py) && px >= ax + (py - ay) * (bx - ax) / (by - ay)) inside = !inside;
  }
  return inside;
}

/// The drawing by brute force: every pixel looks at every segment, in double, with blends that are not
/// rounded.
std::vector<double> naive(const TestImage& in, const std::vector<TestContour>& contours,
                          const std::vector<ClassSpec>& classes, double halo, Colour halo_colour) {
  const ImageFormat& format = in.view.format;
  std::vector<double> out;
  const auto overlap = [](double d, double half) {
    return std::max(0.0, std::min(half, d + 0.5) - std::max(-half, d - 0.5));
  };
  for (int y = 0; y < format.height; ++y)
    for (int x = 0; x < format.width; ++x) {
      double rgb[] = {double(in.at<std::uint8_t>(x, y, 0)), double(in.at<std::uint8_t>(x, y, 1)),
                      double(in.at<std::uint8_t>(x, y, 2))};
      const auto blend = [&](const Colour& c, double alpha) {
        const double target[] = {double(c.red), double(c.green), double(c.blue)};
        for (int i = 0; i < 3; ++i) rgb[i] += alpha * (target[i] - rgb[i]);
      };
      for (std::size_t k = 0; k < classes.size(); ++k) {
        if (classes[k].hidden) continue;
        double d = 1e9;
        bool inside = false;
        for (const TestContour& contour : contours) {
          if (contour.class_index != static_cast<int>(k)) continue;
          for (std::size_t i = 0; i + 1 < contour.points.size(); ++i)
            d = std::min(d, distance_to_segment(x, y, contour.points[i], contour.points[i + 1]));
          if (contour.closed && is_inside(x, y, contour)) inside = !inside;
        }
        const double alpha = classes[k].colour.alpha / 255.0, half = classes[k].line_width / 2;
        blend(classes[k].colour,
              classes[k].fill * alpha * (inside ? 0.5 + std::min(0.5, d) : 0.5 - std::min(0.5, d)));
        blend(halo_colour, overlap(d, half + halo) * halo_colour.alpha / 255.0);
        blend(classes[k].colour, overlap(d, half) * alpha);
      }
      out.insert(out.end(), rgb, rgb + 3);
    }
  return out;
}

}  // namespace

TEST_CASE("a blend is the rounded mean for every value, and keeps both ends") {
  int wrong = 0;
  for (unsigned alpha = 0; alpha < 256; ++alpha)
    for (unsigned source = 0; source < 256; ++source)
      for (unsigned target = 0; target < 256; ++target)
        wrong += blend_byte(target, source, alpha) != (alpha * source + (255 - alpha) * target + 127) / 255;
  CHECK(wrong == 0);
}

TEST_CASE("a pixel in one word is blended as its bytes are, and keeps its fourth") {
  Random random(5);
  int wrong = 0;
  for (unsigned alpha = 0; alpha < 256; ++alpha)
    for (int n = 0; n < 400; ++n) {
      // All ones and all zeros carry furthest.
      const auto any = [&] { return n < 8 ? std::uint32_t(0) - (random.bits() & 1U) : random.bits(); };
      std::uint32_t word = any();
      const std::uint32_t source = any();
      const Colour colour{std::uint8_t(source), std::uint8_t(source >> 8U), std::uint8_t(source >> 16U)};
      std::uint8_t bytes[] = {std::uint8_t(word), std::uint8_t(word >> 8U), std::uint8_t(word >> 16U),
                              std::uint8_t(word >> 24U)};
      blend_pixel(&word, colour, alpha);
      blend_pixel(bytes, colour, alpha);
      for (unsigned c = 0; c < 4; ++c) wrong += bytes[c] != std::uint8_t(word >> (8 * c));
    }
  CHECK(wrong == 0);
}

TEST_CASE("the running parity of a word is that of its lower bits") {
  Random random(3);
  for (int n = 0; n < 100; ++n) {
    const std::uint32_t bits = random.bits(), parity = running_parity(bits);
    for (unsigned i = 0; i < 32; ++i)
      CHECK(((parity >> i) & 1U) == (static_cast<unsigned>(std::popcount(bits << (31 - i))) & 1U));
  }
}

TEST_CASE("an overlay without contours is the frame, in another place") {
  for (const int channels : {3, 4}) {
    const TestImage in = noise_frame(67, 35, channels, 9);
    const TestContours none(67, 35, 1, {});
    StageHarness harness(overlay_stage(), kPlain, {{.name = "a"}});
    harness.run({in.view, none.view});
    CHECK(harness.image().data != in.view.data);
    for (int y = 0; y < 35; ++y)
      for (int x = 0; x < 67; ++x)
        for (int c = 0; c < channels; ++c)
          CHECK(harness.at<std::uint8_t>(x, y, c) == in.at<std::uint8_t>(x, y, c));
  }
}

TEST_CASE("a line through pixel centres covers them whole and its neighbours half") {
  const TestImage in = black_frame(40, 12);
  const TestContours line(40, 12, 1, {{0, false, {{5, 6}, {30, 6}}}});
  StageHarness harness(overlay_stage(), kPlain, {{.name = "a", .colour = {255, 255, 255}}});
  harness.run({in.view, line.view});
  CHECK(harness.at<std::uint8_t>(20, 6) == 255);
  CHECK(harness.at<std::uint8_t>(20, 5) == 128);
  CHECK(harness.at<std::uint8_t>(20, 7) == 128);
  CHECK(harness.at<std::uint8_t>(20, 8) == 0);
  CHECK(harness.at<std::uint8_t>(4, 6) == 128);
  CHECK(harness.at<std::uint8_t>(3, 6) == 0);
}

TEST_CASE("an overlay is what a pixel-by-pixel renderer in double draws") {
  const Colour halo{0, 0, 0, 150};
  const std::vector<ClassSpec> classes{{.name = "a", .colour = {255, 60, 90}, .line_width = 2.5, .fill = 0.4},
                                       {.name = "b", .colour = {30, 200, 250, 180}, .line_width = 0.7},
                                       {.name = "c", .colour = {250, 220, 40}, .line_width = 6, .fill = 0.8},
                                       {.name = "d", .line_width = 3, .hidden = true}};
  const std::vector<TestContour> contours{
      blob(0, 40, 30, 22, 60, 1),     blob(0, 45, 35, 8, 9, 2),
      blob(0, 126, 50, 30, 300, 3),   {1, false, {{-20, -9}, {170, 95}, {3, 60}}},
      {1, false, {{66, 2}, {66, 2}}}, blob(2, 80, 60, 15, 5, 5),
      blob(3, 20, 20, 10, 30, 6)};
  const TestImage in = noise_frame(131, 97, 3, 5);
  const TestContours given(131, 97, 4, contours);
  StageHarness harness(overlay_stage(), {{"halo", 1.0}, {"halo_colour", std::string("#00000096")}}, classes);
  harness.run({in.view, given.view});
  const auto expected = naive(in, contours, classes, 1.0, halo);
  double worst = 0, changed = 0;
  for (int y = 0; y < 97; ++y)
    for (int x = 0; x < 131; ++x)
      for (int c = 0; c < 3; ++c) {
        const double drawn = harness.at<std::uint8_t>(x, y, c);
        worst = std::max(worst, std::abs(drawn - expected[std::size_t((y * 131 + x) * 3 + c)]));
        changed += drawn != in.at<std::uint8_t>(x, y, c);
      }
  // Each of up to nine blends rounds its coverage and its result.
  CHECK(worst < 4.0);
  CHECK(changed > 5000);
}

TEST_CASE(
    "an overlay has the same bytes for any number of threads, any stride and any order of its segments") {
  std::vector<TestContour> contours, turned;
  for (int i = 0; i < 40; ++i)
    contours.push_back(blob(i / 20, (i * 37) % 200, (i * 61) % 150, 5 + i, 20 + 9 * i, std::uint64_t(i)));
  turned = contours;
  std::reverse(turned.begin(), turned.begin() + 20);
  for (auto& contour : turned) std::reverse(contour.points.begin(), contour.points.end());
  const std::vector<ClassSpec> classes{{.name = "a", .colour = {200, 90, 20}, .fill = 0.3},
                                       {.name = "b", .colour = {20, 90, 220}}};
  const TestImage tight = noise_frame(200, 150, 4), loose = noise_frame(200, 150, 4, 11);
  const TestContours given(200, 150, 2, contours), reversed(200, 150, 2, turned);
  const BoxText text;
  const Settings settings{{"legend", std::string("bottom_right")}, {"counts", true}, {"markers", 2.0}};
  StageHarness one(overlay_stage(), settings, classes);
  one.text(&text).run({tight.view, given.view});
  for (const int threads : {2, 3, 9}) {
    StageHarness many(overlay_stage(), settings, classes);
    many.text(&text).threads(threads).output_row_extra(5).run({loose.view, given.view});
    CHECK(many.bytes() == one.bytes());
  }
  // Parity and distances do not care where a contour begins; the sums inside one distance may differ by a
  // rounding.
  StageHarness other(overlay_stage(), settings, classes);
  other.text(&text).run({tight.view, reversed.view});
  const auto a = one.bytes(), b = other.bytes();
  int far = 0;
  for (std::size_t i = 0; i < a.size(); ++i) far += std::abs(int(a[i]) - int(b[i])) > 1;
  CHECK(far == 0);
}

TEST_CASE("the legend of an overlay counts objects and no holes where objects are followed") {
  const TestImage in = black_frame(200, 120);
  const auto box = [](double x, double half) {
    return TestContour{0,
                       true,
                       {{x - half, 20 - half},
                        {x + half, 20 - half},
                        {x + half, 20 + half},
                        {x - half, 20 + half},
                        {x - half, 20 - half}}};
  };
  const BoxText text;
  const Settings settings{
      {"legend", std::string("bottom_right")}, {"counts", true}, {"labels", std::int64_t{3}}};
  const auto drawn = [&](const std::vector<TestContour>& contours, const std::vector<double>& ids) {
    const TestContours given(200, 120, 1, contours, {},
                             ids.empty() ? Attributes() : Attributes(Attribute::Id));
    if (!ids.empty()) std::copy(ids.begin(), ids.end(), given.view.column(Attribute::Id));
    StageHarness harness(overlay_stage(), settings, {{.name = "a", .colour = {255, 255, 255}}});
    harness.text(&text).run({in.view, given.view});
    return harness.bytes();
  };
  // They lie over each other, so that the numbers in the legend alone differ: 10 and 9.
  const std::vector<TestContour> ten(10, box(20, 15)), nine(9, box(20, 15));
  std::vector<double> ids(10, 1), ids_and_hole = ids;
  ids_and_hole[4] = NAN;
  const auto objects = drawn(ten, ids), hole = drawn(ten, ids_and_hole),
             one = drawn(nine, std::vector<double>(9, 1)), without = drawn(ten, {});
  CHECK(hole == one);
  CHECK(objects == without);
  CHECK(objects != hole);
}

TEST_CASE("an overlay scales contours of a smaller map to the frame") {
  const TestImage in = black_frame(80, 40);
  // A map of half the size: its sample x lies at frame position 2 x + 0.5.
  const TestContours line(40, 20, 1, {{0, false, {{10, 2}, {10, 17}}}}, {.scale_x = 2, .scale_y = 2});
  StageHarness harness(overlay_stage(), kPlain, {{.name = "a", .colour = {255, 255, 255}}});
  harness.run({in.view, line.view});
  CHECK(harness.at<std::uint8_t>(20, 20) == 255);
  CHECK(harness.at<std::uint8_t>(21, 20) == 255);
  CHECK(harness.at<std::uint8_t>(19, 20) == 0);
  CHECK(harness.at<std::uint8_t>(22, 20) == 0);
}

TEST_CASE("an overlay that needs more references says so and is whole the second time") {
  const TestImage in = noise_frame(130, 70, 3);
  const TestContours given(130, 70, 1, {blob(0, 60, 35, 30, 90, 7)});
  StageHarness plenty(overlay_stage(), kPlain, {{.name = "a"}}),
      scarce(overlay_stage(), kPlain, {{.name = "a"}});
  plenty.run({in.view, given.view});
  scarce.first_capacity(3).run({in.view, given.view});
  CHECK(plenty.regrown() == 0);
  CHECK(scarce.regrown() == 1);
  CHECK(scarce.bytes() == plenty.bytes());
}

TEST_CASE("an overlay leaves contours alone that did not fit upstream") {
  const TestImage in = noise_frame(30, 20, 3);
  TestContours given(30, 20, 1, {blob(0, 15, 10, 8, 12, 7)});
  given.view.counts->points = 1000000;
  StageHarness harness(overlay_stage(), kPlain, {{.name = "a"}});
  harness.run({in.view, given.view});
  CHECK(harness.at<std::uint8_t>(15, 10) == in.at<std::uint8_t>(15, 10));
}

TEST_CASE("points that are no numbers or far outside do no harm") {
  const TestImage in = noise_frame(64, 64, 3);
  const double nan = std::nan(""), inf = HUGE_VAL;
  const TestContours given(64, 64, 1,
                           {{0, true, {{nan, 5}, {inf, -inf}, {1e30, 1e30}, {-1e30, 4}, {nan, 5}}}});
  StageHarness harness(overlay_stage(), {{"fill", 0.5}}, {{.name = "a"}});
  harness.run({in.view, given.view});
}

TEST_CASE("the legend stands in its corner and labels at the largest contours") {
  const BoxText text;
  const TestImage in = black_frame(200, 150);
  const TestContours given(200, 150, 2, {blob(0, 100, 90, 30, 50, 1), blob(0, 30, 120, 4, 50, 1)});
  const std::vector<ClassSpec> classes{{.name = "apple", .colour = {255, 0, 0}},
                                       {.name = "b", .hidden = true}};
  StageHarness harness(
      overlay_stage(),
      {{"legend", std::string("top_left")}, {"labels", std::int64_t{1}}, {"text_height", std::int64_t{16}}},
      classes);
  harness.text(&text).run({in.view, given.view});
  // The panel over black is dark but not black; the first swatch is the class's colour.
  CHECK(harness.at<std::uint8_t>(9 + 8 + 5, 8 + 8 + 8, 0) == 255);
  CHECK(harness.at<std::uint8_t>(9 + 8 + 5, 8 + 8 + 8, 1) == 0);
  CHECK(harness.at<std::uint8_t>(12, 12, 2) > 0);
  CHECK(harness.at<std::uint8_t>(190, 140, 2) == 0);
  // The label's text box lies above the large contour.
  int white = 0;
  for (int y = 34; y < 70; ++y)
    for (int x = 70; x < 130; ++x) white += harness.at<std::uint8_t>(x, y, 1) > 200;
  CHECK(white == 5 * 12 / 2 * 12);
}

TEST_CASE(
    "a legend shows the fill of a class as it looks on a middle grey, in a frame of the class's colour") {
  const BoxText text;
  const TestImage in = black_frame(200, 150);
  const TestContours given(200, 150, 2, {});
  StageHarness harness(
      overlay_stage(), {{"legend", std::string("top_left")}, {"text_height", std::int64_t{24}}},
      {{.name = "rot", .colour = {255, 0, 100}, .fill = 0.25}, {.name = "fruit", .colour = {0, 200, 0}}});
  harness.text(&text).run({in.view, given.view});
  const auto at = [&](int x, int y) {
    return std::array<int, 3>{harness.at<std::uint8_t>(x, y, 0), harness.at<std::uint8_t>(x, y, 1),
                              harness.at<std::uint8_t>(x, y, 2)};
  };
  // Margin of the panel 12 px, of what is in it 12 px more; a swatch is 16 px, 4 px below the top of its
  // line.
  CHECK(at(24 + 8, 24 + 4 + 8) == std::array<int, 3>{160, 96, 121});
  CHECK(at(24 + 1, 24 + 4 + 8) == std::array<int, 3>{255, 0, 100});
  CHECK(at(24 + 8, 24 + 30 + 4 + 8) == std::array<int, 3>{0, 200, 0});
}

TEST_CASE("letters on a class's colour are dark where it is brighter than 140 of 255, and light elsewhere") {
  const BoxText text;
  const TestImage in = black_frame(200, 100);
  const TestContours given(200, 100, 1, {{0, true, {{20, 40}, {60, 40}, {60, 80}, {20, 80}, {20, 40}}}});
  // BT.601's shares of red, green and blue: 0.299, 0.587, 0.114.
  using Colours = std::vector<std::pair<Colour, bool>>;
  for (const auto& [colour, dark] : Colours{{{140, 140, 140}, false},
                                            {{141, 140, 140}, true},
                                            {{140, 141, 140}, true},
                                            {{140, 140, 141}, true},
                                            {{255, 108, 0}, false},
                                            {{255, 109, 0}, true},
                                            {{0, 238, 0}, false},
                                            {{0, 239, 0}, true}}) {
    StageHarness harness(overlay_stage(), {{"labels", std::int64_t{1}}, {"text_height", std::int64_t{16}}},
                         {{.name = "pear", .colour = colour}});
    harness.text(&text).run({in.view, given.view});
    int light = 0;
    for (int y = 0; y < 38; ++y)
      for (int x = 0; x < 200; ++x) light += harness.at<std::uint8_t>(x, y, 2) > 200;
    CAPTURE(colour.red);
    CAPTURE(colour.green);
    CAPTURE(colour.blue);
    CHECK((light == 0) == dark);
  }
}

TEST_CASE("of contours of the same size the first one carries the label") {
  const BoxText text;
  const TestImage in = black_frame(200, 100);
  const auto square = [](double x) {
    return TestContour{0, true, {{x, 40}, {x + 40, 40}, {x + 40, 80}, {x, 80}, {x, 40}}};
  };
  const TestContours given(200, 100, 1, {square(20), square(80), square(140)});
  StageHarness harness(overlay_stage(), {{"labels", std::int64_t{1}}, {"text_height", std::int64_t{16}}},
                       {{.name = "pear", .colour = {0, 0, 255}}});
  harness.text(&text).run({in.view, given.view});
  const auto inked = [&](int x) { return harness.at<std::uint8_t>(x, 30, 2) > 0; };
  CHECK(inked(40));
  CHECK_FALSE(inked(100));
  CHECK_FALSE(inked(160));
}

namespace {

/// Letters of widths of their own, in stripes that tell them apart; a text is its letters side by side.
class StripedText final : public TextRasteriser {
 public:
  TextBitmap rasterise(std::string_view text, int height) const override {
    std::string columns;
    for (const char letter : text)
      for (int i = 0; i < 3 + letter % 4; ++i) columns += static_cast<char>(letter * (5 + 2 * i));
    TextBitmap bitmap{static_cast<int>(columns.size()), height, {}};
    for (int y = 0; y < height; ++y)
      for (const char column : columns) bitmap.coverage.push_back(static_cast<std::uint8_t>(column + y));
    return bitmap;
  }
};

/// A labelled contour with this area and depth.
std::vector<std::uint8_t> labelled(const std::string& label, double area, double depth) {
  const StripedText text;
  const TestImage in = noise_frame(260, 100, 3);
  const TestContours given(260, 100, 1, {blob(0, 130, 70, 20, 50, 1)}, {},
                           Attributes(Attribute::Area, Attribute::Depth));
  given.view.column(Attribute::Area)[0] = area;
  given.view.column(Attribute::Depth)[0] = depth;
  StageHarness harness(overlay_stage(),
                       {{"labels", std::int64_t{1}}, {"text_height", std::int64_t{20}}, {"label", label}},
                       {{.name = "pear", .colour = {200, 30, 60}}});
  harness.text(&text).run({in.view, given.view});
  std::vector<std::uint8_t> pixels;
  for (int y = 0; y < 100; ++y)
    for (int i = 0; i < 260 * 3; ++i) pixels.push_back(harness.at<std::uint8_t>(i / 3, y, i % 3));
  return pixels;
}

}  // namespace

TEST_CASE("labels show attributes as the same label in one text does") {
  const double none = std::nan(""), infinite = HUGE_VAL;
  struct Case {
    const char* label;
    double area, depth;
    const char* shown;
  };
  const Case cases[] = {
      {"{class} {area:.0f} px", 12.5, 0, "pear 13 px"},
      {"{area}", 0, 0, "0"},
      {"{area:.3f}", 0.0625, 0, "0.063"},
      {"{area:.2f}{depth}", -0.125, 3, "-0.133"},
      {"{area:.1f}", -0.04, 0, "0.0"},
      {"{depth}/{class}{class}: {area:.6f}", 1234567.8901234, 12, "12/pearpear: 1234567.890123"},
      {"a{area}b", none, 0, "a-b"},
      {"{area}{depth:.1f}", infinite, -infinite, "--"},
      {"{area:.3f}", 1e12, 0, "-"},
      {"{area:.3f}", 999999999998.5 / 10, 0, "99999999999.850"},
      {"{area:.2f}", 9.996, 0, "10.00"},
      {"{area} {area}{area} {area}", 1, 0, "1 11 1"}};
  for (const Case& one : cases) {
    CAPTURE(std::string(one.label));
    CHECK(labelled(one.label, one.area, one.depth) == labelled(one.shown, one.area, one.depth));
  }
  CHECK(labelled("{area}", 1, 0) != labelled("{area}", 2, 0));
  CHECK(labelled("{class}", 1, 0) == labelled("pear", 1, 0));
}

TEST_CASE("what a label cannot show is refused with what it can") {
  const auto words_of = [](const char* label) {
    try {
      parse_label(label);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(
      words_of("{aera}").starts_with("label is '{aera}': there is no {aera}, allowed are {class} and the "
                                     "attributes number, parent, depth, area"));
  CHECK(words_of("{class:.0f}").find("there is no {class:.0f}") != std::string::npos);
  CHECK(words_of("x {area:.7f}") ==
        "label is 'x {area:.7f}': '.7f' is no form of a number, allowed are .0f to .6f");
  CHECK(words_of("{area:}") == "label is '{area:}': '' is no form of a number, allowed are .0f to .6f");
  CHECK(words_of("{area") == "label is '{area': a { has no }");
  CHECK(words_of("{area}{area}{area}{area}{area}").ends_with("it has 5 attributes, allowed 0 to 4"));
  CHECK(words_of("{class} } {area:.2f} {convexity:.6f}").empty());

  const TestImage in = noise_frame(8, 8, 3);
  const TestContours given(8, 8, 1, {}, {}, Attributes(Attribute::Depth));
  StageHarness harness(overlay_stage(), {{"labels", std::int64_t{1}}, {"label", std::string("{area} a")}},
                       {{.name = "a"}});
  CHECK_THROWS_WITH_AS(harness.run({in.view, given.view}),
                       "overlay: label is '{area} a', but the contours have no 'area': none of the stages "
                       "before the overlay gives it (hierarchy, measure and fourier_descriptors give "
                       "attributes, and classes with "
                       "levels give level)",
                       Error);
}

TEST_CASE("an inside that is wider than a thousand pixels is filled from end to end") {
  const TestImage in = black_frame(2500, 5);
  const TestContour bar{0, true, {{10, 0}, {2490, 0}, {2490, 4}, {10, 4}, {10, 0}}};
  const TestContours given(2500, 5, 1, {bar});
  StageHarness harness(overlay_stage(), {{"halo", 0.0}, {"line_width", 1.0}},
                       {{.name = "a", .colour = {255, 255, 255}, .fill = 1}});
  harness.run({in.view, given.view});
  int filled = 0;
  for (int x = 0; x < 2500; ++x) filled += harness.at<std::uint8_t>(x, 2) == 255;
  CHECK(filled >= 2479);
  CHECK(filled <= 2481);
  CHECK(harness.at<std::uint8_t>(5, 2) == 0);
  CHECK(harness.at<std::uint8_t>(2495, 2) == 0);
}

TEST_CASE("open contours that end at the border of their map have an inside that reaches it") {
  // Contours on a map of 60 x 40, and what closes them, on its outer edge.
  struct Case {
    std::vector<std::pair<double, double>> contour, closing;
  };
  const std::vector<Case> cases{
      {{{0, 10}, {20, 10}, {20, 30}, {0, 30}}, {{-0.5, 30}, {-0.5, 10}}},
      {{{59, 31}, {44, 22}, {59, 9}}, {{59.5, 9}, {59.5, 31}}},
      {{{14, 0}, {14, 11}, {33, 13}, {33, 0}}, {{33, -0.5}, {14, -0.5}}},
      {{{50, 39}, {30, 12}, {9, 39}}, {{9, 39.5}, {50, 39.5}}},
      {{{0, 15}, {12, 15}, {25, 0}}, {{25, -0.5}, {-0.5, -0.5}, {-0.5, 15}}},
      {{{40, 39}, {40, 25}, {59, 25}}, {{59.5, 25}, {59.5, 39.5}, {40, 39.5}}},
      {{{59, 12}, {33, 20}, {33, 0}}, {{33, -0.5}, {59.5, -0.5}, {59.5, 12}}},
      {{{20, 39}, {20, 20}, {0, 20}}, {{-0.5, 20}, {-0.5, 39.5}, {20, 39.5}}},
      // From the corner itself: around the next one.
      {{{0, 0}, {20, 10}, {59, 20}}, {{59.5, 20}, {59.5, -0.5}, {0, -0.5}}},
      // From side to opposite side, and to an end within the map: no inside.
      {{{0, 15}, {59, 20}}, {}},
      {{{20, 39}, {30, 0}}, {}},
      {{{0, 15}, {30, 20}, {31, 24}}, {}},
  };
  const Placement placements[] = {{}, {.scale_x = 2, .scale_y = 2}, {.offset_x = 37, .offset_y = 21}};
  for (const Placement& placement : placements)
    for (const bool reversed : {false, true})
      for (std::size_t i = 0; i < cases.size(); ++i) {
        CAPTURE(i);
        CAPTURE(reversed);
        CAPTURE(placement.scale_x);
        CAPTURE(placement.offset_x);
        TestContour contour{0, false, cases[i].contour};
        if (reversed) std::reverse(contour.points.begin(), contour.points.end());
        const TestImage in = black_frame(120, 80);
        const TestContours given(60, 40, 1, {contour}, placement);
        StageHarness harness(overlay_stage(), {{"halo", 0.0}, {"line_width", 0.5}},
                             {{.name = "a", .colour = {255, 255, 255}, .fill = 1}});
        harness.threads(3).run({in.view, given.view});
        TestContour outline{0, true, cases[i].contour};
        outline.points.insert(outline.points.end(), cases[i].closing.begin(), cases[i].closing.end());
        outline.points.push_back(outline.points.front());
        int wrong = 0, filled = 0;
        for (int y = 0; y < 80; ++y)
          for (int x = 0; x < 120; ++x) {
            const double map_x = (x + 0.5 - placement.offset_x) / placement.scale_x - 0.5;
            const double map_y = (y + 0.5 - placement.offset_y) / placement.scale_y - 0.5;
            double distance = 1e9;
            for (std::size_t p = 0; p + 1 < contour.points.size(); ++p)
              distance = std::min(
                  distance, distance_to_segment(map_x, map_y, contour.points[p], contour.points[p + 1]));
            if (distance * placement.scale_x < 1) continue;  // on the line
            const bool inside = !cases[i].closing.empty() && is_inside(map_x, map_y, outline);
            wrong += harness.at<std::uint8_t>(x, y) != (inside ? 255 : 0);
            filled += inside;
          }
        CHECK(wrong == 0);
        CHECK((filled > 100) == !cases[i].closing.empty());
      }
}

TEST_CASE("contours within each other at the border are filled in turns, as closed ones are") {
  const TestImage in = black_frame(60, 40);
  const TestContours given(
      60, 40, 1,
      {{0, false, {{0, 5}, {40, 5}, {40, 35}, {0, 35}}}, {0, false, {{0, 25}, {20, 25}, {20, 15}, {0, 15}}}});
  StageHarness harness(overlay_stage(), {{"halo", 0.0}, {"line_width", 0.5}},
                       {{.name = "a", .colour = {255, 255, 255}, .fill = 1}});
  harness.run({in.view, given.view});
  CHECK(harness.at<std::uint8_t>(0, 10) == 255);
  CHECK(harness.at<std::uint8_t>(0, 20) == 0);
  CHECK(harness.at<std::uint8_t>(0, 30) == 255);
  CHECK(harness.at<std::uint8_t>(30, 20) == 255);
  CHECK(harness.at<std::uint8_t>(50, 20) == 0);
}

TEST_CASE("an overlay refuses frames and classes that do not fit") {
  const TestImage grey = noise_frame(8, 8, 1), colour = noise_frame(8, 8, 3);
  const TestContours given(8, 8, 2, {});
  StageHarness one(overlay_stage(), {}, {{.name = "a"}, {.name = "b"}});
  CHECK_THROWS_WITH_AS(
      one.run({grey.view, given.view}),
      "overlay: the frame is 8x8x1 uint8 interleaved, allowed 3 or 4 interleaved channels of uint8 "
      "(preprocess with colour: rgb makes them)",
      Error);
  StageHarness two(overlay_stage(), {}, {{.name = "a"}});
  CHECK_THROWS_WITH_AS(two.run({colour.view, given.view}),
                       "overlay: the contours have 2 classes, but the graph declares 1", Error);
}
