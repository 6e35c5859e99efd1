#include "plugins/files/contours/writer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "base/error.h"
#include "plugins/files/contours/text_buffer.h"
#include "tests/file_content.h"
#include "tests/temporary_folder.h"

using namespace contorno;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

struct Contour {
  std::size_t of_class;
  bool closed;
  std::vector<Point> points;
};

/// A frame's contours in memory of their own.
struct GivenContours {
  std::vector<std::byte> memory;
  ContoursView view;

  GivenContours(int width, int height, int classes, const std::vector<Contour>& contours,
                Placement placement = {}) {
    ContoursFormat format{.width = width, .height = height, .classes = classes, .placement = placement};
    format.contour_capacity = contours.size();
    for (const Contour& c : contours) format.point_capacity += c.points.size();
    memory.resize(packed_bytes(format) + 64);
    view = packed_view(memory.data(), format);
    *view.counts = {format.point_capacity, format.contour_capacity};
    std::uint32_t at = 0, index = 0;
    view.offsets[0] = 0;
    for (int k = 0; k < classes; ++k) {
      view.class_begin[k] = index;
      for (const Contour& c : contours) {
        if (c.of_class != static_cast<std::size_t>(k)) continue;
        std::copy(c.points.begin(), c.points.end(), view.points + at);
        view.closed[index] = c.closed ? 1 : 0;
        view.offsets[++index] = at += static_cast<std::uint32_t>(c.points.size());
      }
    }
    view.class_begin[classes] = index;
  }
};

/// Clockwise on the screen: positive.
std::vector<Point> square(float x, float y, float side) {
  return {{y, x}, {y, x + side}, {y + side, x + side}, {y + side, x}, {y, x}};
}
std::vector<Point> reversed(std::vector<Point> points) {
  std::reverse(points.begin(), points.end());
  return points;
}

const std::vector<ClassSpec> kClasses = {
    {.name = "rot", .level = 0.5, .colour = {255, 0, 0, 255}, .fill = 0.25},
    {.name = "a\"b\n</script>&<\\\x01é\xFF", .level = 0.25}};

SinkContext context_of(const GivenContours& frame, const fs::path& root,
                       std::span<const ClassSpec> classes = kClasses) {
  SinkContext context{
      .format = frame.view.format, .stream = {}, .classes = classes, .output_root = root.string()};
  return context;
}
using Values = std::vector<std::pair<std::string, ParamValue>>;
std::unique_ptr<Sink> make(const SinkType& type, const Values& values) {
  ParamSet params(type.params);
  for (const auto& [name, value] : values) params.set(name, value);
  return type.make(params);
}

}  // namespace

TEST_CASE("measures of a square are those of a square, and its reverse is a hole") {
  const auto ring = square(2, 3, 4);
  const ContourMeasures m = measure(ring, Closure::Closed);
  CHECK(m.area == 16);
  CHECK(m.length == 16);
  CHECK(m.x == 2);
  CHECK(m.y == 3);
  CHECK(m.width == 4);
  CHECK(m.height == 4);
  CHECK(m.centroid_x == 4);
  CHECK(m.centroid_y == 5);
  const auto hole = reversed(ring);
  CHECK(measure(hole, Closure::Closed).area == -16);
  CHECK(measure(hole, Closure::Closed).centroid_y == 5);
}

TEST_CASE("an open contour has no area, and its centroid is that of the line") {
  const std::vector<Point> line = {{0, 0}, {0, 4}, {3, 4}};
  const ContourMeasures m = measure(line, Closure::Open);
  CHECK(m.area == 0);
  CHECK(m.length == 7);
  CHECK(m.centroid_x == doctest::Approx((4 * 2 + 3 * 4) / 7.0));
  CHECK(m.centroid_y == doctest::Approx(3 * 1.5 / 7.0));
}

TEST_CASE("the area of a small contour far from the origin keeps its digits") {
  const ContourMeasures m = measure(square(65000, 65000, 0.0078125f), Closure::Closed);
  CHECK(m.area == 0.0078125 * 0.0078125);
  CHECK(m.centroid_x == 65000 + 0.0078125 / 2);
}

TEST_CASE("a point that is not a number spoils area and length, but not the box") {
  auto ring = square(0, 0, 2);
  ring[1].row = std::numeric_limits<float>::quiet_NaN();
  const ContourMeasures m = measure(ring, Closure::Closed);
  CHECK(std::isnan(m.area));
  CHECK(m.width == 2);
}

TEST_CASE("box and area alone are those of plain sums, of every 32nd segment and then in halves") {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(),
                  kFar = std::numeric_limits<float>::infinity();
  std::mt19937 random(3);
  std::uniform_real_distribution<float> place(-50, 3000);
  for (const float odd : {0.0F, kNaN, kFar, -kFar})
    for (const std::size_t size : {0, 1, 2, 3, 500}) {
      std::vector<Point> points(size);
      for (Point& point : points) point = {place(random), place(random)};
      if (odd != 0 && size > 0) points[size / 2].col = odd;
      if (odd != 0 && size == 3)
        for (Point& point : points) point.row = odd;
      // fmin and fmax pass over NaN, and give it where there is nothing else.
      float left = kNaN, right = kNaN, top = kNaN, bottom = kNaN;
      for (const Point& point : points) {
        left = std::fmin(left, point.col), right = std::fmax(right, point.col);
        top = std::fmin(top, point.row), bottom = std::fmax(bottom, point.row);
      }
      const auto same = [](double one, double other) {
        return std::isnan(one) ? std::isnan(other) : one == other;
      };
      CAPTURE(odd);
      CAPTURE(size);
      for (const Closure closure : {Closure::Open, Closure::Closed}) {
        const BoxAndArea some = measure_box_and_area(points, closure);
        CHECK(same(some.x, left));
        CHECK(same(some.y, top));
        CHECK(same(some.width, static_cast<double>(right) - left));
        CHECK(same(some.height, static_cast<double>(bottom) - top));
        std::vector<double> lanes(32);
        for (std::size_t i = 1; i < size; ++i) {
          const double row = points[i].row - double{points[0].row},
                       col = points[i].col - double{points[0].col};
          lanes[(i - 1) % 32] += (points[i - 1].col - double{points[0].col}) * row -
                                 col * (points[i - 1].row - double{points[0].row});
        }
        while (lanes.size() > 1) {
          const std::size_t half = lanes.size() / 2;
          for (std::size_t i = 0; i < half; ++i) lanes[i] += lanes[half + i];
          lanes.resize(half);
        }
        CHECK(same(some.area, closure == Closure::Closed ? lanes[0] / 2 : 0));
      }
    }
}

TEST_CASE("numbers in text read back as the same bits, and need no more digits than that") {
  std::mt19937_64 random(7);
  TextBuffer text;
  std::vector<float> values = {0,      -0.0f, 1,  65535,    65536, 0.1f,
                               1e-30f, 1e30f, -3, 16777216, 0.5f,  511.99997f};
  for (int i = 0; i < 20000; ++i) {
    const auto bits = static_cast<std::uint32_t>(random());
    float value = 0;
    std::memcpy(&value, &bits, 4);
    if (std::isfinite(value)) values.push_back(value);
    values.push_back(static_cast<float>(random() % 100000) / 97);
  }
  int wrong = 0;
  for (const float value : values) {
    text.clear();
    text << value;
    const std::string word(text.view());
    const float back = std::strtof(word.c_str(), nullptr);
    wrong += std::memcmp(&back, &value, 4) != 0 || !json::accept(word) || word.size() > 15;
  }
  CHECK(wrong == 0);
  text.clear();
  text << std::numeric_limits<double>::quiet_NaN() << ' ' << -std::numeric_limits<float>::infinity() << ' '
       << 0.1 << ' ' << 100.0 << ' ' << std::uint64_t{18446744073709551615u};
  CHECK(text.view() == "null null 0.1 100 18446744073709551615");
}

TEST_CASE("a JSON line is exactly as documented") {
  const TemporaryFolder folder;
  const GivenContours frame(100, 80, 2, {{0, true, square(2, 3.5f, 4)}, {1, false, {{0, 0.25f}, {1, 0}}}});
  const std::vector<ClassSpec> classes = {{.name = "rot", .level = 0.5}, {.name = "leaf", .level = 0.25}};
  auto sink = make(contour_jsonl_sink(), {{"path", std::string("out/c.jsonl")}});
  sink->open(context_of(frame, folder.path(), classes));
  sink->write({.number = 4294967301, .pts_ns = -5, .name = {}}, frame.view);
  sink->finish();
  CHECK(content(folder.path() / "out/c.jsonl") ==
        R"({"frame":4294967301,"pts_ns":-5,"width":100,"height":80,"classes":[)"
        R"({"name":"rot","level":0.5,"contours":[{"closed":true,"area":16,"length":16,"bbox":[2,3.5,4,4],)"
        R"("centroid":[4,5.5],"points":[[2,3.5],[6,3.5],[6,7.5],[2,7.5],[2,3.5]]}]},)"
        R"({"name":"leaf","level":0.25,"contours":[{"closed":false,"area":0,"length":1.0307764064044151,)"
        R"("bbox":[0,0,0.25,1],"centroid":[0.125,0.5],"points":[[0.25,0],[0,1]]}]}]})"
        "\n");
}

TEST_CASE("a writer's summary names its file in full, also the last of several") {
  const TemporaryFolder folder;
  const GivenContours frame(100, 80, 2, {{0, true, square(2, 3, 4)}});
  const auto summary = [&](const SinkType& type, const std::string& path, int frames) {
    auto sink = make(type, {{"path", path}});
    sink->open(context_of(frame, folder.path()));
    for (int n = 0; n < frames; ++n)
      sink->write({.number = static_cast<std::uint64_t>(n), .pts_ns = 0, .name = {}}, frame.view);
    sink->finish();
    return sink->summary();
  };
  const std::string root = fs::canonical(folder.path()).string() + "/";
  CHECK(summary(contour_jsonl_sink(), "out/c.jsonl", 2) == root + "out/c.jsonl (2 frames)");
  CHECK(summary(contour_coco_sink(), "c.json", 1) == root + "c.json (1 images, 1 annotations)");
  CHECK(summary(contour_geojson_sink(), "c.geojson", 2) == root + "c.geojson (2 frames, 2 features)");
  CHECK(summary(contour_geojson_sink(), "{frame}.geojson", 1) == root + "0.geojson (1 frames, 1 features)");
  CHECK(summary(contour_geojson_sink(), "{frame}.geojson", 3) ==
        "3 files, the last " + root + "2.geojson (3 features)");
  CHECK(summary(contour_geojson_sink(), "{frame}.geojson", 0).empty());
  CHECK(summary(contour_svg_sink(), "{frame:02}.svg", 1) == root + "00.svg");
  CHECK(summary(contour_svg_sink(), "{frame:02}.svg", 12) == "12 files, the last " + root + "11.svg");
  CHECK(summary(contour_svg_sink(), "{frame:02}.svg", 0).empty());
}

TEST_CASE("JSON lines survive hostile names, NaN points and empty frames") {
  const TemporaryFolder folder;
  auto ring = square(0, 0, 2);
  ring[1].col = std::numeric_limits<float>::quiet_NaN();
  const GivenContours frame(10, 10, 2, {{1, true, ring}}), empty(10, 10, 2, {});
  auto sink = make(contour_jsonl_sink(), {{"path", std::string("c.jsonl")}});
  sink->open(context_of(frame, folder.path()));
  sink->write({.number = 0, .pts_ns = 0, .name = "a\"\n</script>\\.png"}, frame.view);
  sink->write({.number = 1, .pts_ns = 1, .name = {}}, empty.view);
  sink->finish();
  std::istringstream lines(content(folder.path() / "c.jsonl"));
  std::string line;
  REQUIRE(std::getline(lines, line));
  CHECK(line.find("</script>") == std::string::npos);
  const json first = json::parse(line);
  CHECK(first["name"] == "a\"\n</script>\\.png");
  CHECK(first["classes"][1]["name"] == "a\"b\n</script>&<\\\x01é\xEF\xBF\xBD");
  CHECK(first["classes"][1]["contours"][0]["area"].is_null());
  CHECK(first["classes"][1]["contours"][0]["points"][1][0].is_null());
  REQUIRE(std::getline(lines, line));
  CHECK(json::parse(line)["classes"][0]["contours"].empty());
  CHECK_FALSE(std::getline(lines, line));
}

TEST_CASE("points are placed on the frame unless map coordinates are asked for") {
  const TemporaryFolder folder;
  const GivenContours frame(100, 80, 1, {{0, true, square(2, 3, 4)}},
                            {.scale_x = 2, .scale_y = 3, .offset_x = 1});
  SinkContext context = context_of(frame, folder.path());
  context.stream.frame = ImageFormat{.width = 200, .height = 240, .channels = 3};
  for (const char* coordinates : {"frame", "map"}) {
    auto sink = make(contour_jsonl_sink(),
                     {{"path", std::string("c.jsonl")}, {"coordinates", std::string(coordinates)}});
    sink->open(context);
    sink->write({}, frame.view);
    sink->finish();
    const json line = json::parse(content(folder.path() / "c.jsonl"));
    const json& contour = line["classes"][0]["contours"][0];
    const bool mapped = std::string(coordinates) == "frame";
    CHECK(line["width"] == (mapped ? 200 : 100));
    CHECK(contour["points"][0] == (mapped ? json({5.5, 10}) : json({2, 3})));  // (2.5*2-0.5+1, 3.5*3-0.5)
    CHECK(contour["area"] == (mapped ? 16 * 6 : 16));
  }
}

TEST_CASE("a writer does not leave the output folder, nor go on when the device is full") {
  const TemporaryFolder folder;
  const GivenContours frame(10, 10, 2, {{0, true, square(0, 0, 2)}});
  auto outside = make(contour_jsonl_sink(), {{"path", std::string("../x.jsonl")}});
  CHECK_THROWS_AS(outside->open(context_of(frame, folder.path())), Error);
  auto full = make(contour_jsonl_sink(), {{"path", std::string("full")}});
  full->open(context_of(frame, "/dev"));
  CHECK_THROWS_WITH_AS(full->write({}, frame.view), "cannot write '/dev/full': No space left on device",
                       Error);
}

namespace {
/// A ring with a hole that has an island, a line, and a hole whose surroundings are cut by the border.
GivenContours nested_frame(Placement placement = {}) {
  return GivenContours(100, 80, 2,
                       {{0, true, square(10, 10, 40)},
                        {0, true, reversed(square(15, 15, 20))},
                        {0, true, square(20, 20, 5)},
                        {0, true, reversed(square(37, 37, 5))},
                        {0, true, reversed(square(70, 50, 5))},
                        {0, false, {{0, 60}, {5, 60.5f}}},
                        {1, true, square(1, 1, 2)}},
                       placement);
}
json run(const SinkType& type, const fs::path& root, const std::string& path, const GivenContours& frame,
         int frames = 1, const Values& more = {}) {
  Values values = {{"path", path}};
  values.insert(values.end(), more.begin(), more.end());
  auto sink = make(type, values);
  sink->open(context_of(frame, root));
  for (int i = 0; i < frames; ++i)
    sink->write({.number = static_cast<std::uint64_t>(i), .pts_ns = i, .name = {}}, frame.view);
  sink->finish();
  return json::parse(content(root / path));
}
}  // namespace

TEST_CASE("GeoJSON has holes in the smallest ring around them, and lines for the rest") {
  const TemporaryFolder folder;
  const json all = run(contour_geojson_sink(), folder.path(), "a.geojson", nested_frame(), 2);
  CHECK(all["type"] == "FeatureCollection");
  REQUIRE(all["features"].size() == 10);
  CHECK(all["features"][0]["properties"]["area"] == 25);
  CHECK(all["features"][0]["geometry"]["coordinates"].size() == 1);
  const json& large = all["features"][1];
  CHECK(large["properties"]["area"] == 1600 - 400 - 25);
  CHECK(large["properties"]["class"] == "rot");
  CHECK(large["geometry"]["type"] == "Polygon");
  REQUIRE(large["geometry"]["coordinates"].size() == 3);
  CHECK(large["geometry"]["coordinates"][1][0] == json({15, 15}));
  CHECK(all["features"][2]["geometry"]["type"] == "LineString");
  CHECK(all["features"][2]["properties"]["closed"] == false);
  CHECK(all["features"][3]["properties"]["closed"] == true);
  CHECK(all["features"][9]["properties"]["frame"] == 1);
}

TEST_CASE("a hole in a hole is no hole of the region around both, so that polygons stay valid") {
  const TemporaryFolder folder;
  // The region between the two holes was left out.
  const GivenContours frame(100, 80, 2,
                            {{0, true, square(10, 10, 40)},
                             {0, true, reversed(square(15, 15, 20))},
                             {0, true, reversed(square(20, 20, 5))}});
  const json all = run(contour_geojson_sink(), folder.path(), "a.geojson", frame);
  REQUIRE(all["features"].size() == 2);
  CHECK(all["features"][0]["geometry"]["coordinates"].size() == 2);
  CHECK(all["features"][0]["properties"]["area"] == 1600 - 400);
  CHECK(all["features"][1]["geometry"]["type"] == "LineString");
  CHECK(all["features"][1]["properties"]["closed"] == true);
}

namespace {
/// Totals as JSON lines have them.
json totals_of(const json& line, std::size_t of_class) {
  return line["classes"][of_class]["totals"];
}
json line_of(Sink& sink, const fs::path& path, const GivenContours& frame, std::uint64_t number) {
  sink.write({.number = number}, frame.view);
  std::ifstream file(path);
  std::string text;
  for (std::uint64_t i = 0; i <= number; ++i) std::getline(file, text);
  return json::parse(text);
}
}  // namespace

TEST_CASE("totals add up signed areas, lengths and shares of the whole, frame by frame and over all") {
  const TemporaryFolder folder;
  std::vector<ClassSpec> classes = kClasses;
  classes[0].whole = true;
  auto sink = make(contour_jsonl_sink(), {{"path", std::string("a.jsonl")}, {"totals", true}});
  const Placement twice{.scale_x = 2, .scale_y = 2};
  const GivenContours frame = nested_frame(twice), none(100, 80, 2, {}, twice);
  SinkContext context = context_of(frame, folder.path(), classes);
  context.stream.frame = ImageFormat{.width = 200, .height = 160, .channels = 4};
  sink->open(context);
  const json line = line_of(*sink, folder.path() / "a.jsonl", frame, 0);
  const double area = 4 * (1600 - 400 + 25 - 25 - 25);  // in px of the frame
  CHECK(totals_of(line, 0)["contours"] == 6);
  CHECK(totals_of(line, 0)["area"] == area);
  CHECK(totals_of(line, 0)["perimeter"].get<double>() ==
        doctest::Approx(2 * (4 * (40 + 20 + 5 + 5 + 5) + std::hypot(5, 0.5))));
  CHECK(totals_of(line, 0)["share"] == 1);
  CHECK(totals_of(line, 0)["mean"].is_null());
  CHECK(totals_of(line, 1)["area"] == 16);
  CHECK(totals_of(line, 1)["share"].get<double>() == doctest::Approx(16 / area));
  const json empty = line_of(*sink, folder.path() / "a.jsonl", none, 1);
  CHECK(totals_of(empty, 1) ==
        json({{"contours", 0}, {"area", 0}, {"perimeter", 0}, {"share", nullptr}, {"mean", nullptr}}));
  line_of(*sink, folder.path() / "a.jsonl", frame, 2);
  const std::vector<ClassTotals> running = sink->totals();
  REQUIRE(running.size() == 2);
  CHECK(running[0].contours == 12);
  CHECK(running[0].area == 2 * area);
  CHECK(running[1].name == classes[1].name);
  CHECK(running[1].share.value() == doctest::Approx(16 / area));
  sink->finish();
  auto without = make(contour_jsonl_sink(), {{"path", std::string("b.jsonl")}});
  without->open(context);
  CHECK_FALSE(line_of(*without, folder.path() / "b.jsonl", frame, 0)["classes"][0].contains("totals"));
  CHECK(without->totals().empty());
}

TEST_CASE("GeoJSON with a placeholder in its path is a file a frame, also for a frame without contours") {
  const TemporaryFolder folder;
  const GivenContours empty(10, 10, 2, {});
  auto sink = make(contour_geojson_sink(), {{"path", std::string("g/{frame:03}.json")}});
  sink->open(context_of(empty, folder.path()));
  sink->write({.number = 7}, empty.view);
  sink->finish();
  CHECK(json::parse(content(folder.path() / "g/007.json"))["features"].empty());
}

TEST_CASE("COCO polygons have the area of the region with its holes, and pixel corners at integers") {
  const TemporaryFolder folder;
  const json all = run(contour_coco_sink(), folder.path(), "a.json", nested_frame(), 2);
  CHECK(all["categories"].size() == 2);
  CHECK(all["categories"][0]["id"] == 1);
  CHECK(all["images"].size() == 2);
  CHECK(all["images"][1]["id"] == 2);
  CHECK(all["images"][1]["width"] == 100);
  REQUIRE(all["annotations"].size() == 6);
  for (const json& annotation : all["annotations"]) {
    const std::vector<double> polygon = annotation["segmentation"][0];
    CHECK(polygon.size() % 2 == 0);
    CHECK(polygon.size() >= 6);
    double twice = 0;
    for (std::size_t i = 0; i < polygon.size(); i += 2) {
      const std::size_t j = (i + 2) % polygon.size();
      twice += polygon[i] * polygon[j + 1] - polygon[j] * polygon[i + 1];
    }
    CHECK(twice / 2 == doctest::Approx(annotation["area"].get<double>()));
    CHECK(annotation["iscrowd"] == 0);
  }
  CHECK(all["annotations"][1]["area"] == 1600 - 400 - 25);
  CHECK(all["annotations"][1]["bbox"] == json({10.5, 10.5, 40, 40}));
  CHECK(all["annotations"][5]["id"] == 6);
  CHECK(all["annotations"][5]["image_id"] == 2);
  CHECK(all["annotations"][5]["category_id"] == 2);
}

TEST_CASE("an open contour becomes a COCO polygon only when it may be closed") {
  const TemporaryFolder folder;
  const GivenContours frame(10, 10, 2,
                            {{0, false, {{2, 0}, {4, 3}, {6, 0}}}, {0, false, {{2, 9}, {6, 9}, {4, 6}}}});
  const auto reverse = GivenContours(10, 10, 2, {{0, false, {{6, 0}, {4, 3}, {2, 0}}}});
  CHECK(run(contour_coco_sink(), folder.path(), "a.json", frame)["annotations"].size() == 2);
  CHECK(run(contour_coco_sink(), folder.path(), "a.json", reverse)["annotations"].empty());
  CHECK(run(contour_coco_sink(), folder.path(), "a.json", frame, 1,
            {{"open_contours", std::string("skip")}})["annotations"]
            .empty());
}

TEST_CASE("COCO and GeoJSON have no final name before they are complete") {
  const TemporaryFolder folder;
  const GivenContours frame = nested_frame();
  for (const SinkType* type : {&contour_coco_sink(), &contour_geojson_sink()}) {
    {
      auto sink = make(*type, {{"path", std::string("a.json")}});
      sink->open(context_of(frame, folder.path()));
      sink->write({}, frame.view);
      CHECK_FALSE(fs::exists(folder.path() / "a.json"));
    }
    CHECK(fs::is_empty(folder.path()));  // abandoned: nothing stays behind
  }
}

TEST_CASE("SVG draws classes in their colours and escapes their names") {
  const TemporaryFolder folder;
  const GivenContours frame = nested_frame();
  CHECK_THROWS_AS(make(contour_svg_sink(), {{"path", std::string("a.svg")}}), Error);
  auto sink = make(contour_svg_sink(), {{"path", std::string("{name}.svg")}});
  sink->open(context_of(frame, folder.path()));
  sink->write({.number = 3, .pts_ns = 0, .name = "<b>&.png"}, frame.view);
  sink->finish();
  const std::string svg = content(folder.path() / "<b>&.svg");
  const auto has = [&](std::string_view part) { return svg.find(part) != std::string::npos; };
  CHECK(has(R"(width="100" height="80" viewBox="-0.5 -0.5 100 80">)"));
  CHECK(has("<title>frame 3: &lt;b&gt;&amp;.png</title>"));
  CHECK(has(
      R"(<path fill="#ff0000" fill-rule="evenodd" fill-opacity="0.25" stroke="#ff0000" stroke-width="1.5")"));
  CHECK(has("d=\"M10 10L50 10L50 50L10 50ZM15 15L15 35L35 35L35 15Z"));
  CHECK(has("d=\"M60 0L60.5 5\""));
  CHECK_FALSE(has("</script>"));
  CHECK(has("a&quot;b&#10;&lt;/script&gt;&amp;&lt;\\"));
}

TEST_CASE("every contour sink declares an example, and refuses to leave its folder") {
  const TemporaryFolder folder;
  const GivenContours frame = nested_frame();
  CHECK(contour_sinks().size() == 4);
  for (const SinkType* type : contour_sinks()) {
    CAPTURE(type->name);
    CHECK(type->example.starts_with("sinks:\n  - type: " + type->name + "\n"));
    CHECK(type->params.find("path")->required);
    auto sink = make(*type, {{"path", std::string("../{frame}x")}});
    CHECK_THROWS_AS(sink->open(context_of(frame, folder.path())), Error);
  }
}

// tests/plugins/files/contour_files_test.py gives the contours of scikit-image and looks at the files.
TEST_CASE("contours given by a file are written in every format") {
  const char* set = std::getenv("CONTORNO_WRITER_CASE");
  if (set == nullptr) return;
  const fs::path folder(set);
  const json given = json::parse(content(folder / "given.json"));
  std::vector<Contour> contours;
  for (const json& one : given["contours"]) {
    Contour contour{.of_class = 0, .closed = one.front() == one.back(), .points = {}};
    for (const json& point : one) contour.points.push_back({point[0].get<float>(), point[1].get<float>()});
    contours.push_back(contour);
  }
  const GivenContours frame(given["width"], given["height"], 1, contours);
  for (const auto& [type, path] : {std::pair{&contour_jsonl_sink(), "a.jsonl"},
                                   {&contour_coco_sink(), "coco.json"},
                                   {&contour_geojson_sink(), "a.geojson"},
                                   {&contour_svg_sink(), "{frame}.svg"}}) {
    auto sink = make(*type, {{"path", std::string(path)}});
    sink->open(context_of(frame, folder));
    const auto begin = std::chrono::steady_clock::now();
    sink->write({}, frame.view);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    sink->finish();
    MESSAGE(std::string(path), ": ", seconds.count() * 1000, " ms");
  }
}
