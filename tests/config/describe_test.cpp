#include "config/describe.h"

#include <doctest/doctest.h>

#include "config/draw.h"
#include "config/load.h"
#include "config/schema.h"
#include "tests/config/catalog.h"
#include "tests/file_content.h"

using namespace contorno;
using namespace contorno::config;
using contorno::test::fake_catalog;
using contorno::test::kGraphs;
using contorno::test::kHead;
using contorno::test::load;

TEST_CASE("a described graph loads again and describes itself in the same words") {
  const GraphSpec graph = load_graph(kGraphs + "good.yaml", fake_catalog());
  const std::string text = describe_graph(graph);
  const GraphSpec again = load_graph_text(text, "described.yaml", fake_catalog());
  CHECK(describe_graph(again) == text);
  REQUIRE(again.nodes.size() == graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    CHECK(again.nodes[i].inputs == graph.nodes[i].inputs);
    for (const ParamSpec& spec : graph.nodes[i].type->params.specs)
      CHECK(again.nodes[i].params.get(spec.name) == graph.nodes[i].params.get(spec.name));
  }
  CHECK(again.classes[0].ranges == graph.classes[0].ranges);
  CHECK(again.classes[0].references == graph.classes[0].references);
}

TEST_CASE("text of every kind survives being described") {
  for (const char* note : {"",
                           "true",
                           "007",
                           "1.5",
                           "-",
                           "a: b",
                           "#x",
                           "\"quoted\" \\ 'too'",
                           "line\nbreak\ttab",
                           "bell\x07 and delete\x7f",
                           "[1]",
                           "grün",
                           "*a",
                           "&a",
                           "!t",
                           "y",
                           ".inf",
                           " lead",
                           "x:",
                           "${HOME}",
                           "%n%s",
                           "a/b-c_d.e"}) {
    CAPTURE(note);
    GraphSpec graph = load_graph(kGraphs + "good.yaml", fake_catalog());
    graph.nodes[0].params.set("note", std::string(note));
    const GraphSpec again = load_graph_text(describe_graph(graph), "described.yaml", fake_catalog());
    CHECK(again.nodes[0].params.as<test::ResizeParams>().note == note);
  }
}

TEST_CASE("a mask is described by the text that it was read from") {
  GraphSpec graph = load(kHead + "stages:\n  - {type: preprocess, stamp: \"cross: 3\"}\n");
  const std::string text = describe_graph(graph);
  CHECK(contains(text, "    stamp: \"cross: 3\"\n"));
  CHECK(*load(text).nodes[0].params.as<test::ResizeParams>().stamp ==
        *graph.nodes[0].params.as<test::ResizeParams>().stamp);
  CHECK(contains(describe_graph(load(kHead + "stages: [preprocess]\n")), "    stamp: \"\"\n"));
  graph.nodes[0].params.set("stamp", std::make_shared<Mask>(Mask{.width = 1, .height = 2, .values = {0, 1}}));
  CHECK(contains(describe_graph(graph), "    stamp: \"a mask of 1x2\"\n"));
}

TEST_CASE("shapes are described where they are known") {
  const GraphSpec graph = load_graph(kGraphs + "good.yaml", fake_catalog());
  GraphShapes shapes;
  shapes.stream = StreamFormat{.frame = ImageFormat{1280, 720, 3, ElementType::U8, Layout::Interleaved, {}},
                               .rate_numerator = 30};
  shapes.outputs = {{ImageFormat{640, 360, 3, ElementType::U8, Layout::Interleaved, {}}}};
  const std::string text = describe_graph(graph, &shapes);
  CHECK(contains(text, "  # frame: 1280x720x3 uint8 interleaved\n  # 30 frames/s\n"));
  CHECK(contains(text, "    # image: 640x360x3 uint8 interleaved\n"));
  CHECK(contains(draw_dot(graph, shapes), "1280x720x3 uint8 interleaved"));
}

TEST_CASE("help names every port and parameter with range, default and sentence") {
  const std::string text = help_text(fake_catalog(), "overlay", TextStyle::Plain);
  CHECK(contains(text, "contours  contours; default nearest earlier output\n      What is drawn.\n"));
  CHECK(contains(text, "frame  image; default source.frame\n"));
  CHECK(contains(text, "frame  image\n      The frame with its contours.\n"));
  CHECK(contains(help_text(fake_catalog(), "marching_squares", TextStyle::Plain),
                 "maps  image; default nearest earlier output, else source.maps or source.frame\n"));
  CHECK(contains(text,
                 "sigma  a number, 0 to 50 px; default 1.5\n      Standard deviation of the Gaussian.\n"));
  CHECK(contains(text, "example\n  - type: overlay\n"));
  CHECK(!contains(text, "\x1b"));
  CHECK(contains(help_text(fake_catalog(), "overlay", TextStyle::Coloured), "\x1b[36msigma\x1b[0m"));
  const std::string sink = help_text(fake_catalog(), "jsonl", TextStyle::Plain);
  CHECK(contains(sink, "path  text; required\n"));
  CHECK(contains(sink, "on_full  one of wait, drop_oldest; also drop = drop_oldest; default wait\n"));
  for (const char* section : {"pipeline", "classes"})
    CHECK(!help_text(fake_catalog(), section, TextStyle::Plain).empty());
  CHECK_THROWS_WITH_AS(help_text(fake_catalog(), "overlya", TextStyle::Plain),
                       "there is no 'overlya' (did you mean 'overlay'?); 'contorno stages' lists all", Error);
}

TEST_CASE("the overview lists everything of the catalogue") {
  const std::string text = help_overview(fake_catalog(), TextStyle::Plain);
  for (const StageType* type : fake_catalog().stages) CHECK(contains(text, type->name));
  CHECK(contains(text, "  video_file  Frames as a video.\n"));
}

TEST_CASE("the schema of the test catalogue is the one that jsonschema has been tried on") {
  // schema_test.py runs graphs through the file; write it anew with this text when the schema changes.
  CHECK(schema(fake_catalog()).dump(1) + "\n" == content(kGraphs + "schema.json"));
}

TEST_CASE("drawings hold every node and escape what graphs may say") {
  const GraphSpec graph = load_graph_text(
      "source: {type: video, location: '</text><script>\"&\\'}\nclasses: [{name: 'a<b>&\"c'}]\n"
      "stages: [{type: marching_squares}, {type: contour_assembly}, {type: overlay}]\nsinks: [{type: jsonl, "
      "path: o.jsonl}]\n",
      "graph.yaml", fake_catalog());
  const std::string dot = draw_dot(graph, {});
  for (const char* name : {"marching_squares + contour_assembly", "overlay", "jsonl"})
    CHECK(contains(dot, "<b>" + std::string(name) + "</b>"));
  CHECK(contains(dot, "a&lt;b&gt;&amp;&quot;c"));
  CHECK(!contains(dot, "<script"));
  CHECK(contains(dot, "n0:o1:e -> n2:i0:w [color=\"#2a6f97\"]"));  // the frame
  CHECK(contains(dot, "n2:i1:w [color=\"#d1495b\"]"));             // the contours
}
