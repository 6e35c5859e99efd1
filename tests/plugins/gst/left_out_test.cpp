#include <doctest/doctest.h>

#include <algorithm>

#include "config/describe.h"
#include "config/load.h"
#include "plugins/media/left_out.h"
#include "plugins/media/media.h"
#include "tests/config/catalog.h"

using namespace contorno;

TEST_CASE("a build without GStreamer says so of every source and sink that needs it") {
  const std::vector<LeftOut> all = media_left_out();
  for (const std::string& name :
       {video_source().name, images_source().name, camera_source().name, gst_source().name,
        test_source().name, video_sink().name, images_sink().name, preview_sink().name})
    CHECK(std::any_of(all.begin(), all.end(), [&](const LeftOut& one) { return one.name == name; }));
}

TEST_CASE("a type that is not in this build is told from one that is unknown") {
  const Catalog without{.left_out = media_left_out()};
  const auto report = [&](const std::string& text) -> std::string {
    try {
      config::load_graph_text(text, "graph.yaml", without);
    } catch (const config::ConfigErrors& error) {
      return error.what();
    }
    return "";
  };
  const auto says = [&](const std::string& text, const std::string& sentence) {
    return report(text).find("graph.yaml:" + sentence) != std::string::npos;
  };
  CHECK(says("source: {type: video, location: a.mkv}\n",
             "1:16: error: source type 'video' is not in this build: it was built without GStreamer"));
  CHECK(says("sinks:\n  - {type: preview}\n", "2:12: error: sink type 'preview' is not in this build"));
  CHECK(says("source: {type: vidoe}\n", "1:16: error: unknown source type 'vidoe'"));
  for (const char* name : {"video", "images", "camera", "test"})
    CHECK_THROWS_WITH_AS(config::source_called(without, name),
                         doctest::Contains("was built without GStreamer"), Error);
  CHECK_THROWS_WITH_AS(config::sink_called(without, "preview"),
                       doctest::Contains("(tools/setup) and build with CONTORNO_GSTREAMER=ON"), Error);
  CHECK_THROWS_WITH_AS(config::help_text(without, "camera", config::TextStyle::Plain),
                       doctest::Contains("'camera' is not in this build: it was built without GStreamer"),
                       Error);
}

TEST_CASE("a graph that is right but for a type that is not in this build ends with 69") {
  Catalog without = test::fake_catalog();
  without.sources.clear();
  without.left_out = media_left_out();
  try {
    config::load_graph_text(test::kHead + "stages: [marching_squares, contour_assembly]\n", "graph.yaml",
                            without);
    FAIL("it was loaded");
  } catch (const config::ConfigErrors& error) {
    CAPTURE(std::string(error.what()));
    CHECK(error.count() == 1);
    CHECK(error.code() == ExitCode::Unavailable);
  }
}
