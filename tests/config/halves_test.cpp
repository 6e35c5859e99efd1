// Stages that a graph writes as their two parts, a node each.
#include <doctest/doctest.h>

#include "config/describe.h"
#include "tests/config/catalog.h"
#include "tests/file_content.h"

using namespace contorno;
using test::kHead;
using test::load;
using test::report;

TEST_CASE(
    "two halves are one node with the name, parameters and readers of the second, and the inputs of the "
    "first") {
  const GraphSpec graph =
      load(kHead +
               "stages:\n  - {type: classify, name: a}\n  - {type: marching_squares, name: marks, from: a}\n"
               "  - classify\n  - {type: contour_assembly, name: lines, min_points: 7}\n  - overlay\n"
               "sinks: [{type: jsonl, path: o.jsonl, from: lines.contours}]\n",
           {.overrides = {"lines.min_points=8"}});
  REQUIRE(graph.nodes.size() == 4);
  const NodeSpec& lines = graph.nodes[2];
  CHECK(lines.name == "lines");
  CHECK(lines.type->name == "contours");
  CHECK(lines.params.as<test::ContoursParams>().min_points == 8);
  CHECK(lines.inputs == std::vector<Origin>{{0, 0}});
  CHECK(graph.nodes[3].inputs[1] == Origin{2, 0});
  CHECK(graph.sinks[0].input == Origin{2, 0});
  CHECK(part_names(graph) == std::vector<std::string>{"a", "classify", "marks", "lines", "overlay"});
}

TEST_CASE("what the first half does not name it takes from the stages before it, not before the second") {
  const GraphSpec graph =
      load(kHead + "stages: [preprocess, marching_squares, classify, contour_assembly, {type: contours}]\n");
  CHECK(graph.nodes[2].name == "contour_assembly");
  CHECK(graph.nodes[2].inputs == std::vector<Origin>{{0, 0}});
  CHECK(graph.nodes[3].inputs == std::vector<Origin>{{1, 0}});
  CHECK(part_names(graph) == std::vector<std::string>{"preprocess", "classify", "marching_squares",
                                                      "contour_assembly", "contours.marching_squares",
                                                      "contours.contour_assembly"});
}

TEST_CASE("the second half names the first one in every form, and two may go on from one") {
  for (const char* from :
       {"marks", "marks.crossings", "[marks]", "{crossings: marks}", "{crossings: marks.crossings}"}) {
    const GraphSpec graph =
        load(kHead + "stages: [{type: contour_assembly, name: one, from: " + from +
             "}, classify, {type: marching_squares, name: marks}, {type: contour_assembly, name: two}]\n");
    REQUIRE(graph.nodes.size() == 3);
    CHECK(part_names(graph) ==
          std::vector<std::string>{"classify", "marks", "one", "two.marching_squares", "two"});
    for (const NodeSpec& node : {graph.nodes[1], graph.nodes[2]})
      CHECK(node.inputs == std::vector<Origin>{{0, 0}});
    const std::string text = config::describe_graph(graph);
    CHECK(config::describe_graph(load(text)) == text);
  }
}

TEST_CASE("a half without the other, and who takes the first one, are errors at their place") {
  const auto said = [](const char* stages) { return report(kHead + "stages:\n" + stages); };
  CHECK(said("  - marching_squares\n") ==
        "graph.yaml:4:5: error: node 'marching_squares' is continued by no contour_assembly\n    4 |   - "
        "marching_squares\n      |     ^~~~~~~~~~~~~~~~\n"
        "  fix: put contour_assembly behind it, or write contours in place of the two");
  CHECK(said("  - contour_assembly\n  - {type: marching_squares, name: late}\n") ==
        "graph.yaml:4:5: error: node 'contour_assembly' continues a marching_squares, and none is "
        "before it\n    4 |   - contour_assembly\n      |     ^~~~~~~~~~~~~~~~\n"
        "  fix: put marching_squares before it, or write contours in place of the two");
  CHECK(contains(said("  - marching_squares\n  - {type: contour_assembly, from: marching_square}\n"),
                 "graph.yaml:5:36: error: node 'contour_assembly' goes on from 'marching_square', allowed a "
                 "marching_squares (did you mean 'marching_squares'?)"));
  CHECK(contains(said("  - marching_squares\n  - {type: contour_assembly, from: [a, b]}\n"),
                 "goes on from a list, allowed a marching_squares"));
  CHECK(contains(said("  - marching_squares\n  - contour_assembly\n"
                      "  - {type: overlay, from: {contours: marching_squares}}\n"),
                 "graph.yaml:6:38: error: node 'overlay': input 'contours' takes contours, but "
                 "'marching_squares' (line 4) is the first half of 'contour_assembly'"));
  CHECK(contains(said("  - {type: marching_squares, min_points: 3}\n  - contour_assembly\n"),
                 "node 'marching_squares': unknown key 'min_points'"));
  CHECK(contains(said("  - {type: marching_squares, from: nobody}\n  - contour_assembly\n"),
                 "node 'marching_squares': input 'maps' comes from unknown node 'nobody'"));
  // A name that two nodes have, and a misspelt type, are said once.
  CHECK(contains(
      said("  - {type: marching_squares, name: x}\n  - contour_assembly\n  - {type: classify, name: x}\n"),
      "duplicate node name 'x'"));
  CHECK(!contains(said("  - marching_squars\n  - contour_assembly\n"), "half"));
}
