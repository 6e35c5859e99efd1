// Lists of steps in a graph: what they may be, and what is said of mistakes, with their place.
#include <doctest/doctest.h>

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

const std::vector<StepSpec>& steps_of(const GraphSpec& graph, ParamValue& kept) {
  kept = graph.nodes.back().params.get("steps");
  return *std::get<SharedSteps>(kept);
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("steps are written as stages are, and keep their order and values") {
  const std::string forms[] = {
      "[drop_small, {type: largest_first, limit: 3}, drop_small]\n",
      "\n      - drop_small\n      - type: largest_first\n        limit: 3\n      - type: drop_small\n"};
  for (const std::string& form : forms) {
    const GraphSpec graph = load_steps(form);
    ParamValue kept;
    const std::vector<StepSpec>& steps = steps_of(graph, kept);
    REQUIRE(steps.size() == 3);
    CHECK(steps[0].type->name == "drop_small");
    CHECK(steps[1].type->name == "largest_first");
    CHECK(std::get<std::int64_t>(steps[1].params.get("limit")) == 3);
    CHECK(std::get<std::int64_t>(steps[0].params.get("min_points")) == 10);
  }
}

TEST_CASE("steps of the command line replace those of the file") {
  const GraphSpec graph =
      load_steps("[drop_small]\n", {.overrides = {"contour_prep.steps=[{type: drop_small, "
                                                  "min_area: 2.5}, largest_first]"}});
  ParamValue kept;
  const std::vector<StepSpec>& steps = steps_of(graph, kept);
  REQUIRE(steps.size() == 2);
  CHECK(std::get<double>(steps[0].params.get("min_area")) == 2.5);
}

TEST_CASE("what is wrong with a step is said with its place") {
  const std::string unknown = report_of("\n      - type: drop_smal\n");
  CHECK(says(unknown, "graph.yaml:9:15"));
  CHECK(says(unknown, "unknown step type 'drop_smal' (did you mean 'drop_small'?)"));
  const std::string key = report_of("\n      - {type: drop_small, min_point: 3}\n");
  CHECK(says(key, "graph.yaml:9:28"));
  CHECK(says(
      key,
      "node 'contour_prep': steps[0] 'drop_small': unknown key 'min_point' (did you mean 'min_points'?)"));
  CHECK(says(report_of("\n      - drop_small\n      - {type: drop_small, min_area: -1}\n"),
             "steps[1] 'drop_small': min_area is -1, allowed 0 to 1000000000"));
  CHECK(says(report_of("[overlay]\n"), "unknown step type"));
  CHECK(says(report_of("[[drop_small]]\n"), "steps[0] is a list, allowed a map of keys and values"));
  CHECK(says(report_of("[]\n"), "steps is a list of 0, allowed 1 to 1000 steps"));
  CHECK(says(report_of("3\n"), "unknown step type"));
}

TEST_CASE("values of steps are tried as those of stages are, and what fails is said at the steps") {
  const std::string steps =
      "[drop_small, {type: resample, spacing: 0}, {type: exclude, points: [1, 2, 3]}]\n";
  CHECK(report_of(steps).empty());  // nothing is tried without a folder for outputs
  const std::string report = report_of(steps, {.output_root = "."});
  CHECK(says(report, "graph.yaml:8:12"));
  CHECK(says(report, "resample: spacing: "));
  CHECK(says(report, "resample: spacing: spacing and points are both 0"));
  CHECK(says(report, "exclude: points: points has 3 numbers, allowed pairs x, y"));
  CHECK_FALSE(says(report, "drop_small: "));
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
    CHECK(says(errors.what(), "steps[1] 'exclude': mask: 'none.npy' does not exist"));
    CHECK_FALSE(says(errors.what(), "steps[0]"));
  }
  const GraphSpec graph =
      config::load_graph_text(kBefore + "[drop_small, {type: exclude, mask: five}]\n", "graph.yaml", catalog);
  ParamValue kept;
  const ParamValue mask = steps_of(graph, kept)[1].params.get("mask");
  REQUIRE(std::get<SharedMask>(mask) != nullptr);
  CHECK(std::get<SharedMask>(mask)->values == std::vector<double>{4});
}

namespace {

struct OnlySteps {
  SharedSteps steps;
};

/// A step with a CUDA implementation, and one without.
const StepTypes& types_of_both_kinds() {
  static const auto made_like = [](const char* name, bool on_cuda) {
    const auto nothing = [](const ParamSet&) { return std::unique_ptr<Stage>(); };
    return StageType{.name = name,
                     .inputs = {{"contours", PortType::Contours, "Contours."}},
                     .outputs = {{"contours", PortType::Contours, "Contours."}},
                     .params = no_params(),
                     .make_cpu = nothing,
                     .make_cuda = on_cuda ? nothing : decltype(StageType::make_cuda)()};
  };
  static const StageType both = made_like("both", true), lacking = made_like("lacking", false);
  static const StepTypes types{&both, &lacking};
  return types;
}

}  // namespace

TEST_CASE("a stage runs on CUDA only where all of its steps do") {
  const StageType &both = *types_of_both_kinds()[0], &lacking = *types_of_both_kinds()[1];
  ParamList<OnlySteps> list;
  list.required_steps("steps", &OnlySteps::steps, types_of_both_kinds, "Steps.");
  StageType type = both;
  type.params = declare(std::move(list));
  const auto first_without = [&](const std::vector<const StageType*>& types) {
    auto steps = std::make_shared<std::vector<StepSpec>>();
    for (const StageType* one : types) steps->push_back({.type = one, .params = ParamSet(one->params)});
    NodeSpec node{.name = "node", .type = &type, .params = ParamSet(type.params), .inputs = {}};
    node.params.set("steps", SharedSteps(std::move(steps)));
    return without_cuda(node);
  };
  CHECK(first_without({&both}) == nullptr);
  CHECK(first_without({&both, &lacking, &both}) == &lacking);
  type.make_cuda = {};
  CHECK(first_without({&both, &lacking}) == &type);
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
  const std::string steps =
      "steps: [{type: drop_small, min_points: 10, min_length: 0, min_area: 2.5}, {type: largest_first, by: "
      "area, limit: 0}]";
  CHECK(says(text, steps));
  const GraphSpec again = load_steps(steps.substr(steps.find('[')) + "\n");
  CHECK(says(config::describe_graph(again, nullptr, config::Detail::All), steps));
}
