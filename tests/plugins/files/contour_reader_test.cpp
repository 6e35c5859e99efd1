#include "plugins/files/contours/contour_reader.h"

#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <random>

#include "base/error.h"
#include "plugins/files/contours/text_buffer.h"
#include "plugins/files/contours/writer.h"
#include "tests/file_content.h"
#include "tests/temporary_folder.h"

using namespace contorno;
namespace fs = std::filesystem;

namespace {

void put_text(const fs::path& file, std::string_view text) {
  std::ofstream(file, std::ios::binary) << text;
}

/// A line with one closed contour of the first class, a triangle at a corner of any float32.
std::string triangle_line(float x, float y) {
  TextBuffer text;
  text << R"({"width":9,"height":9,"classes":[{"name":"a","level":0.5,"contours":[{"closed":true,"points":[[)"
       << x << ',' << y << "],[" << x + 900 << ',' << y << "],[" << x << ',' << y + 900 << "],[" << x << ','
       << y << "]]}]}]}\n";
  return std::string(text.view());
}

std::vector<Point> only_points(const fs::path& file) {
  ContourFrame frame;
  REQUIRE(open_contours(file.string())->next(frame));
  REQUIRE(frame.view.counts->contours == 1);
  const auto points = frame.view.contour(0);
  return {points.begin(), points.end()};
}

void write_again(const ContourFrame& frame, const SinkType& type, const fs::path& file) {
  ParamSet params(type.params);
  params.set("path", file.filename().string());
  const auto sink = type.make(params);
  SinkContext context;
  context.format = frame.view.format;
  context.classes = frame.classes;
  context.output_root = file.parent_path().string();
  sink->open(context);
  sink->write(frame.info, frame.view);
  sink->finish();
}

}  // namespace

TEST_CASE("coordinates of every size come back from COCO and GeoJSON with the same bits") {
  const TemporaryFolder folder;
  std::mt19937 random(3);
  int wrong = 0;
  for (int i = 0; i < 600; ++i) {
    // Half of a mantissa's bits and all of them, and magnitudes from 1e-6 px to the largest map.
    const auto any = [&] {
      const float magnitude = std::exp2(std::uniform_real_distribution<float>(-20, 15.9F)(random));
      return i % 2 == 0 ? magnitude : static_cast<float>(static_cast<int>(magnitude * 64)) / 64;
    };
    put_text(folder.path() / "a.jsonl", triangle_line(any(), any()));
    ContourFrame frame;
    REQUIRE(open_contours((folder.path() / "a.jsonl").string())->next(frame));
    const auto given = frame.view.contour(0);
    for (const auto& [type, name] :
         {std::pair{&contour_coco_sink(), "a.json"}, {&contour_geojson_sink(), "a.geojson"}}) {
      write_again(frame, *type, folder.path() / name);
      const auto back = only_points(folder.path() / name);
      REQUIRE(back.size() == given.size());
      wrong += std::memcmp(back.data(), given.data(), given.size_bytes()) != 0;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("what COCO and GeoJSON have of a frame is read without the command") {
  const TemporaryFolder folder;
  put_text(
      folder.path() / "a.geojson",
      R"({"features":[{"properties":{"frame":7,"pts_ns":-3,"class":"b","level":0.25,"width":20,"height":30,)"
      R"("attributes":{"depth":2}},"geometry":{"type":"Polygon","coordinates":[)"
      R"([[1,1],[1,9],[9,9],[9,1],[1,1]],[[2,2],[2,3],[3,3],[2,2]]]}}]})");
  const auto reader = open_contours((folder.path() / "a.geojson").string());
  ContourFrame frame;
  REQUIRE(reader->next(frame));
  CHECK(frame.info.number == 7);
  CHECK(frame.info.pts_ns == -3);
  CHECK(frame.view.format.width == 20);
  CHECK(frame.view.format.height == 30);
  REQUIRE(frame.classes.size() == 1);
  CHECK(frame.classes[0].level == 0.25);
  REQUIRE(frame.view.counts->contours == 2);
  CHECK(measure(frame.view.contour(0), Closure::Closed).area == 64);
  CHECK(measure(frame.view.contour(1), Closure::Closed).area == -0.5);
  CHECK(frame.view.contour(0)[1] == Point{.row = 1, .col = 9});
  CHECK(frame.view.column(Attribute::Depth)[0] == 2);
  CHECK(std::isnan(frame.view.column(Attribute::Depth)[1]));
  CHECK_FALSE(reader->next(frame));
}

TEST_CASE("a file of contours that is missing, or a folder, is told at once") {
  const TemporaryFolder folder;
  const auto code = [&](const char* name) {
    try {
      open_contours((folder.path() / name).string());
    } catch (const Error& error) {
      return error.code();
    }
    return ExitCode::Ok;
  };
  fs::create_directory(folder.path() / "b.json");
  CHECK(code("a.json") == ExitCode::MissingInput);
  CHECK(code("a.jsonl") == ExitCode::MissingInput);
  CHECK(code("b.json") == ExitCode::BadData);
}
