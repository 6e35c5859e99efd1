// Lists of steps in a graph: they are written out as stages; what is said of mistakes, with their place.
#include <doctest/doctest.h>

#include <algorithm>

#include "config/describe.h"
#include "pipeline/graph/steps.h"
#include "stages/catalog.h"
#include "tests/config/catalog.h"

using namespace contorno;
using namespace contorno::test;

namespace {

const std::string kBefore =
    kHead +
    "stages:\n  - classify\n  - marching_squares\n  - contour_assembly\n  - type: contour_prep\n    steps: ";

const Catalog& steps_catalog() {
  static const Catalog catalog{.stages = stage_catalog(),
                               .sources = fake_catalog().sources,
                               .sinks = fake_catalog().sinks,
                               .left_out = {},
                               .read_mask = {}};
  return catalog;
}

GraphSpec load_steps(const std::string& steps, const config::LoadOptions& options = {}) {
  return config::load_graph_text(kBefore + steps, "graph.yaml", steps_catalog(), options);
}

std::string report_of(const std::string& steps, const config::LoadOptions& options = {}) {
  try {
    load_steps(steps, options);
  } catch (const config::ConfigErrors& errors) {
    CHECK(errors.code() == ExitCode::BadConfig);
    return errors.what();
  }
  return {};
}

/// The nodes that stand for the steps: those behind contour_assembly.
std::vector<NodeSpec> steps_of(const GraphSpec& graph) {
  const auto made =
      std::ranges::find_if(graph.nodes, [](const NodeSpec& node) { return node.name == "contour_assembly"; });
  return {made + 1, graph.nodes.end()};
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("steps are written as stages are, and become stages in their order with their values") {
  const std::string forms[] = {
      "[drop_small, {type: largest_first, limit: 3}, drop_small]\n",
      "\n      - drop_small\n      - type: largest_first\n        limit: 3\n      - type: drop_small\n"};
  for (const std::string& form : forms) {
    const GraphSpec graph = load_steps(form);
    const std::vector<NodeSpec> steps = steps_of(graph);
    REQUIRE(steps.size() == 3);
    CHECK(steps[0].type->name == "drop_small");
    CHECK(steps[0].name == "contour_prep_drop_small");
    CHECK(steps[1].name == "contour_prep_largest_first");
    CHECK(steps[2].name == "contour_prep");
    CHECK(steps[2].step.name == "contour_prep_drop_small_2");
    CHECK(part_names(graph).back() == "contour_prep_drop_small_2");
    CHECK(std::get<std::int64_t>(steps[1].params.get("limit")) == 3);
    CHECK(std::get<std::int64_t>(steps[0].params.get("min_points")) == 10);
    const int first = static_cast<int>(graph.nodes.size()) - 3;
    CHECK(steps[0].inputs == std::vector<Origin>{{first - 1, 0}});
    CHECK(steps[1].inputs == std::vector<Origin>{{first, 0}});
    CHECK(steps[2].inputs == std::vector<Origin>{{first + 1, 0}});
  }
}

TEST_CASE("who takes what a list of steps makes takes what its last step makes") {
  const std::string head =
      kHead +
      "stages:\n  - classify\n  - marching_squares\n  - contour_assembly\n"
      "  - {type: largest_first, name: prep_drop_small, from: prep.contours}\n"
      "  - {type: contour_prep, name: prep, from: contour_assembly, steps: [drop_small, resample]}\n"
      "  - {type: contour_prep, name: other, from: [prep], steps: [smooth]}\n";
  const GraphSpec graph = config::load_graph_text(head, "graph.yaml", steps_catalog());
  std::vector<std::string> names, before;
  for (const NodeSpec& node : graph.nodes) {
    names.push_back(node.name);
    before.push_back(config::name_of(graph, node.inputs[0]));
  }
  REQUIRE(names == std::vector<std::string>{"classify", "contour_assembly", "prep_drop_small_2", "prep",
                                            "prep_drop_small", "other"});
  CHECK(before[2] == "contour_assembly.contours");
  CHECK(before[3] == "prep_drop_small_2.contours");
  CHECK(before[4] == "prep.contours");
  CHECK(before[5] == "prep.contours");
}

TEST_CASE("the name of a list and what it takes are checked as those of a stage are") {
  const auto report = [](const std::string& stages) {
    try {
      config::load_graph_text(kHead + "stages: [classify, contours, " + stages + "]\n", "graph.yaml",
                              steps_catalog());
    } catch (const config::ConfigErrors& errors) {
      return std::string(errors.what());
    }
    return std::string();
  };
  const std::string steps = "steps: [drop_small, smooth]}";
  CHECK(says(report("{type: smooth, name: a}, {type: contour_prep, name: a, " + steps),
             "duplicate node name 'a'"));
  CHECK(says(report("{type: contour_prep, name: a, " + steps + ", {type: contour_prep, name: a, " + steps),
             "duplicate node name 'a'"));
  CHECK(says(report("{type: contour_prep, name: source, " + steps), "is taken by the section"));
  CHECK(says(report("{type: contour_prep, name: [x], " + steps), "name is a list"));
  CHECK(says(report("{type: contour_prep, name: Bad Name, " + steps), "name is 'Bad Name'"));
  CHECK(says(report("{type: contour_prep, from: {contours: contours, maps: classify}, " + steps),
             "unknown input 'maps'"));
  CHECK(report("{type: contour_prep, from: [contours], steps: [measure_map]}").empty());
  CHECK(report("{type: contour_prep, from: {contours: contours}, steps: [measure_map]}").empty());
}

TEST_CASE("a step may take maps too, the nearest or those that it names") {
  for (const std::string step : {"measure_map", "{type: measure_map, from: {maps: classify.maps}}"})
    for (const std::string& steps : {"[" + step + "]\n", "[drop_small, " + step + ", smooth]\n"}) {
      const GraphSpec graph = load_steps(steps);
      const auto node = std::ranges::find_if(
          graph.nodes, [](const NodeSpec& one) { return one.type->name == "measure_map"; });
      REQUIRE(node != graph.nodes.end());
      const bool first = steps.starts_with("[" + step);
      CHECK(config::name_of(graph, node->inputs[0]) ==
            (first ? "contour_assembly.contours" : "contour_prep_drop_small.contours"));
      CHECK(config::name_of(graph, node->inputs[1]) == "classify.maps");
    }
  CHECK(says(report_of("[{type: measure_map, from: {mops: classify.maps}}]\n"),
             "node 'contour_prep_measure_map': unknown input 'mops' (did you mean 'maps'?)"));
}

TEST_CASE("the command line replaces a list of steps, or a value of one of its steps") {
  const GraphSpec graph =
      load_steps("[drop_small]\n", {.overrides = {"contour_prep.steps=[{type: drop_small, "
                                                  "min_area: 2.5}, largest_first]",
                                                  "contour_prep_largest_first.limit=7"}});
  const std::vector<NodeSpec> steps = steps_of(graph);
  REQUIRE(steps.size() == 2);
  CHECK(std::get<double>(steps[0].params.get("min_area")) == 2.5);
  CHECK(std::get<std::int64_t>(steps[1].params.get("limit")) == 7);
  CHECK(graph.written.contains("contour_prep_drop_small.min_area"));
  CHECK(says(report_of("[drop_small]\n", {.overrides = {"contour_prep.min_area=1"}}),
             "unknown node 'contour_prep'"));
}

TEST_CASE("what is wrong with a step is said with its place") {
  const std::string unknown = report_of("\n      - type: drop_smal\n");
  CHECK(says(unknown, "graph.yaml:9:15"));
  CHECK(says(unknown, "unknown step type 'drop_smal' (did you mean 'drop_small'?)"));
  const std::string key = report_of("\n      - {type: drop_small, min_point: 3}\n");
  CHECK(says(key, "graph.yaml:9:28"));
  CHECK(says(key, "node 'contour_prep_drop_small': unknown key 'min_point' (did you mean 'min_points'?)"));
  const std::string area = report_of("\n      - drop_small\n      - {type: drop_small, min_area: -1}\n");
  CHECK(says(area, "graph.yaml:10:38"));
  CHECK(says(area, "node 'contour_prep_drop_small_2': min_area is -1, allowed 0 to 1000000000"));
  const std::string from = "steps[1] 'drop_small' has 'from', but takes what the step before it makes";
  const std::string second = report_of("[measure, {type: drop_small, from: contour_assembly}]\n");
  CHECK(second.starts_with("graph.yaml:8:41: error: node 'contour_prep': " + from));
  CHECK(says(second, "fix: leave 'from' out, or end the list here and go on with another"));
  CHECK(second.find("error:") == second.rfind("error:"));
  const std::string first = report_of("[{type: measure_map, from: [contour_assembly, classify]}]\n");
  CHECK(says(first, "steps[0] 'measure_map' has 'from', but takes what its list takes"));
  CHECK(says(first, "fix: write from: NODE beside the list; as a step: from: {maps: NODE}"));
  CHECK(says(report_of("[{type: drop_small, name: small}]\n"), "unknown key 'name'"));
  // What is wrong with the one before does not change the number.
  CHECK(says(report_of("[{type: drop_small, name: small}, {type: smooth, from: x}]\n"), "steps[1] 'smooth'"));
  CHECK(says(report_of("[drop_small]\n", {.overrides = {"contour_prep_drop_smal.min_area=1"}}),
             "unknown node 'contour_prep_drop_smal' (did you mean 'contour_prep_drop_small'?)"));
  CHECK(says(report_of("[overlay]\n"), "unknown step type"));
  CHECK(says(report_of("[[drop_small]]\n"), "steps[0] is a list, allowed a map of keys and values"));
  CHECK(says(report_of("[]\n"), "steps is a list of 0, allowed 1 to 1000 steps"));
  CHECK(says(report_of("3\n"), "unknown step type"));
}

TEST_CASE("values of steps are tried as those of stages are") {
  const std::string steps =
      "[drop_small, {type: resample, spacing: 0}, {type: exclude, points: [1, 2, 3]}]\n";
  CHECK(report_of(steps).empty());  // nothing is tried without a folder for outputs
  const std::string report = report_of(steps, {.output_root = "."});
  CHECK(says(report, "graph.yaml:8:51"));
  CHECK(says(report, "node 'contour_prep_resample': spacing and points are both 0"));
  CHECK(says(report, "node 'contour_prep_exclude': points has 3 numbers, allowed pairs x, y"));
  CHECK_FALSE(says(report, "drop_small': "));
}

TEST_CASE("the mask of a step is read as that of a stage is") {
  const std::string steps = "[{type: exclude, mask: five}, {type: exclude, mask: none.npy}]\n";
  CHECK(says(report_of(steps), "this program reads no masks from files"));
  Catalog catalog = steps_catalog();
  catalog.read_mask = read_fake_mask;
  try {
    config::load_graph_text(kBefore + steps, "graph.yaml", catalog);
    FAIL("loaded");
  } catch (const config::ConfigErrors& errors) {
    CHECK(says(errors.what(), "node 'contour_prep_exclude_2': mask: 'none.npy' does not exist"));
    CHECK_FALSE(says(errors.what(), "node 'contour_prep_exclude':"));
  }
  const GraphSpec graph =
      config::load_graph_text(kBefore + "[drop_small, {type: exclude, mask: five}]\n", "graph.yaml", catalog);
  const ParamValue mask = steps_of(graph)[1].params.get("mask");
  REQUIRE(std::get<SharedMask>(mask) != nullptr);
  CHECK(std::get<SharedMask>(mask)->values == std::vector<double>{4});
}

TEST_CASE("a graph without steps for contour_prep says what is missing") {
  const std::string text = kHead + "stages: [classify, marching_squares, contour_assembly, contour_prep]\n";
  try {
    config::load_graph_text(text, "graph.yaml", steps_catalog());
    FAIL("loaded");
  } catch (const config::ConfigErrors& errors) {
    CHECK(says(errors.what(), "node 'contour_prep': 'steps' is missing"));
  }
}

TEST_CASE("steps are printed as they can be read again") {
  const GraphSpec graph = load_steps("[{type: drop_small, min_area: 2.5}, largest_first]\n");
  const std::string text = config::describe_graph(graph, nullptr, config::Detail::All);
  CHECK(says(text,
             "  - type: contour_prep\n    name: contour_prep\n"
             "    from: {contours: contour_assembly.contours}\n"
             "    steps: [{type: drop_small, min_points: 10, min_length: 0, min_area: 2.5}, "
             "{type: largest_first, by: area, limit: 0, only_first: false}]\n"));
  const GraphSpec again = config::load_graph_text(text, "graph.yaml", steps_catalog());
  CHECK(config::describe_graph(again, nullptr, config::Detail::All) == text);
  const std::string maps = "{type: measure_map, from: {maps: classify.maps}}";
  CHECK(says(config::describe_graph(load_steps("[" + maps + "]\n"), nullptr), "steps: [" + maps + "]"));
}

TEST_CASE("a key that nobody has is refused, whatever it is called") {
  const std::string stages = "stages: [classify, {type: contours, \"step of a list\": 3}]\n";
  CHECK_THROWS_WITH_AS(config::load_graph_text(kHead + stages, "graph.yaml", steps_catalog()),
                       doctest::Contains("unknown key 'step of a list'"), config::ConfigErrors);
}
