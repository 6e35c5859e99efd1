// contour_prep against its steps run one by one, on the CPU, and on the device where there is one (the
// harness compares).
#include "stages/contour_prep/stage.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "pipeline/graph/planned.h"
#include "stages/contour_prep/drop_small/stage.h"
#include "stages/contour_prep/largest_first/stage.h"
#include "stages/contour_prep/resample/stage.h"
#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/reference.h"
#include "tests/stages/default_params.h"

using namespace contorno;
using namespace contorno::test;

namespace {

StepSpec step(const StageType& type, const Settings& settings) {
  StepSpec one{.type = &type, .params = ParamSet(type.params)};
  for (const auto& [name, value] : settings) one.params.set(name, value);
  return one;
}

const std::vector<StepSpec>& some_steps() {
  static const std::vector<StepSpec> steps{
      step(drop_small_stage(), {{"min_points", std::int64_t{3}}}),
      step(largest_first_stage(), {{"by", std::string("length")}, {"limit", std::int64_t{30}}}),
      step(drop_small_stage(), {{"min_length", 4.5}, {"min_points", std::int64_t{0}}}),
      step(largest_first_stage(), {{"by", std::string("points")}}),
      step(largest_first_stage(), {{"limit", std::int64_t{7}}})};
  return steps;
}

Settings list_of(std::size_t count) {
  const auto& all = some_steps();
  return {{"steps", std::make_shared<const std::vector<StepSpec>>(
                        all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count))}};
}

/// Bytes that a slot has for `type` alone, on contours of this format.
std::size_t slot_bytes(const StageType& type, const Settings& settings, const ContoursFormat& format) {
  GraphSpec graph;
  graph.nodes.push_back(
      {.name = type.name, .type = &type, .params = ParamSet(type.params), .inputs = {{Origin::kSource, 0}}});
  for (const auto& [name, value] : settings) graph.nodes[0].params.set(name, value);
  Capacities capacities(1);
  PlannedGraph planned({.graph = &graph, .probe_every = kNoFrame, .capacities = &capacities, .exports = {}});
  planned.plan({{format}, "a test"});
  return planned.memory().host;
}

}  // namespace

TEST_CASE("contour_prep gives what its steps give one after the other") {
  const TestContours in(64, 64, 4, exact_contours(21, 4, 60));
  std::deque<StageHarness> alone;
  Value wanted = in.view;
  for (std::size_t count = 1; count <= some_steps().size(); ++count) {
    INFO(count, " steps");
    const StepSpec& last = some_steps()[count - 1];
    Settings settings;
    for (const ParamSpec& spec : last.type->params.specs)
      settings.emplace_back(spec.name, last.params.get(spec.name));
    alone.emplace_back(*last.type, settings).run({wanted});
    wanted = alone.back().value();
    for (const int threads : {1, 3}) {
      StageHarness stage(contour_prep_stage(), list_of(count));
      stage.threads(threads).run({in.view});
      stage.rerun();
      CHECK(same_contours(std::get<ContoursView>(stage.value()), std::get<ContoursView>(wanted)));
    }
  }
  CHECK(std::get<ContoursView>(wanted).counts->contours > 0);
}

TEST_CASE("a step whose output has too little room is run again with more, and so are those behind it") {
  const TestContours in(64, 64, 4, exact_contours(22, 4, 40));
  const StepSpec finer = step(resample_stage(), {{"spacing", 0.0625}}),
                 even = step(resample_stage(), {{"points", std::int64_t{200}}}),
                 small = step(drop_small_stage(), {{"min_points", std::int64_t{100}}});
  StageHarness first(resample_stage(), {{"spacing", 0.0625}}),
      second(drop_small_stage(), {{"min_points", std::int64_t{100}}}),
      third(resample_stage(), {{"points", std::int64_t{200}}});
  first.run({in.view});
  second.run({first.value()});
  third.run({second.value()});
  StageHarness stage(
      contour_prep_stage(),
      {{"steps", std::make_shared<const std::vector<StepSpec>>(std::vector<StepSpec>{finer, small, even})}});
  stage.first_capacity(50).run({in.view});
  CHECK(stage.regrown() > 0);
  CHECK(std::get<ContoursView>(third.value()).counts->contours > 3);
  CHECK(same_contours(std::get<ContoursView>(stage.value()), std::get<ContoursView>(third.value())));
}

TEST_CASE("contours that grow between steps that need less room pass through a block of their own") {
  const TestContours in(64, 64, 4, exact_contours(23, 4, 40));
  const StepSpec few = step(resample_stage(), {{"points", std::int64_t{3}}}),
                 many = step(resample_stage(), {{"points", std::int64_t{12}}}),
                 order = step(largest_first_stage(), {{"by", std::string("length")}});
  // The step that grows is any number of steps before the last one.
  for (const std::vector<StepSpec>& steps :
       {std::vector{few, many, few}, {few, many, order, few}, {many, order, order, few}, {many, few, few}}) {
    std::deque<StageHarness> alone;
    Value wanted = in.view;
    for (const StepSpec& one : steps) {
      Settings settings;
      for (const ParamSpec& spec : one.type->params.specs)
        settings.emplace_back(spec.name, one.params.get(spec.name));
      alone.emplace_back(*one.type, settings).run({wanted});
      wanted = alone.back().value();
    }
    StageHarness stage(contour_prep_stage(),
                       {{"steps", std::make_shared<const std::vector<StepSpec>>(steps)}});
    stage.run({in.view});
    stage.rerun();
    CHECK(stage.regrown() == 0);
    const auto& out = std::get<ContoursView>(stage.value());
    CHECK(same_contours(out, std::get<ContoursView>(wanted)));
    // The output has the room that its last step asks for.
    CHECK(out.format == std::get<ContoursView>(wanted).format);
  }
}

TEST_CASE("many steps take the memory of the largest one and of one block of contours more") {
  const ContoursFormat format{.width = 511,
                              .height = 95,
                              .classes = 8,
                              .point_capacity = 16384,
                              .contour_capacity = 4096,
                              .placement = {}};
  const std::vector<StepSpec> steps(11, some_steps()[1]);
  const std::size_t one = slot_bytes(contour_prep_stage(), list_of(2), format);
  const std::size_t eleven = slot_bytes(
      contour_prep_stage(), {{"steps", std::make_shared<const std::vector<StepSpec>>(steps)}}, format);
  CHECK(eleven == one);
  CHECK(eleven < 2 * packed_bytes(format) + slot_bytes(largest_first_stage(), {}, format));
}

TEST_CASE("contour_prep refuses a list without steps, and what is no step") {
  ParamSet params(contour_prep_stage().params);
  const auto refused = [&](const std::vector<StepSpec>& steps) {
    params.set("steps", std::make_shared<const std::vector<StepSpec>>(steps));
  };
  const auto sentence = [&](const std::vector<StepSpec>& steps) -> std::string {
    try {
      refused(steps);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  CHECK(sentence({}).starts_with("steps is [], allowed a list of steps, each one of exclude, "));
  CHECK(sentence({{.type = &contour_prep_stage(), .params = ParamSet(contour_prep_stage().params)}})
            .starts_with("steps is [contour_prep], allowed"));
}

TEST_CASE("contours that did not fit are read by no step, and how much room they need is passed on") {
  std::vector<const StageType*> types(contour_steps().begin(), contour_steps().end());
  types.push_back(&contour_prep_stage());  // a list of all steps
  for (const StageType* type : types)
    for (const bool points : {true, false}) {
      INFO(type->name, points ? ", points" : ", contours");
      TestContours in(64, 64, 2, exact_contours(3, 2, 9));
      ContourCounts& counts = *in.view.counts;
      (points ? counts.points : counts.contours) =
          (points ? in.format.point_capacity : in.format.contour_capacity) + 1;
      const ParamSet params = default_params(*type);
      Settings settings;
      for (const ParamSpec& spec : type->params.specs)
        if (spec.kind == ParamKind::Steps) settings.emplace_back(spec.name, params.get(spec.name));
      StageHarness stage(*type, settings);
      stage.run({in.view});
      const auto& out = std::get<ContoursView>(stage.value());
      CHECK(stage.regrown() == 0);
      CHECK(!out.fits());
      CHECK(out.counts->points >= counts.points);
      CHECK(out.counts->contours == counts.contours);
      CHECK(
          std::all_of(out.class_begin, out.class_begin + 3, [](std::uint32_t begin) { return begin == 0; }));
    }
}

TEST_CASE("every step goes from contours to contours") {
  for (const StageType* type : contour_steps()) {
    INFO(type->name);
    REQUIRE(type->inputs.size() == 1);
    REQUIRE(type->outputs.size() == 1);
    CHECK(type->inputs[0].type == PortType::Contours);
    CHECK(type->outputs[0].type == PortType::Contours);
  }
}
